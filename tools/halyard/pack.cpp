// halyard pack: several code objects become one offload bundle.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hal/bundle_writer.h"
#include "hal/error.h"
#include "hal/module.h"
#include "hal/text.h"
#include "registry/load_report.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/variants.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

struct PackFlags {
  std::vector<std::string> files;
  std::string output;
  std::string compress = "none";
};

// A code object on its way into the bundle.
struct Part {
  std::string file;
  const ModuleVariant* variant;
  BundleInput input;
};

Status two_for_one_target(const Part& first, const Part& second) {
  const uint32_t versions[] = {first.variant->facts.generic_version,
                               second.variant->facts.generic_version};
  if (versions[0] != versions[1]) {
    return error(StatusCode::kInvalidArgument,
                 "Two code objects are for the target {}: {} has version {} of it and {} has "
                 "version {}. A bundle can have only one for each target. Omit the older one: the "
                 "newer one runs on the same processors.",
                 to_string(second.variant->facts.target), place_of(first.file, *first.variant),
                 versions[0], place_of(second.file, *second.variant), versions[1]);
  }
  return error(StatusCode::kInvalidArgument,
               "Two code objects are for the target {}: {} and {}. A bundle can have only one for "
               "each target. Link them into one, or pack them into two files.",
               to_string(second.variant->facts.target), place_of(first.file, *first.variant),
               place_of(second.file, *second.variant));
}

// One code object for each target: a loader takes the first of two, and the other one is lost.
Status add_parts(const std::string& file, const Module& module, std::vector<Part>& parts) {
  for (const ModuleVariant& variant : module.variants()) {
    // An empty entry for the host is in every bundle, and gets into this one anyway.
    if (variant.bytes.empty()) continue;
    if (!variant.facts.problem.empty()) {
      return error(StatusCode::kInvalidArgument, "The code object {} cannot be packed: {}.",
                   place_of(file, variant), variant.facts.problem);
    }
    Part part{file, &variant, {bundle_entry_id(variant.facts.target), variant.bytes}};
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& other) {
      return other.input.id == part.input.id;
    });
    if (same != parts.end()) return two_for_one_target(*same, part);
    parts.push_back(std::move(part));
  }
  return {};
}

Status write_whole(const std::string& path, std::span<const std::byte> bytes) {
  HALYARD_ASSIGN_OR_RETURN(values::OutputFile file, values::OutputFile::open(path));
  HALYARD_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

Status pack(const PackFlags& flags) {
  HALYARD_RETURN_IF_ERROR(values::check_is_not_read(flags.output, flags.files));
  std::vector<Module> modules;  // own the bytes
  std::vector<Part> parts;
  for (const std::string& file : flags.files) {
    HALYARD_ASSIGN_OR_RETURN(Module module, Module::open(file));
    modules.push_back(std::move(module));
    HALYARD_RETURN_IF_ERROR(add_parts(file, modules.back(), parts));
  }
  if (parts.empty()) {
    return error(StatusCode::kInvalidArgument, "There is no code object in ({}).",
                 printable(flags.files.front()));
  }
  std::vector<BundleInput> inputs;
  for (const Part& part : parts) inputs.push_back(part.input);
  std::vector<std::byte> bundle = write_bundle(inputs);
  if (flags.compress != "none") {
    HALYARD_ASSIGN_OR_RETURN(
        bundle, compress_bundle(
                    bundle, flags.compress == "zlib" ? Compression::kZlib : Compression::kZstd));
  }
  return write_whole(flags.output, bundle);
}

}  // namespace

void add_pack_command(Command app, Status& outcome) {
  Command command = app.add_subcommand(
      "pack", "Pack code objects for several targets into one file, an offload bundle");
  const auto flags = std::make_shared<PackFlags>();
  command
      .add_option("file", flags->files,
                  "Code objects for different targets, or files that contain some, as for `halyard "
                  "run --module`")
      ->type_name("FILE ...")
      ->required();
  command.add_option("-o,--output", flags->output, "The file to write")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--compress", flags->compress,
                  "none, zstd or zlib; clang's tools and HIP 6 read all, HIP 5 reads only none")
      ->one_of({"none", "zstd", "zlib"})
      ->capture_default_str();
  command.footer(
      "Example:\n"
      "  halyard pack vadd.gfx900.hsaco vadd.gfx90a.hsaco -o vadd.hipfb\n"
      "  halyard run --device=amdgpu --module=vadd.hipfb --function=vadd …");
  command.callback([flags, &outcome] { outcome = pack(*flags); });
}

}  // namespace halyard::cli
