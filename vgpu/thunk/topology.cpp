#include "vgpu/thunk/topology.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

namespace halyard::vgpu::thunk {

namespace {

constexpr uint16_t kVendorAmd = 0x1002;
// What the kernel driver reports: for PCIe, between a GPU and a CPU, and for one hop of xGMI.
constexpr uint32_t kLinkWeight = 20;
constexpr uint32_t kXgmiWeight = 15;
constexpr uint32_t kPcieMegabytes = 16000;
constexpr uint32_t kXgmiMegabytes = 50000;
constexpr uint64_t kHive = 0x48414c59;

// Fields of these structs are misaligned (they are packed to 4 bytes), so they are set by value.
void set_name(HsaNodeProperties& properties, const std::string& name) {
  const size_t length = std::min<size_t>(name.size(), HSA_PUBLIC_NAME_SIZE - 1);
  for (size_t i = 0; i < length; ++i) {
    properties.MarketingName[i] = static_cast<unsigned char>(name[i]);
  }
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

uint64_t host_memory() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return uint64_t{1} << 30;
  const uint64_t bytes = uint64_t{info.totalram} * info.mem_unit;
  return bytes / 4096 * 4096;
}

uint32_t host_cores() {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? static_cast<uint32_t>(cores) : 1;
}

HsaCacheProperties cache(uint32_t level, uint64_t bytes, uint64_t line, bool is_gpu) {
  HsaCacheProperties result = {};
  result.CacheLevel = level;
  result.CacheSize = static_cast<HSAuint32>(bytes / 1024);  // KiB
  result.CacheLineSize = static_cast<HSAuint32>(line);
  result.CacheLinesPerTag = 1;
  result.CacheAssociativity = 16;
  result.CacheLatency = 1;
  result.CacheType.ui32.Data = 1;
  if (is_gpu) {
    result.CacheType.ui32.HSACU = 1;
  } else {
    result.CacheType.ui32.CPU = 1;
  }
  return result;
}

HsaMemoryProperties bank(HSA_HEAPTYPE type, uint64_t bytes, uint64_t base) {
  HsaMemoryProperties result = {};
  result.HeapType = type;
  result.SizeInBytes = bytes;
  result.VirtualBaseAddress = base;
  return result;
}

// GPUs that are linked by xGMI, directly or not, form a hive: each gets the number of the first GPU
// of its own.
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

}  // namespace

Topology::Topology(const Profile& profile) {
  add_cpu();
  const std::vector<uint32_t> hives = hives_of(profile);
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) {
    add_gpu(profile.gpus[i], i);
    if (std::count(hives.begin(), hives.end(), hives[i]) > 1 ||
        profile.gpus[i].fine_grained_memory) {
      nodes_.back().properties.HiveID = kHive + hives[i];
    }
  }
  add_links(profile);
  for (Node& node : nodes_) finish(node);
}

void Topology::add_cpu() {
  Node node;
  node.properties.NumCPUCores = host_cores();
  node.properties.MaxEngineClockMhzCCompute = 2000;
  set_name(node.properties, cpu_name());
  node.memory.push_back(bank(HSA_HEAPTYPE_SYSTEM, host_memory(), 0));
  node.caches.push_back(cache(1, 32 << 10, 64, false));
  node.caches.push_back(cache(2, 1 << 20, 64, false));
  nodes_.push_back(std::move(node));
}

void Topology::add_gpu(const GpuProfile& gpu, uint32_t index) {
  Node node;
  HsaNodeProperties& p = node.properties;
  p.NumFComputeCores = gpu.compute_units * gpu.simds_per_cu;
  p.FComputeIdLo = 0x80000000 + index * 0x1000;
  p.Capability.ui32.QueueSizePowerOfTwo = 1;
  p.Capability.ui32.WatchPointsSupported = 1;
  p.Capability.ui32.WatchPointsTotalBits = 2;
  p.Capability.ui32.DoorbellType = 2;  // 64-bit, holds the packet index
  p.Capability.ui32.SRAM_EDCSupport = gpu.sramecc ? 1 : 0;
  p.Capability.ui32.CoherentHostAccess = 0;
  p.MaxWavesPerSIMD = gpu.waves_per_simd;
  p.LDSSizeInKB = static_cast<HSAuint32>(gpu.lds_bytes / 1024);
  p.WaveFrontSize = 64;
  p.NumShaderBanks = gpu.shader_engines;
  p.NumArrays = 1;
  p.NumCUPerArray = (gpu.compute_units + gpu.shader_engines - 1) / gpu.shader_engines;
  p.NumSIMDPerCU = gpu.simds_per_cu;
  p.MaxSlotsScratchCU = 32;
  p.EngineId.ui32.Major = gpu.major_version();
  p.EngineId.ui32.Minor = gpu.minor_version();
  p.EngineId.ui32.Stepping = gpu.stepping();
  p.EngineId.ui32.uCode = 460;
  p.uCodeEngineVersions.uCodeSDMA = 430;
  p.VendorId = kVendorAmd;
  p.DeviceId = static_cast<HSAuint16>(gpu.device_id);
  p.LocationId = gpu.pci_location;
  p.Domain = gpu.pci_domain;
  p.UniqueID = gpu.uuid;
  p.LocalMemSize = gpu.memory_bytes;
  p.MaxEngineClockMhzFCompute = gpu.engine_clock_mhz();
  p.MaxEngineClockMhzCCompute = 2000;
  p.DrmRenderMinor = static_cast<HSAint32>(128 + index);
  set_name(p, gpu.marketing_name);
  std::memcpy(p.AMDName, gpu.processor.data(),
              std::min<size_t>(gpu.processor.size(), HSA_PUBLIC_NAME_SIZE - 1));
  p.NumSdmaEngines = gpu.sdma_engines;
  p.NumSdmaXgmiEngines = gpu.xgmi_sdma_engines;
  p.NumSdmaQueuesPerEngine = 8;
  p.NumCpQueues = static_cast<HSAuint8>(gpu.compute_queues);
  p.VGPRSizePerCU = gpu.is_gfx90a() ? 0x80000 : 0x40000;
  p.SGPRSizePerCU = 0x3200;

  const HSA_HEAPTYPE heap =
      gpu.large_bar ? HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC : HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE;
  HsaMemoryProperties vram = bank(heap, gpu.memory_bytes, 0);
  vram.Width = gpu.memory_width;
  vram.MemoryClockMax = static_cast<HSAuint32>(gpu.memory_clock_hz / 1000000);
  node.memory.push_back(vram);
  node.memory.push_back(bank(HSA_HEAPTYPE_GPU_LDS, gpu.lds_bytes, kSharedAperture));
  node.memory.push_back(bank(HSA_HEAPTYPE_GPU_SCRATCH, uint64_t{1} << 32, kPrivateAperture));
  // The host and the GPU share their caches here, so there is nothing to flush.
  node.registers = std::make_unique<RegisterPage>();
  node.memory.push_back(bank(HSA_HEAPTYPE_MMIO_REMAP, sizeof(RegisterPage),
                             reinterpret_cast<uint64_t>(node.registers.get())));
  node.caches.push_back(cache(1, gpu.l1_bytes, gpu.cache_line_bytes, true));
  node.caches.push_back(cache(2, gpu.l2_bytes, gpu.cache_line_bytes, true));
  nodes_.push_back(std::move(node));
}

void Topology::add_link(uint32_t from, uint32_t to, LinkType type) {
  const bool is_xgmi = type == LinkType::kXgmi;
  const bool between_gpus = from != 0 && to != 0;
  HsaIoLinkProperties link = {};
  link.IoLinkType = is_xgmi ? HSA_IOLINK_TYPE_XGMI : HSA_IOLINKTYPE_PCIEXPRESS;
  link.NodeFrom = from;
  link.NodeTo = to;
  link.Weight = is_xgmi ? kXgmiWeight : between_gpus ? 2 * kLinkWeight : kLinkWeight;
  link.MinimumBandwidth = is_xgmi ? kXgmiMegabytes : kPcieMegabytes;
  link.MaximumBandwidth = link.MinimumBandwidth;
  nodes_[from].links.push_back(link);
}

// Every GPU is linked with the CPU, and with other GPUs as the profile says, both ways. But over
// PCIe a GPU's memory is reached through its large BAR, so that there is no link to one that has
// none: the kernel driver reports none from the CPU (amdkfd, kfd_crat.c), the thunk none from other
// GPUs (get_indirect_iolink_info of 5.2.3).
void Topology::add_links(const Profile& profile) {
  const auto add = [&](uint32_t from, uint32_t to, LinkType type) {
    const bool reached = to == 0 || type == LinkType::kXgmi || profile.gpus[to - 1].large_bar;
    if (type != LinkType::kNone && reached) add_link(from, to, type);
  };
  for (uint32_t gpu = 1; gpu < nodes_.size(); ++gpu) {
    add(0, gpu, LinkType::kPcie);
    add(gpu, 0, LinkType::kPcie);
  }
  for (const LinkProfile& link : profile.links) {
    add(link.from + 1, link.to + 1, link.type);
    add(link.to + 1, link.from + 1, link.type);
  }
}

void Topology::finish(Node& node) {
  node.properties.NumMemoryBanks = static_cast<HSAuint32>(node.memory.size());
  node.properties.NumCaches = static_cast<HSAuint32>(node.caches.size());
  node.properties.NumIOLinks = static_cast<HSAuint32>(node.links.size());
}

}  // namespace halyard::vgpu::thunk
