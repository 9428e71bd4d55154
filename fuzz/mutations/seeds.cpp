#include "fuzz/mutations/seeds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/module.h"

namespace halyard::mutations {
namespace {

namespace fs = std::filesystem;

// Above this a mutation of a container mostly changes code for other devices.
constexpr size_t kLargestContainer = 32 << 10;

void add(std::string name, std::span<const std::byte> bytes, std::vector<Seed>* seeds) {
  Bytes copy(bytes.begin(), bytes.end());
  const bool known = std::any_of(seeds->begin(), seeds->end(),
                                 [&](const Seed& seed) { return seed.bytes == copy; });
  if (known) return;
  std::vector<Part> parts = parts_of(copy);
  seeds->push_back({std::move(name), std::move(copy), std::move(parts)});
}

void add_file(const fs::path& path, const TargetId& device, std::vector<Seed>* seeds) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
  // Sources and what no device loads lie in the same folders.
  const Result<Module> module = Module::read(text.data(), text.size());
  if (!module.ok()) return;
  const auto chosen = module->choose({.device = device});
  if (!chosen.ok()) return;
  const std::string name = path.filename();
  size_t count = 0;
  for (const size_t index : *chosen) {
    const ModuleVariant& variant = module->variants()[index];
    if (!CodeObject::read(variant.bytes.data(), variant.bytes.size()).ok()) continue;
    add(count == 0 ? name : fmt::format("{}#{}", name, count), variant.bytes, seeds);
    ++count;
  }
  if (count > 0 && module->format() != ModuleFormat::kCodeObject &&
      text.size() <= kLargestContainer) {
    add(name + "#all", std::as_bytes(std::span(text)), seeds);
  }
}

}  // namespace

Result<std::vector<Seed>> read_seeds(const std::vector<std::string>& folders,
                                     const TargetId& device) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder, problem)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
    if (problem) {
      return error(StatusCode::kNotFound, "The folder of code objects (\"{}\") cannot be read: {}.",
                   folder, problem.message());
    }
  }
  std::sort(paths.begin(), paths.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  std::vector<Seed> seeds;
  for (const fs::path& path : paths) add_file(path, device, &seeds);
  if (seeds.empty()) {
    return error(StatusCode::kNotFound, "None of {} files has code for {}.", paths.size(),
                 to_string(device));
  }
  return seeds;
}

}  // namespace halyard::mutations
