#include "vgpu/kfd/topology_files.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/pci_files.h"

namespace halyard::vgpu::kfd {
namespace {

using machine::GpuProfile;
using machine::LinkProfile;
using machine::LinkType;
using machine::Profile;

constexpr const char* kTopology = "/sys/devices/virtual/kfd/kfd/topology";
constexpr uint32_t kCpuClockMhz = 2000;
// What the kernel driver reports: for PCIe, between a GPU and a CPU, and for one hop of xGMI.
constexpr uint32_t kLinkWeight = 20;
constexpr uint32_t kXgmiWeight = 15;
constexpr uint32_t kInsideWeight = 13;  // between what is in one package
constexpr uint32_t kPcieMegabytes = 16000;
constexpr uint32_t kXgmiMegabytes = 50000;
constexpr uint32_t kInsideMegabytes = 819200;
constexpr uint32_t kLinkEnabled = 1;
// What the numbers of the files mean: amdkfd, kfd_topology.h and kfd_crat.h.
enum LinkKind : uint32_t { kPcieLink = 2, kXgmiLink = 11 };
enum HeapKind : uint32_t { kSystemHeap = 0, kPublicVram = 1, kPrivateVram = 2 };
enum CacheKind : uint32_t { kDataCache = 1 << 0, kCacheOfComputeUnits = 1 << 3 };
constexpr uint32_t kQueueSizePowerOfTwo = 1u << 3;
constexpr uint32_t kWatchPoints = 1u << 7;
constexpr uint32_t kTwoWatchPointBits = 2u << 8;
constexpr uint32_t kDoorbellsOf64Bits = 2u << 12;  // which hold the packet's index
constexpr uint32_t kAsicRevision = 1u << 22;       // its lowest of 4 bits
constexpr uint32_t kSramEcc = 1u << 26;
constexpr uint32_t kSvm = 1u << 27;
constexpr uint32_t kCoherentHostAccess = 1u << 28;
constexpr uint64_t kHive = 0x48414c59;
// Firmware versions: those of 2022, which the runtimes believe to have all features.
constexpr uint32_t kFirmware = 460;
constexpr uint32_t kSdmaFirmware = 430;

// Lines "name value", in the order of the kernel driver's own (amdkfd, kfd_topology.c).
class Properties {
 public:
  Properties& add(const char* name, uint64_t value) {
    text_ += fmt::format("{} {}\n", name, value);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Link {
  uint32_t to = 0;
  LinkType type = LinkType::kPcie;
  bool is_inside = false;  // of one package
};

// The links that leave a node. The kernel driver keeps PCIe links between GPUs apart ("p2p").
struct Links {
  std::vector<Link> io;
  std::vector<Link> p2p;
};

// Every GPU is linked with the CPU, and with other GPUs as the profile says, both ways. But over
// PCIe a GPU's memory is reached through its large BAR: there is no link to one that has none
// (amdkfd, kfd_crat.c and kfd_topology.c).
std::vector<Links> links_of(const Profile& profile) {
  std::vector<Links> nodes(profile.gpus.size() + 1);
  for (uint32_t gpu = 1; gpu < nodes.size(); ++gpu) {
    const bool apu = profile.gpus[gpu - 1].apu;
    const LinkType type = apu ? LinkType::kXgmi : LinkType::kPcie;
    if (apu || profile.gpus[gpu - 1].large_bar) nodes[0].io.push_back({gpu, type, apu});
    nodes[gpu].io.push_back({0, type, apu});
  }
  const auto add = [&](uint32_t from, uint32_t to, LinkType type) {
    const bool inside = profile.gpus[from - 1].is_same_device(profile.gpus[to - 1]);
    if (type == LinkType::kXgmi) nodes[from].io.push_back({to, type, inside});
    if (type == LinkType::kPcie && profile.gpus[to - 1].large_bar)
      nodes[from].p2p.push_back({to, type});
  };
  for (const LinkProfile& link : profile.links) {
    add(link.from + 1, link.to + 1, link.type);
    add(link.to + 1, link.from + 1, link.type);
  }
  return nodes;
}

std::string link_text(uint32_t from, const Link& link) {
  const bool is_xgmi = link.type == LinkType::kXgmi;
  const bool between_gpus = from != 0 && link.to != 0;
  const uint32_t megabytes = link.is_inside ? kInsideMegabytes
                             : is_xgmi      ? kXgmiMegabytes
                                            : kPcieMegabytes;
  return Properties()
      .add("type", is_xgmi ? kXgmiLink : kPcieLink)
      .add("version_major", 0)
      .add("version_minor", 0)
      .add("node_from", from)
      .add("node_to", link.to)
      .add("weight", link.is_inside ? kInsideWeight
                     : is_xgmi      ? kXgmiWeight
                     : between_gpus ? 2 * kLinkWeight
                                    : kLinkWeight)
      .add("min_latency", 0)
      .add("max_latency", 0)
      .add("min_bandwidth", megabytes)
      .add("max_bandwidth", megabytes)
      .add("recommended_transfer_size", 0)
      .add("flags", kLinkEnabled)
      .text();
}

std::string bank_text(HeapKind heap, uint64_t bytes, uint32_t width, uint64_t clock_hz) {
  return Properties()
      .add("heap_type", heap)
      .add("size_in_bytes", bytes)
      .add("flags", 0)
      .add("width", width)
      .add("mem_clk_max", clock_hz / 1000000)
      .text();
}

std::string cache_text(uint32_t level, uint64_t bytes, uint64_t line, uint32_t first_unit) {
  return Properties()
             .add("processor_id_low", first_unit)
             .add("level", level)
             .add("size", bytes / 1024)
             .add("cache_line_size", line)
             .add("cache_lines_per_tag", 1)
             .add("association", 16)
             .add("latency", 1)
             .add("type", kDataCache | kCacheOfComputeUnits)
             .text() +
         "sibling_map 1\n";
}

// GPUs that are linked by xGMI, directly or not, form a hive: each gets the number of the hive's
// first GPU.
std::vector<uint32_t> hives_of(const Profile& profile) {
  std::vector<uint32_t> hives(profile.gpus.size());
  for (uint32_t i = 0; i < hives.size(); ++i) hives[i] = i;
  for (const LinkProfile& link : profile.links) {
    if (link.type != LinkType::kXgmi) continue;
    const uint32_t kept = std::min(hives[link.from], hives[link.to]);
    const uint32_t gone = std::max(hives[link.from], hives[link.to]);
    std::replace(hives.begin(), hives.end(), gone, kept);
  }
  return hives;
}

std::string cpu_text(const HostFacts& host, const Links& links) {
  return Properties()
      .add("cpu_cores_count", host.cores)
      .add("simd_count", 0)
      .add("mem_banks_count", 1)
      .add("caches_count", 0)
      .add("io_links_count", links.io.size())
      .add("p2p_links_count", links.p2p.size())
      .add("cpu_core_id_base", host.first_apic_id)
      .add("simd_id_base", 0)
      .add("max_waves_per_simd", 0)
      .add("lds_size_in_kb", 0)
      .add("gds_size_in_kb", 0)
      .add("num_gws", 0)
      .add("wave_front_size", 0)
      .add("array_count", 0)
      .add("simd_arrays_per_engine", 0)
      .add("cu_per_simd_array", 0)
      .add("simd_per_cu", 0)
      .add("max_slots_scratch_cu", 0)
      .add("gfx_target_version", 0)
      .add("vendor_id", 0)
      .add("device_id", 0)
      .add("location_id", 0)
      .add("domain", 0)
      .add("drm_render_minor", 0)
      .add("hive_id", 0)
      .add("num_sdma_engines", 0)
      .add("num_sdma_xgmi_engines", 0)
      .add("num_sdma_queues_per_engine", 0)
      .add("num_cp_queues", 0)
      .add("max_engine_clk_ccompute", kCpuClockMhz)
      .text();
}

uint32_t capability_of(const GpuProfile& gpu) {
  return kQueueSizePowerOfTwo | kWatchPoints | kTwoWatchPointBits | kDoorbellsOf64Bits |
         (gpu.sramecc ? kSramEcc : 0) | (gpu.svm ? kSvm : 0) | (gpu.apu ? kCoherentHostAccess : 0) |
         gpu.asic_revision * kAsicRevision;
}

std::string gpu_text(const GpuProfile& gpu, uint32_t index, uint64_t hive, const Links& links) {
  return Properties()
      .add("cpu_cores_count", 0)
      .add("simd_count", gpu.compute_units * gpu.simds_per_cu)
      .add("mem_banks_count", 1)
      .add("caches_count", gpu.l3_bytes != 0 ? 3 : 2)
      .add("io_links_count", links.io.size())
      .add("p2p_links_count", links.p2p.size())
      .add("cpu_core_id_base", 0)
      .add("simd_id_base", 0x80000000 + index * 0x1000)
      .add("max_waves_per_simd", gpu.waves_per_simd)
      .add("lds_size_in_kb", gpu.lds_bytes / 1024)
      .add("gds_size_in_kb", 0)
      .add("num_gws", 0)
      .add("wave_front_size", 64)
      .add("array_count", gpu.shader_engines)
      .add("simd_arrays_per_engine", 1)
      .add("cu_per_simd_array", (gpu.compute_units + gpu.shader_engines - 1) / gpu.shader_engines)
      .add("simd_per_cu", gpu.simds_per_cu)
      .add("max_slots_scratch_cu", 32)
      .add("gfx_target_version",
           gpu.major_version() * 10000 + gpu.minor_version() * 100 + gpu.stepping())
      .add("vendor_id", kVendorAmd)
      .add("device_id", gpu.device_id)
      .add("location_id", gpu.pci_location | gpu.partition_id)
      .add("domain", gpu.pci_domain)
      .add("drm_render_minor", render_minor_of(index))
      .add("hive_id", hive)
      .add("num_sdma_engines", gpu.sdma_engines)
      .add("num_sdma_xgmi_engines", gpu.xgmi_sdma_engines)
      .add("num_sdma_queues_per_engine", 8)
      .add("num_cp_queues", gpu.compute_queues)
      .add("max_engine_clk_fcompute", gpu.engine_clock_hz / 1000000)
      .add("local_mem_size", gpu.memory_bytes)
      .add("fw_version", kFirmware)
      .add("capability", capability_of(gpu))
      .add("sdma_fw_version", kSdmaFirmware)
      .add("unique_id", gpu.uuid)
      .add("num_xcc", gpu.xcds)
      .add("max_engine_clk_ccompute", kCpuClockMhz)
      .text();
}

// The folders of a node, and what is in those of its links.
void add_folders(FileTree& tree, const std::string& folder, uint32_t from, const Links& links) {
  // As the kernel driver has them, also where they are empty.
  for (const char* const kind : {"mem_banks", "caches", "io_links", "p2p_links"})
    tree.folders.insert(fmt::format("{}/{}", folder, kind));
  for (size_t i = 0; i < links.io.size(); ++i)
    tree.files[fmt::format("{}/io_links/{}/properties", folder, i)] = link_text(from, links.io[i]);
  for (size_t i = 0; i < links.p2p.size(); ++i)
    tree.files[fmt::format("{}/p2p_links/{}/properties", folder, i)] =
        link_text(from, links.p2p[i]);
}

void add_gpu(FileTree& tree, const GpuProfile& gpu, uint32_t index, uint64_t hive,
             const Links& links) {
  const std::string folder = fmt::format("{}/nodes/{}", kTopology, index + 1);
  tree.files[folder + "/gpu_id"] = fmt::format("{}\n", gpu_id_of(index));
  // The kernel driver's short name of the chip, only for display.
  tree.files[folder + "/name"] = gpu.processor + "\n";
  tree.files[folder + "/properties"] = gpu_text(gpu, index, hive, links);
  tree.files[folder + "/mem_banks/0/properties"] =
      bank_text(gpu.large_bar ? kPublicVram : kPrivateVram, gpu.memory_bytes, gpu.memory_width,
                gpu.memory_clock_hz);
  tree.files[folder + "/caches/0/properties"] =
      cache_text(1, gpu.l1_bytes, gpu.cache_line_bytes, 0x80000000 + index * 0x1000);
  tree.files[folder + "/caches/1/properties"] =
      cache_text(2, gpu.l2_bytes, gpu.cache_line_bytes, 0x80000000 + index * 0x1000);
  if (gpu.l3_bytes != 0) {
    tree.files[folder + "/caches/2/properties"] =
        cache_text(3, gpu.l3_bytes, gpu.cache_line_bytes, 0x80000000 + index * 0x1000);
  }
  add_folders(tree, folder, index + 1, links);

  tree.files[fmt::format("/dev/dri/renderD{}", render_minor_of(index))] = "";
}

// libdrm's table of product names. Of two GPUs with one device id the first one's name counts: the
// table has no other key. Its fields end at a comma, so a name has none.
std::string product_names(const Profile& profile) {
  std::string text = "1.0.0\n";
  std::vector<uint32_t> seen;
  for (const GpuProfile& gpu : profile.gpus) {
    if (std::find(seen.begin(), seen.end(), gpu.device_id) != seen.end()) continue;
    seen.push_back(gpu.device_id);
    std::string name = gpu.marketing_name;
    std::replace(name.begin(), name.end(), ',', ';');
    text += fmt::format("{:04X},\t00,\t{}\n", gpu.device_id, name);
  }
  return text;
}

}  // namespace

HostFacts host_facts() {
  HostFacts facts;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores > 0) facts.cores = static_cast<uint32_t>(cores);
  struct sysinfo info;
  if (sysinfo(&info) == 0)
    facts.memory_bytes = uint64_t{info.totalram} * info.mem_unit / 4096 * 4096;
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    const size_t colon = line.find(": ");
    if (!line.starts_with("apicid") || colon == std::string::npos) continue;
    facts.first_apic_id =
        static_cast<uint32_t>(std::strtoul(line.c_str() + colon + 2, nullptr, 10));
    break;
  }
  facts.pci_devices = host_pci_devices();
  return facts;
}

FileTree driver_files(const Profile& profile, const HostFacts& host) {
  FileTree tree;
  const std::vector<Links> links = links_of(profile);
  tree.files[fmt::format("{}/generation_id", kTopology)] = "1\n";
  tree.files[fmt::format("{}/system_properties", kTopology)] =
      Properties().add("platform_oem", 0).add("platform_id", 0).add("platform_rev", 0).text();

  const std::string cpu = fmt::format("{}/nodes/0", kTopology);
  tree.files[cpu + "/gpu_id"] = "0\n";
  tree.files[cpu + "/name"] = "\n";
  tree.files[cpu + "/properties"] = cpu_text(host, links[0]);
  tree.files[cpu + "/mem_banks/0/properties"] = bank_text(kSystemHeap, host.memory_bytes, 64, 0);
  add_folders(tree, cpu, 0, links[0]);

  const std::vector<uint32_t> hives = hives_of(profile);
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) {
    const bool in_hive =
        std::count(hives.begin(), hives.end(), hives[i]) > 1 || profile.gpus[i].fine_grained_memory;
    add_gpu(tree, profile.gpus[i], i, in_hive ? kHive + hives[i] : 0, links[i + 1]);
  }

  add_pci_files(tree, profile, host);
  tree.files["/dev/kfd"] = "";
  tree.files["/proc/modules"] = "amdgpu 0 0 - Live 0x0000000000000000\n";
  tree.files["/sys/module/amdgpu/initstate"] = "live\n";
  tree.folders.insert("/sys/module/amdgpu/holders");  // lsmod
  tree.files["/usr/share/libdrm/amdgpu.ids"] = product_names(profile);
  tree.links["/sys/class/kfd/kfd"] = "../../devices/virtual/kfd/kfd";
  return tree;
}

}  // namespace halyard::vgpu::kfd
