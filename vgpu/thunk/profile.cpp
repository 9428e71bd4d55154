#include "vgpu/thunk/profile.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "config/yaml_reader.h"

namespace halyard::vgpu::thunk {

namespace {

constexpr const char* kDefaultProfile = "gfx900";
constexpr const char* kSuffix = ".yaml";
constexpr int kMaxDepth = 8;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

bool is_path(const std::string& choice) {
  return choice.find('/') != std::string::npos || choice.ends_with(kSuffix);
}

void read_pci_location(config::Map& map, GpuProfile& gpu) {
  std::string text;
  if (!map.string("pci_location", text)) return;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int used = 0;
  const int fields =  // the widths bound what is read, so nothing overflows
      std::sscanf(text.c_str(), "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used);
  if (fields != 4 || static_cast<size_t>(used) != text.size() || device > 31 || function > 7) {
    map.fail("pci_location",
             fmt::format("pci_location ({}) must have the form domain:bus:device.function in "
                         "hexadecimal, such as \"0000:03:00.0\".",
                         text));
    return;
  }
  gpu.pci_domain = domain;
  gpu.pci_location = bus << 8 | device << 3 | function;
}

void read_gpu(config::Map map, GpuProfile& gpu) {
  map.choice("processor", gpu.processor,
             {"gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c"});
  if (map.string("marketing_name", gpu.marketing_name)) {
    const bool ascii = std::all_of(gpu.marketing_name.begin(), gpu.marketing_name.end(),
                                   [](char c) { return c >= ' ' && c <= '~'; });
    if (!ascii || gpu.marketing_name.empty() || gpu.marketing_name.size() > 63) {
      map.fail("marketing_name", fmt::format("marketing_name ({}) must have 1 to 63 ASCII "
                                             "characters.",
                                             gpu.marketing_name));
    }
  }
  map.integer("device_id", gpu.device_id, 1, 0xffff);
  map.integer("uuid", gpu.uuid, 1, ~uint64_t{0});
  read_pci_location(map, gpu);
  map.integer("compute_units", gpu.compute_units, 1, 512);
  map.integer("simds_per_cu", gpu.simds_per_cu, 1, 4);
  map.integer("waves_per_simd", gpu.waves_per_simd, 1, 32);
  map.integer("shader_engines", gpu.shader_engines, 1, 32);
  map.frequency("engine_clock", gpu.engine_clock_hz, 1000000, 10000000000);
  map.size("memory_size", gpu.memory_bytes, 16 * kMiB, 1024 * kGiB);
  map.frequency("memory_clock", gpu.memory_clock_hz, 1000000, 10000000000);
  map.integer("memory_width", gpu.memory_width, 32, 16384);
  map.size("lds_size", gpu.lds_bytes, 65536, 65536);
  map.size("l1_cache", gpu.l1_bytes, 1024, kMiB);
  map.size("l2_cache", gpu.l2_bytes, 65536, kGiB);
  map.size("cache_line", gpu.cache_line_bytes, 32, 256);
  map.integer("sdma_engines", gpu.sdma_engines, 0, 8);
  map.integer("compute_queues", gpu.compute_queues, 1, 128);
  map.boolean("fine_grained_memory", gpu.fine_grained_memory);
  map.boolean("sramecc", gpu.sramecc);
  map.finish();
}

void read_engine(config::Map map, GpuProfile& gpu) {
  map.boolean("execute", gpu.execute);
  map.integer("workers", gpu.workers, 0, 1024);
  map.integer("wave_budget", gpu.wave_budget, 16, 1000000000);
  map.frequency("clock", gpu.clock_hz, 1000000, 1000000000);
  map.finish();
}

void read_queue(config::Map map, GpuProfile& gpu) {
  map.duration("spin", gpu.spin_ns, 0, 1000000000);
  map.duration("max_sleep", gpu.max_sleep_ns, 10000, 1000000000);
  map.boolean("watch_doorbells", gpu.watch_doorbells);
  map.finish();
}

// Reads a file on top of what `gpu` holds, after the file that it extends.
bool read_file(const std::string& path, const std::string& directory, GpuProfile& gpu, int depth,
               config::Diagnostics& diagnostics) {
  config::Document document;
  if (!document.load_file(path, diagnostics)) return false;
  config::Map root = document.root(diagnostics);
  std::string description;
  root.string("description", description);
  std::string base;
  if (root.string("extends", base)) {
    if (depth >= kMaxDepth) {
      root.fail("extends", fmt::format("extends ({}) leads more than {} files deep; profiles may "
                                       "not extend each other in a circle.",
                                       base, kMaxDepth));
      return false;
    }
    namespace fs = std::filesystem;
    const std::string base_path = is_path(base) ? (fs::path(path).parent_path() / base).string()
                                                : (fs::path(directory) / (base + kSuffix)).string();
    std::error_code code;
    if (!fs::is_regular_file(base_path, code)) {
      const std::vector<std::string> names = list_profiles(directory);
      const std::string guess = config::closest_match(base, names);
      root.fail("extends",
                fmt::format("extends ({}) names no profile{}; the profiles are: {}.", base,
                            guess.empty() ? "" : fmt::format(", did you mean {}?", guess),
                            fmt::join(names, ", ")));
      return false;
    }
    if (!read_file(base_path, directory, gpu, depth + 1, diagnostics)) return false;
  }
  read_gpu(root.child("gpu"), gpu);
  read_engine(root.child("engine"), gpu);
  read_queue(root.child("queue"), gpu);
  root.finish();
  if (depth == 0 && gpu.processor.empty() && diagnostics.ok()) {
    diagnostics.error({path, 0, 0},
                      "The profile has no gpu.processor; give one, such as gfx900, or extend a "
                      "profile that has one.");
  }
  if (depth == 0 && gpu.sramecc && !gpu.has_sramecc() && diagnostics.ok()) {
    diagnostics.error({path, 0, 0},
                      fmt::format("gpu.sramecc is true, but the processor ({}) has no sramecc "
                                  "feature; gfx906, gfx908 and gfx90a have it.",
                                  gpu.processor));
  }
  return diagnostics.ok();
}

}  // namespace

uint32_t GpuProfile::major_version() const {
  return static_cast<uint32_t>(std::stoul(processor.substr(3, processor.size() - 5)));
}

uint32_t GpuProfile::minor_version() const {
  return static_cast<uint32_t>(std::stoul(processor.substr(processor.size() - 2, 1), nullptr, 16));
}

uint32_t GpuProfile::stepping() const {
  return static_cast<uint32_t>(std::stoul(processor.substr(processor.size() - 1), nullptr, 16));
}

bool GpuProfile::has_sramecc() const {
  return processor == "gfx906" || processor == "gfx908" || processor == "gfx90a";
}

std::string GpuProfile::features() const {
  if (!has_sramecc()) return "-xnack";
  return sramecc ? "+sramecc,-xnack" : "-sramecc,-xnack";
}

std::vector<std::string> list_profiles(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator it(directory, code), end; !code && it != end;
       it.increment(code)) {
    const std::filesystem::path& path = it->path();
    if (path.extension() == kSuffix) names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool load_profile(const std::string& choice, const std::string& directory, Profile& profile,
                  std::string& error) {
  const std::string name = choice.empty() ? kDefaultProfile : choice;
  const std::string path =
      is_path(name) ? name : (std::filesystem::path(directory) / (name + kSuffix)).string();
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    const std::vector<std::string> names = list_profiles(directory);
    if (is_path(name)) {
      error = fmt::format("The virtual GPU's profile ({}) is not a file.", name);
    } else if (names.empty()) {
      error = fmt::format(
          "The virtual GPU's profile ({}) cannot be found: there are no profiles in {}. Reinstall "
          "Halyard, or name a profile by its path.",
          name, directory);
    } else {
      const std::string guess = config::closest_match(name, names);
      error =
          fmt::format("The virtual GPU's profile ({}) does not exist{} The profiles in {} are: {}.",
                      name, guess.empty() ? "." : fmt::format("; did you mean {}?", guess),
                      directory, fmt::join(names, ", "));
    }
    return false;
  }
  GpuProfile gpu;
  config::Diagnostics diagnostics;
  if (!read_file(path, directory, gpu, 0, diagnostics)) {
    error = diagnostics.text();
    return false;
  }
  profile.name = name;
  profile.gpus = {gpu};
  return true;
}

std::string profile_directory() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&profile_directory), &info) == 0) return {};
  std::error_code code;
  const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, code);
  if (code) return {};
  // lib/halyard/vgpu/libhsakmt.so.1: four steps up is the prefix.
  const std::filesystem::path prefix =
      library.parent_path().parent_path().parent_path().parent_path();
  return (prefix / "share/halyard/config/vgpu").string();
}

}  // namespace halyard::vgpu::thunk
