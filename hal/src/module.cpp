#include "hal/module.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/file.h"
#include "hal/target_map.h"
#include "hal/text.h"
#include "module_reader.h"

namespace halyard {
namespace {

using internal::ByteRange;
using internal::ModuleReader;
namespace fs = std::filesystem;

// In a message. A library may have thousands.
constexpr size_t kListedVariants = 200;

ByteRange range_of(const std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size(), 0};
}

// Only the beginning is read, so that a folder may hold large files of other kinds too.
bool is_module_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> beginning(64);
  file.read(reinterpret_cast<char*>(beginning.data()), std::ssize(beginning));
  beginning.resize(static_cast<size_t>(file.gcount()));
  return internal::has_module_format(range_of(beginning));
}

Status read_folder(const std::string& path, Module::Contents& contents,
                   const ModuleOptions& options) {
  std::error_code problem;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) files.push_back(entry->path());
  }
  if (problem) {
    return error(status_code_of_errno(problem.value()), "The folder cannot be read: {}.",
                 problem.message());
  }
  // The file system's own order would make which of two equals is taken depend on it.
  std::sort(files.begin(), files.end());
  ModuleReader reader(contents, options);
  for (const fs::path& file : files) {
    const std::string name = printable(file.filename().string());
    if (!is_module_file(file)) {
      contents.ignored.emplace_back(name, "it has none of the formats");
      continue;
    }
    HALYARD_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(file.string()));
    contents.files.push_back(std::move(bytes));
    HALYARD_RETURN_IF_ERROR(reader.add_folder_file(name, range_of(contents.files.back())));
  }
  return {};
}

Status check_not_empty(const Module::Contents& contents) {
  if (!contents.variants.empty()) return {};
  std::vector<std::string> reasons;
  for (const auto& [name, reason] : contents.ignored) {
    reasons.push_back(fmt::format("{} ({})", name, reason));
  }
  return error(StatusCode::kInvalidArgument,
               "The {} has no code object. It has: {}. clang -target amdgcn-amd-amdhsa writes code "
               "objects, usually as *.hsaco.",
               to_string(contents.format),
               list_of(std::vector<std::string_view>(reasons.begin(), reasons.end())));
}

// "gfx900, code object version 5"
std::string describe(const VariantFacts& facts) {
  std::string text = facts.target.processor.empty() ? "" : to_string(facts.target);
  if (facts.version != 0) text += fmt::format(", code object version {}", facts.version);
  return text;
}

Status no_variant(const Module::Contents& contents, const LoaderFacts& loader) {
  std::string list;
  size_t count = 0;
  for (const ModuleVariant& variant : contents.variants) {
    if (++count > kListedVariants) continue;
    const std::string what = describe(variant.facts);
    list += "\n  " + variant.origin;
    if (!what.empty()) list += variant.origin.empty() ? what : " (" + what + ")";
    list += ": " + why_not_fits(variant.facts, loader);
  }
  if (count > kListedVariants) list += fmt::format("\n  and {} more", count - kListedVariants);
  const std::string& processor = loader.device.processor;
  const ProcessorInfo* info = find_processor(processor);
  const std::string generic =
      info == nullptr || info->generic == nullptr ? "" : fmt::format(" or {}", info->generic);
  return error(StatusCode::kFailedPrecondition,
               "The {} has no variant for the device ({}). Build it for {}{} too (hipcc "
               "--offload-arch, clang -mcpu). It has {}:{}",
               to_string(contents.format), to_string(loader.device), processor, generic, count,
               list.empty() ? " none" : list);
}

}  // namespace

const char* to_string(ModuleFormat format) noexcept {
  switch (format) {
    case ModuleFormat::kCodeObject:
      return "code object";
    case ModuleFormat::kOffloadBundle:
      return "offload bundle";
    case ModuleFormat::kOffloadPackage:
      return "offload package";
    case ModuleFormat::kHostElf:
      return "host program or library";
    case ModuleFormat::kArchive:
      return "archive";
    case ModuleFormat::kFolder:
      return "folder";
  }
  return "module";
}

bool is_container(const void* data, size_t size) noexcept {
  const ByteRange range = {static_cast<const std::byte*>(data), size, 0};
  return internal::module_format(range) != ModuleFormat::kCodeObject;
}

Result<Module> Module::read(const void* data, size_t size, const ModuleOptions& options) {
  auto contents = std::make_unique<Contents>();
  const ByteRange range = {static_cast<const std::byte*>(data), size, 0};
  HALYARD_RETURN_IF_ERROR(ModuleReader(*contents, options).add_file(range));
  HALYARD_RETURN_IF_ERROR(check_not_empty(*contents));
  return Module(std::move(contents));
}

Result<Module> Module::open(const std::string& path, const ModuleOptions& options) {
  // The system would see another path, which ends there.
  if (path.find('\0') != std::string::npos) {
    return error(StatusCode::kInvalidArgument, "The file's path ({}) contains a NUL character.",
                 printable(path));
  }
  auto contents = std::make_unique<Contents>();
  const auto named = [&path](const Status& status) {
    return status.with_context(fmt::format("The module ({})", printable(path)));
  };
  Status status;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    contents->format = ModuleFormat::kFolder;
    status = read_folder(path, *contents, options);
  } else {
    HALYARD_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(path));
    contents->files.push_back(std::move(bytes));
    status = ModuleReader(*contents, options).add_file(range_of(contents->files.back()));
  }
  if (status.ok()) status = check_not_empty(*contents);
  if (!status.ok()) return named(status);
  return Module(std::move(contents));
}

Module::Module(std::unique_ptr<const Contents> contents) noexcept
    : contents_(std::move(contents)) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

ModuleFormat Module::format() const noexcept {
  return contents_->format;
}
const std::vector<ModuleBundle>& Module::bundles() const noexcept {
  return contents_->bundles;
}
const std::vector<ModuleVariant>& Module::variants() const noexcept {
  return contents_->variants;
}
const std::vector<std::pair<std::string, std::string>>& Module::ignored() const noexcept {
  return contents_->ignored;
}

Result<std::vector<size_t>> Module::choose(const LoaderFacts& loader) const {
  std::vector<std::vector<size_t>> bundles(contents_->bundles.size());
  std::vector<size_t> loose;
  for (size_t i = 0; i < contents_->variants.size(); ++i) {
    const ModuleVariant& variant = contents_->variants[i];
    if (variant.bundle) {
      bundles[*variant.bundle].push_back(i);
    } else if (why_not_fits(variant.facts, loader).empty()) {
      loose.push_back(i);
    }
  }

  std::vector<size_t> chosen;
  for (const std::vector<size_t>& bundle : bundles) {
    std::vector<VariantFacts> facts;
    for (const size_t i : bundle) facts.push_back(contents_->variants[i].facts);
    if (const auto best = select_variant(facts, loader).chosen) chosen.push_back(bundle[*best]);
  }
  if (loose.size() == 1) chosen.push_back(loose.front());
  if (loose.size() > 1) {
    std::vector<LooseVariant> candidates;
    for (const size_t i : loose) {
      const ModuleVariant& variant = contents_->variants[i];
      const Result<CodeObject> object =
          CodeObject::read(variant.bytes.data(), variant.bytes.size());
      if (!object.ok()) return object.status().with_context("In " + variant.origin);
      LooseVariant& candidate = candidates.emplace_back();
      candidate.facts = variant.facts;
      for (const KernelInfo& kernel : object->kernels()) {
        candidate.kernels.emplace_back(kernel.function.name.view());
      }
    }
    for (const size_t i : select_loose(candidates, loader)) chosen.push_back(loose[i]);
  }
  if (chosen.empty()) return no_variant(*contents_, loader);
  return chosen;
}

}  // namespace halyard
