#include "vgpu/machine/profile.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include "config/yaml_reader.h"
#include "vgpu/machine/partitions.h"
#include "vgpu/machine/shrink.h"

namespace halyard::vgpu::machine {

namespace {

constexpr const char* kDefaultProfile = "gfx900";
constexpr const char* kSuffix = ".yaml";
constexpr int kMaxDepth = 8;
constexpr uint32_t kMaxGpus = 64;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// Whether the name is a whole one of a processor or of an Instinct GPU: then it is no other one
// that is written wrong.
bool is_gpu_name(const std::string& name) {
  const bool is_processor = name.starts_with("gfx");
  if (!is_processor && !name.starts_with("mi")) return false;
  const std::string_view number = std::string_view(name).substr(is_processor ? 3 : 2);
  return number.size() >= (is_processor ? 3 : 2) &&
         number.find_first_not_of("0123456789abcdefx") == std::string_view::npos;
}

// Why no profile has this name, as the rest of a sentence that ends there.
std::string why_no_profile(const std::string& name, const std::vector<std::string>& names) {
  if (is_gpu_name(name)) {
    const bool is_executed =
        std::find(std::begin(isa::kKnownProcessors), std::end(isa::kKnownProcessors), name) !=
        std::end(isa::kKnownProcessors);
    if (is_executed) {
      return fmt::format(
          ", though the virtual GPU executes code for that processor: write a profile with "
          "\"gpu: {{processor: {}}}\", and name it by its path.",
          name);
    }
    return fmt::format(": the virtual GPU is not there yet for that GPU. It executes code for {}.",
                       fmt::join(isa::kKnownProcessors, ", "));
  }
  const std::string guess = config::guess_of(name, names);
  return guess.empty() ? "." : guess;
}

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

struct PartitionMode {
  const char* name;
  Partition partition;
};
constexpr PartitionMode kPartitionModes[] = {{"spx", Partition::kSpx},
                                             {"dpx", Partition::kDpx},
                                             {"tpx", Partition::kTpx},
                                             {"qpx", Partition::kQpx},
                                             {"cpx", Partition::kCpx}};

void read_partition(config::Map& map, GpuProfile& gpu) {
  std::string name;
  if (!map.choice("partition", name, {"spx", "dpx", "tpx", "qpx", "cpx"})) return;
  for (const PartitionMode& mode : kPartitionModes) {
    if (name == mode.name) gpu.partition = mode.partition;
  }
}

void read_gpu(config::Map map, GpuProfile& gpu) {
  if (map.choice("processor", gpu.processor, isa::kKnownProcessors)) {
    const isa::Target target = gpu.target();
    gpu.waves_per_simd = target.waves_per_simd;
    gpu.lds_bytes = target.lds_bytes;
  }
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
  // HIP 5.2.3 divides by a quarter of the SIMDs.
  if (gpu.compute_units * gpu.simds_per_cu < 4) {
    map.fail("compute_units", fmt::format("compute_units ({}) times simds_per_cu ({}) must be at "
                                          "least 4: HIP crashes on a GPU with fewer SIMDs.",
                                          gpu.compute_units, gpu.simds_per_cu));
  }
  map.integer("waves_per_simd", gpu.waves_per_simd, 1, 32);
  map.integer("shader_engines", gpu.shader_engines, 1, 32);
  map.integer("xcds", gpu.xcds, 1, 8);
  read_partition(map, gpu);
  map.frequency("engine_clock", gpu.engine_clock_hz, 1000000, 10000000000);
  map.size("memory_size", gpu.memory_bytes, 16 * kMiB, 1024 * kGiB);
  map.frequency("memory_clock", gpu.memory_clock_hz, 1000000, 10000000000);
  map.integer("memory_width", gpu.memory_width, 32, 16384);
  map.size("lds_size", gpu.lds_bytes, 65536, 163840);
  map.size("l1_cache", gpu.l1_bytes, 1024, kMiB);
  map.size("l2_cache", gpu.l2_bytes, 65536, kGiB);
  map.size("l3_cache", gpu.l3_bytes, 0, kGiB);
  map.size("cache_line", gpu.cache_line_bytes, 32, 256);
  map.integer("sdma_engines", gpu.sdma_engines, 0, 8);
  map.integer("xgmi_sdma_engines", gpu.xgmi_sdma_engines, 0, 16);
  map.integer("compute_queues", gpu.compute_queues, 1, 128);
  map.integer("asic_revision", gpu.asic_revision, 0, 15);
  map.boolean("fine_grained_memory", gpu.fine_grained_memory);
  map.boolean("large_bar", gpu.large_bar);
  map.boolean("apu", gpu.apu);
  map.boolean("sramecc", gpu.sramecc);
  map.boolean("svm", gpu.svm);
  map.finish();
}

void read_schedule(config::Map& map, GpuProfile& gpu) {
  std::string text;
  std::string error;
  if (!map.string("schedule", text)) return;
  if (!isa::Schedule::parse(text, gpu.schedule, error)) map.fail("schedule", error);
}

void read_engine(config::Map map, GpuProfile& gpu) {
  map.boolean("execute", gpu.execute);
  map.integer("workers", gpu.workers, 0, 1024);
  map.integer("wave_budget", gpu.wave_budget, 16, 1000000000);
  read_schedule(map, gpu);
  map.duration("watchdog", gpu.watchdog_ns, 0, 86400 * uint64_t{1000000000});
  map.frequency("clock", gpu.clock_hz, 1000000, 1000000000);
  map.finish();
}

void read_queue(config::Map map, GpuProfile& gpu) {
  map.duration("spin", gpu.spin_ns, 0, 1000000000);
  map.duration("max_sleep", gpu.max_sleep_ns, 10000, 1000000000);
  map.boolean("watch_doorbells", gpu.watch_doorbells);
  map.finish();
}

// Reads a profile and those that it extends.
class ProfileFiles {
 public:
  ProfileFiles(const std::string& directory, config::Diagnostics& diagnostics)
      : directory_(directory), diagnostics_(diagnostics) {}

  bool read(const std::string& path, Profile& profile);

 private:
  bool extend(config::Map& map, const std::string& path, int depth, GpuProfile& gpu);
  bool read_base(const std::string& path, int depth, GpuProfile& gpu);
  static void read_sections(config::Map& map, GpuProfile& gpu);
  bool read_gpus(config::Map& root, const std::string& path, const GpuProfile& start,
                 Profile& profile);
  bool check(const std::string& path, const GpuProfile& gpu, const std::string& where);

  const std::string& directory_;
  config::Diagnostics& diagnostics_;
};

void ProfileFiles::read_sections(config::Map& map, GpuProfile& gpu) {
  read_gpu(map.child("gpu"), gpu);
  read_engine(map.child("engine"), gpu);
  read_queue(map.child("queue"), gpu);
}

bool ProfileFiles::extend(config::Map& map, const std::string& path, int depth, GpuProfile& gpu) {
  std::string base;
  if (!map.string("extends", base)) return true;
  if (depth >= kMaxDepth) {
    map.fail("extends", fmt::format("extends ({}) leads more than {} files deep; profiles may not "
                                    "extend each other in a circle.",
                                    base, kMaxDepth));
    return false;
  }
  namespace fs = std::filesystem;
  const std::string base_path = is_path(base) ? (fs::path(path).parent_path() / base).string()
                                              : (fs::path(directory_) / (base + kSuffix)).string();
  std::error_code code;
  if (!fs::is_regular_file(base_path, code)) {
    const std::vector<std::string> names = list_profiles(directory_);
    map.fail("extends", fmt::format("extends ({}) names no profile{}; the profiles are: {}.", base,
                                    config::guess_of(base, names), fmt::join(names, ", ")));
    return false;
  }
  gpu = {};
  return read_base(base_path, depth + 1, gpu);
}

// A profile that another one extends: of one GPU.
bool ProfileFiles::read_base(const std::string& path, int depth, GpuProfile& gpu) {
  config::Document document;
  if (!document.load_file(path, diagnostics_)) return false;
  config::Map root = document.root(diagnostics_);
  std::string description;
  root.string("description", description);
  if (!extend(root, path, depth, gpu)) return false;
  read_sections(root, gpu);
  if (root.has("gpus")) {
    root.fail("gpus",
              "A profile with a list of GPUs cannot be extended; extend one of a single GPU "
              "and give it to entries of a list of your own.");
    return false;
  }
  root.finish();
  return diagnostics_.ok();
}

bool ProfileFiles::check(const std::string& path, const GpuProfile& gpu, const std::string& where) {
  if (!diagnostics_.ok()) return false;
  if (gpu.processor.empty()) {
    diagnostics_.error({path, 0, 0},
                       fmt::format("The profile has no {}gpu.processor; give one, such as gfx900, "
                                   "or extend a profile that has one.",
                                   where));
    return false;
  }
  const isa::Target target = gpu.target();
  const auto fail = [&](const std::string& sentence) {
    diagnostics_.error({path, 0, 0}, where + sentence);
  };
  if (gpu.sramecc && !target.has_sramecc) {
    fail(
        fmt::format("gpu.sramecc is true, but the processor ({}) has no sramecc feature; gfx906, "
                    "gfx908, gfx90a, gfx942 and gfx950 have it.",
                    gpu.processor));
  }
  if (gpu.svm && !target.own_memory) {
    fail(
        fmt::format("gpu.svm is true, but Linux has no SVM on the processor ({}), which has no "
                    "memory of its own; the processors except gfx902, gfx909 and gfx90c can have "
                    "it.",
                    gpu.processor));
  }
  if (gpu.lds_bytes > target.lds_bytes) {
    fail(fmt::format("gpu.lds_size is {}, but a compute unit of the processor ({}) has {}.",
                     config::quantity_text(gpu.lds_bytes, config::Quantity::kSize), gpu.processor,
                     config::quantity_text(target.lds_bytes, config::Quantity::kSize)));
  }
  if (const std::string wrong = wrong_dies(gpu); !wrong.empty()) fail(wrong);
  return diagnostics_.ok();
}

// GPUs differ in their unique ids and PCI addresses. An entry without one gets the next free
// one.
template <typename Same, typename Next>
bool make_unique(const std::vector<GpuProfile>& gpus, GpuProfile& gpu, bool is_stated, Same same,
                 Next next) {
  const auto taken = [&] {
    return std::any_of(gpus.begin(), gpus.end(),
                       [&](const GpuProfile& other) { return same(other, gpu); });
  };
  if (is_stated) return !taken();
  while (taken()) next(gpu);
  return true;
}

bool ProfileFiles::read_gpus(config::Map& root, const std::string& path, const GpuProfile& start,
                             Profile& profile) {
  for (config::Map& entry : root.list("gpus")) {
    GpuProfile gpu = start;
    if (!extend(entry, path, 0, gpu)) return false;
    config::Map section = entry.child("gpu");
    read_sections(entry, gpu);
    uint32_t count = 1;
    entry.integer("count", count, 1, kMaxGpus);
    entry.finish();
    if (!check(path, gpu, fmt::format("gpus[{}].", profile.gpus.size()))) return false;
    // Checked first: each device needs its own place on the bus, which has 256.
    const size_t all = profile.gpus.size() + size_t{count} * partitions_of(gpu);
    if (all > kMaxGpus) {
      root.fail("gpus", fmt::format("gpus describes ({}) GPUs or more; it must be from 1 to {}.",
                                    all, kMaxGpus));
      return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const bool has_id = make_unique(
          profile.gpus, gpu, i == 0 && section.has("uuid"),
          [](const GpuProfile& a, const GpuProfile& b) { return a.uuid == b.uuid; },
          [](GpuProfile& g) { g.uuid = g.uuid == UINT64_MAX ? 1 : g.uuid + 1; });
      const bool has_place = make_unique(
          profile.gpus, gpu, i == 0 && section.has("pci_location"),
          [](const GpuProfile& a, const GpuProfile& b) { return a.is_same_device(b); },
          [](GpuProfile& g) { g.pci_location = (g.pci_location + 0x100) & 0xffff; });
      if (!has_id || !has_place) {
        section.fail(has_id ? "pci_location" : "uuid",
                     "Another GPU of the profile has this one already; each needs its own.");
        return false;
      }
      for (GpuProfile& part : split_device(gpu)) profile.gpus.push_back(std::move(part));
    }
  }
  if (profile.gpus.empty()) {
    root.fail("gpus", fmt::format("gpus describes (0) GPUs; it must be from 1 to {}.", kMaxGpus));
  }
  return diagnostics_.ok();
}

LinkType read_link_type(config::Map& map, const char* key, LinkType otherwise) {
  std::string type;
  if (!map.choice(key, type, {"none", "pcie", "xgmi"})) return otherwise;
  if (type == "none") return LinkType::kNone;
  return type == "xgmi" ? LinkType::kXgmi : LinkType::kPcie;
}

// Partitions of a device are linked as by xGMI, whatever links devices.
void link_all(Profile& profile, LinkType usual) {
  const auto count = static_cast<uint32_t>(profile.gpus.size());
  for (uint32_t from = 0; from < count; ++from) {
    for (uint32_t to = from + 1; to < count; ++to) {
      const bool inside = profile.gpus[from].is_same_device(profile.gpus[to]);
      profile.links.push_back({from, to, inside ? LinkType::kXgmi : usual});
    }
  }
}

void read_links(config::Map& root, Profile& profile) {
  link_all(profile, read_link_type(root, "default_link", LinkType::kPcie));
  const auto count = static_cast<uint32_t>(profile.gpus.size());
  for (config::Map& entry : root.list("links")) {
    LinkProfile wanted;
    entry.integer("from", wanted.from, 0, count - 1);
    entry.integer("to", wanted.to, 0, count - 1);
    wanted.type = read_link_type(entry, "type", LinkType::kPcie);
    entry.finish();
    if (!entry.has("from") || !entry.has("to") || wanted.from == wanted.to) {
      entry.fail("to", "A link needs two different GPUs, from and to, counted from 0.");
      continue;
    }
    if (wanted.from > wanted.to) std::swap(wanted.from, wanted.to);
    for (LinkProfile& link : profile.links) {
      if (link.from == wanted.from && link.to == wanted.to) link.type = wanted.type;
    }
  }
}

bool ProfileFiles::read(const std::string& path, Profile& profile) {
  config::Document document;
  if (!document.load_file(path, diagnostics_)) return false;
  config::Map root = document.root(diagnostics_);
  std::string description;
  root.string("description", description);
  GpuProfile gpu;
  if (!extend(root, path, 0, gpu)) return false;
  read_sections(root, gpu);
  if (!root.has("gpus")) {
    root.finish();
    if (!check(path, gpu, "")) return false;
    profile.gpus = split_device(gpu);
    link_all(profile, LinkType::kPcie);
    return true;
  }
  if (!read_gpus(root, path, gpu, profile)) return false;
  read_links(root, profile);
  root.finish();
  return diagnostics_.ok();
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

isa::Target GpuProfile::target() const {
  isa::Target target;
  std::string unknown;
  isa::find_target(processor, features(), target, unknown);
  return target;
}

std::string GpuProfile::features() const {
  isa::Target target;
  std::string unknown;
  if (!isa::find_target(processor, "", target, unknown) || !target.has_sramecc) return "-xnack";
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
  std::string name;
  Shrink limits;
  if (!split_choice(choice, name, limits, error)) return false;
  if (name.empty()) name = kDefaultProfile;
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
      error =
          fmt::format("The virtual GPU's profile ({}) does not exist{} The profiles in {} are: {}.",
                      name, why_no_profile(name, names), directory, fmt::join(names, ", "));
    }
    return false;
  }
  config::Diagnostics diagnostics;
  Profile loaded;
  if (!ProfileFiles(directory, diagnostics).read(path, loaded)) {
    error = diagnostics.text();
    return false;
  }
  loaded.name = name;
  if (!apply_shrink(limits, loaded, error)) return false;
  if (!choice.empty()) loaded.name = choice;
  profile = std::move(loaded);
  return true;
}

std::string profile_directory() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&profile_directory), &info) == 0) return {};
  std::error_code code;
  const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, code);
  if (code) return {};
  // lib/halyard/vgpu/libhalyard-kfd.so.0: four steps up is the prefix.
  const std::filesystem::path prefix =
      library.parent_path().parent_path().parent_path().parent_path();
  return (prefix / "share/halyard/config/vgpu").string();
}

}  // namespace halyard::vgpu::machine
