// halyard objdump: what is in a module, for whom, and what its kernels need.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/kernel_code.h"
#include "hal/module.h"
#include "hal/occupancy.h"
#include "hal/text.h"
#include "registry/load_report.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/session.h"
#include "tools/halyard/table.h"
#include "tools/halyard/variants.h"

namespace halyard::cli {
namespace {

struct ObjdumpFlags {
  std::string file;
  std::string target;
  std::vector<std::string> kernels;
  uint32_t workgroup = 0;
  bool json = false;
};

struct Variant {
  const ModuleVariant* in_module;
  std::optional<CodeObject> object;  // none for what cannot be loaded anywhere
  std::string problem;               // then
};

// Whole, however long: what a compiler makes of C++ names may be thousands of letters.
std::string text_of(StringView text) {
  return printable(text.view(), SIZE_MAX);
}

uint64_t product(const Dim3& size) {
  return uint64_t{size.x} * size.y * size.z;
}

// The size that the user wants to know of, else the one that the kernel requires, else 256 or as
// many as it allows.
uint32_t workgroup_size(const ObjdumpFlags& flags, const FunctionInfo& info) {
  if (flags.workgroup != 0) return flags.workgroup;
  if (const uint64_t required = product(info.required_workgroup_size); required != 0)
    return static_cast<uint32_t>(std::min<uint64_t>(required, UINT32_MAX));
  return std::clamp(info.max_workgroup_size, 1u, 256u);
}

std::optional<Occupancy> occupancy_of(const ObjdumpFlags& flags, const std::string& processor,
                                      const FunctionInfo& info) {
  return occupancy(processor, {info.vgpr_count, info.sgpr_count, info.group_segment_size,
                               workgroup_size(flags, info), info.wavefront_size});
}

std::string kind_of(const ArgumentInfo& argument) {
  const std::string kind = text_of(argument.value_kind);
  return kind.starts_with("hidden_") ? kind.substr(7) : kind;
}

const char* kind_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::kInit:
      return "init";
    case KernelKind::kFini:
      return "fini";
    case KernelKind::kNormal:
      break;
  }
  return "normal";
}

void append_arguments(std::string& text, const FunctionInfo& info) {
  if (info.arguments.empty() && info.hidden.empty()) return;
  std::vector<Row> rows = {{"OFFSET", "SIZE", "KIND", "TYPE", "NAME"}};
  const auto add = [&](const Span<const ArgumentInfo>& arguments, const char* prefix) {
    for (const ArgumentInfo& argument : arguments) {
      rows.push_back({std::to_string(argument.offset), std::to_string(argument.size),
                      prefix + kind_of(argument), text_of(argument.type_name),
                      text_of(argument.name)});
    }
  };
  add(info.arguments, "");
  add(info.hidden, "hidden ");
  const std::string table = format_table(rows);
  for (size_t at = 0; at < table.size();) {
    const size_t end = std::min(table.find('\n', at), table.size() - 1);
    text += "      " + table.substr(at, end - at + 1);
    at = end + 1;
  }
}

void append_kernel(std::string& text, const ObjdumpFlags& flags, const Variant& variant,
                   const KernelInfo& kernel) {
  const FunctionInfo& info = kernel.function;
  text += fmt::format("    {}\n", text_of(info.name));
  if (kernel.kind != KernelKind::kNormal) {
    text += fmt::format("      run by loaders (.kind {})\n", kind_name(kernel.kind));
  }
  if (!info.problem.empty())
    text += fmt::format("      cannot be used: {}\n", text_of(info.problem));
  const Result<KernelCode> code = kernel_code(variant.in_module->bytes, kernel);
  if (code.ok()) {
    text += fmt::format("      code {} bytes at address {:#x}, wavefronts of {}\n",
                        code->bytes.size(), code->address, info.wavefront_size);
  }
  text += fmt::format("      registers: {} VGPRs, {} AGPRs, {} SGPRs", info.vgpr_count,
                      info.agpr_count, info.sgpr_count);
  if (kernel.vgpr_spill_count != 0 || kernel.sgpr_spill_count != 0) {
    text += fmt::format("; spilled: {} VGPRs, {} SGPRs", kernel.vgpr_spill_count,
                        kernel.sgpr_spill_count);
  }
  text += fmt::format("\n      LDS {} bytes, scratch {} bytes{}, kernarg {} bytes aligned to {}\n",
                      info.group_segment_size, info.private_segment_size,
                      info.uses_dynamic_stack ? " and a dynamic stack" : "", info.kernarg_size,
                      info.kernarg_alignment);
  const Dim3& required = info.required_workgroup_size;
  if (product(required) != 0) {
    text += fmt::format("      work-groups of {}x{}x{}\n", required.x, required.y, required.z);
  } else {
    text += fmt::format("      work-groups of at most {}\n", info.max_workgroup_size);
  }
  const uint32_t size = workgroup_size(flags, info);
  const auto held = occupancy_of(flags, variant.object->target().processor, info);
  if (held) {
    text += fmt::format(
        "      occupancy with work-groups of {}: {} of {} waves on a SIMD, {} "
        "work-groups on a compute unit, limited by {}\n",
        size, held->waves_per_simd, held->max_waves_per_simd, held->groups_per_compute_unit,
        to_string(held->limit));
  } else {
    text += fmt::format("      occupancy unknown for {}\n",
                        printable(variant.object->target().processor));
  }
  append_arguments(text, info);
}

std::string heading(const ModuleVariant& variant) {
  std::string text = variant.origin;
  if (!text.empty()) text += ", ";
  return text + fmt::format("{} bytes", variant.bytes.size());
}

std::string version_of(const CodeObject& object) {
  std::string text = fmt::format("code object version {}", object.version());
  if (object.generic_version() != 0)
    text += fmt::format(", generic version {}", object.generic_version());
  return text;
}

std::vector<const KernelInfo*> wanted_kernels(const ObjdumpFlags& flags, const CodeObject& object) {
  std::vector<const KernelInfo*> kernels;
  for (const KernelInfo& kernel : object.kernels()) {
    const bool wanted =
        flags.kernels.empty() ||
        std::any_of(flags.kernels.begin(), flags.kernels.end(),
                    [&](const std::string& name) { return kernel.function.name.view() == name; });
    if (wanted) kernels.push_back(&kernel);
  }
  return kernels;
}

std::string as_text(const ObjdumpFlags& flags, const Module& module,
                    const std::vector<Variant>& variants) {
  std::string text =
      fmt::format("{}: {}, {} code object{}\n", printable(flags.file), to_string(module.format()),
                  variants.size(), variants.size() == 1 ? "" : "s");
  for (const ModuleBundle& bundle : module.bundles()) {
    text += fmt::format("  bundle at offset {}, {} bytes", bundle.offset, bundle.size);
    if (bundle.compression) {
      text += fmt::format(", {} (header version {}), {} bytes decompressed",
                          *bundle.compression == Compression::kZlib ? "zlib" : "zstd",
                          bundle.compressed_version, bundle.decompressed_size);
    }
    text += '\n';
  }
  for (const auto& [name, reason] : module.ignored())
    text += fmt::format("  no code object: {} ({})\n", printable(name), reason);
  for (const Variant& variant : variants) {
    if (!variant.object) {
      text += fmt::format("\n  ({}) cannot be loaded: {}\n", heading(*variant.in_module),
                          variant.problem);
      continue;
    }
    text += fmt::format("\n  {}: {} ({})\n", variant.object->target_name(),
                        version_of(*variant.object), heading(*variant.in_module));
    for (const GlobalSymbol& global : variant.object->globals()) {
      text += fmt::format("    global variable {}, {} bytes\n", text_of(global.name), global.size);
    }
    for (const KernelInfo* kernel : wanted_kernels(flags, *variant.object))
      append_kernel(text, flags, variant, *kernel);
  }
  return text;
}

Json to_json(const Span<const ArgumentInfo>& arguments) {
  Json list = Json::array();
  for (const ArgumentInfo& argument : arguments) {
    list.push_back({{"offset", argument.offset},
                    {"size", argument.size},
                    {"kind", text_of(argument.value_kind)},
                    {"type", text_of(argument.type_name)},
                    {"name", text_of(argument.name)}});
  }
  return list;
}

Json to_json(const ObjdumpFlags& flags, const Variant& variant, const KernelInfo& kernel) {
  const FunctionInfo& info = kernel.function;
  Json json = {{"name", text_of(info.name)},
               {"vgprs", info.vgpr_count},
               {"agprs", info.agpr_count},
               {"sgprs", info.sgpr_count},
               {"vgpr_spills", kernel.vgpr_spill_count},
               {"sgpr_spills", kernel.sgpr_spill_count},
               {"lds_bytes", info.group_segment_size},
               {"scratch_bytes", info.private_segment_size},
               {"dynamic_stack", info.uses_dynamic_stack},
               {"kernarg_bytes", info.kernarg_size},
               {"kernarg_alignment", info.kernarg_alignment},
               {"wavefront_size", info.wavefront_size},
               {"max_workgroup_size", info.max_workgroup_size},
               {"arguments", to_json(info.arguments)},
               {"hidden_arguments", to_json(info.hidden)}};
  if (kernel.kind != KernelKind::kNormal) json["kind"] = kind_name(kernel.kind);
  if (!info.problem.empty()) json["problem"] = text_of(info.problem);
  const Dim3& required = info.required_workgroup_size;
  if (product(required) != 0)
    json["required_workgroup_size"] = {required.x, required.y, required.z};
  if (const auto held = occupancy_of(flags, variant.object->target().processor, info)) {
    json["occupancy"] = {{"workgroup_size", workgroup_size(flags, info)},
                         {"waves_per_simd", held->waves_per_simd},
                         {"max_waves_per_simd", held->max_waves_per_simd},
                         {"groups_per_compute_unit", held->groups_per_compute_unit},
                         {"limited_by", to_string(held->limit)}};
  }
  return json;
}

Json as_json(const ObjdumpFlags& flags, const Module& module,
             const std::vector<Variant>& variants) {
  Json json = {{"file", std::string(printable(flags.file))},
               {"format", to_string(module.format())},
               {"variants", Json::array()}};
  for (const Variant& variant : variants) {
    Json entry = {{"origin", variant.in_module->origin},
                  {"offset", variant.in_module->offset},
                  {"size", variant.in_module->bytes.size()}};
    if (!variant.object) {
      entry["problem"] = variant.problem;
      json["variants"].push_back(entry);
      continue;
    }
    entry["target"] = variant.object->target_name();
    entry["version"] = variant.object->version();
    if (variant.object->generic_version() != 0)
      entry["generic_version"] = variant.object->generic_version();
    entry["globals"] = Json::array();
    for (const GlobalSymbol& global : variant.object->globals())
      entry["globals"].push_back({{"name", text_of(global.name)}, {"size", global.size}});
    entry["kernels"] = Json::array();
    for (const KernelInfo* kernel : wanted_kernels(flags, *variant.object))
      entry["kernels"].push_back(to_json(flags, variant, *kernel));
    json["variants"].push_back(entry);
  }
  return json;
}

// A variant that cannot be read is shown with the reason: the others are as good as before.
Variant read_variant(const ModuleVariant& variant) {
  Variant entry{&variant, std::nullopt, variant.facts.problem};
  if (!entry.problem.empty()) return entry;
  Result<CodeObject> object = CodeObject::read(variant.bytes.data(), variant.bytes.size());
  if (object.ok()) {
    entry.object = std::move(object).value();
  } else {
    entry.problem = object.status().message().view();
  }
  return entry;
}

Status check_kernels(const ObjdumpFlags& flags, const std::vector<Variant>& variants) {
  for (const std::string& name : flags.kernels) {
    Status missing;
    bool found = false;
    for (const Variant& variant : variants) {
      if (!variant.object) continue;
      const auto kernel = variant.object->find(name);
      found = found || kernel.ok();
      if (!kernel.ok() && missing.ok()) missing = kernel.status();
    }
    if (!found && !missing.ok()) return missing;
  }
  return {};
}

Status objdump(const ObjdumpFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const Module module, Module::open(flags.file));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<const ModuleVariant*> wanted,
                           variants_for(module, flags.file, flags.target));
  std::vector<Variant> variants;
  for (const ModuleVariant* variant : wanted) variants.push_back(read_variant(*variant));
  HALYARD_RETURN_IF_ERROR(check_kernels(flags, variants));
  return print(flags.json ? dump(as_json(flags, module, variants))
                          : as_text(flags, module, variants));
}

}  // namespace

void add_objdump_command(Command app, Status& outcome) {
  Command command = app.add_subcommand(
      "objdump",
      "Show the contents of a module: targets, kernels, arguments, registers, occupancy");
  const auto flags = std::make_shared<ObjdumpFlags>();
  command
      .add_option("file", flags->file,
                  "A code object, or any file or folder that `halyard run --module` accepts")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--target", flags->target,
                  "Only code for this target, such as gfx90a, gfx90a:xnack- or mi210")
      ->type_name("TARGET");
  command.add_option("--function", flags->kernels, "Only this kernel; may be repeated")
      ->type_name("NAME");
  add_number(command, "--workgroup", flags->workgroup,
             "The work-items of a work-group, for the occupancy; by default the kernel's required "
             "size, or 256",
             {.low = 1, .high = 1024})
      ->type_name("COUNT");
  command.add_flag("--json", flags->json, "Print JSON");
  command.footer(
      "Example:\n"
      "  halyard objdump vadd.hipfb --target=gfx90a");
  command.callback([flags, &outcome] { outcome = objdump(*flags); });
}

}  // namespace halyard::cli
