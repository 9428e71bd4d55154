#include "drivers/hip/facts.h"

#include <algorithm>
#include <cstring>

#include "drivers/hip/reserved.h"
#include "hal/error.h"
#include "plugins/sdk/numa_node.h"

namespace halyard::hip {

namespace {

std::string text_at(const DeviceProperties& properties, size_t offset) {
  const char* const text = properties.bytes + offset;
  return {text, strnlen(text, DeviceProperties::kTextSize)};
}

// What only hipDeviceProp_t tells. HIP 6 has both layouts; the newer one also knows newer
// processors.
hipError_t read_properties(const Hip& hip, int device, GpuFacts* facts) {
  DeviceProperties properties;
  const bool newer = hip.hipGetDevicePropertiesR0600 != nullptr;
  const hipError_t result = newer ? hip.hipGetDevicePropertiesR0600(&properties, device)
                                  : hip.hipGetDeviceProperties(&properties, device);
  if (result != hipSuccess) return result;
  using P = DeviceProperties;
  facts->name = text_at(properties, P::kNameOffset);
  facts->target = text_at(properties, newer ? P::kArchOffset6 : P::kArchOffset5);
  int large_bar = 0;
  std::memcpy(&large_bar, properties.bytes + (newer ? P::kLargeBarOffset6 : P::kLargeBarOffset5),
              sizeof(large_bar));
  facts->figures.maps_device_memory = large_bar != 0;
  return hipSuccess;
}

uint32_t attribute(const Hip& hip, int device, hipDeviceAttribute_t what) {
  int value = 0;
  return hip.hipDeviceGetAttribute(&value, what, device) == hipSuccess && value > 0
             ? static_cast<uint32_t>(value)
             : 0;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

Result<GpuFacts> describe_gpu(const Hip& hip, int device) {
  GpuFacts facts;
  facts.device = device;
  HALYARD_RETURN_IF_ERROR(check(hip, read_properties(hip, device, &facts),
                                fmt::format("Asking for the properties of device {}", device)));
  HALYARD_ASSIGN_OR_RETURN(facts.target_id, parse_target_id(facts.target));
  facts.target = to_string(facts.target_id);
  if (facts.name.empty()) facts.name = facts.target_id.processor;
  hipUUID uuid = {};
  if (hip.hipDeviceGetUuid != nullptr && hip.hipDeviceGetUuid(&uuid, device) == hipSuccess) {
    facts.uuid = uuid_text(uuid);
  }
  char pci[32] = "";
  HALYARD_RETURN_IF_ERROR(check(hip, hip.hipDeviceGetPCIBusId(pci, sizeof(pci), device),
                                fmt::format("Asking for the PCI address of device {}", device)));
  facts.pci_address = lower_case(pci);
  facts.pci = pci;
  facts.pci.resize(std::min(facts.pci.find('.'), facts.pci.size()));  // HIP's function is always 0
  DeviceInfo& figures = facts.figures;
  const auto get = [&](hipDeviceAttribute_t what) { return attribute(hip, device, what); };
  figures.compute_units = get(hipDeviceAttributeMultiprocessorCount);
  figures.wavefront_size = get(hipDeviceAttributeWarpSize);
  figures.max_workgroup_size = get(hipDeviceAttributeMaxThreadsPerBlock);
  figures.max_workgroup = {get(hipDeviceAttributeMaxBlockDimX), get(hipDeviceAttributeMaxBlockDimY),
                           get(hipDeviceAttributeMaxBlockDimZ)};
  figures.max_grid = {get(hipDeviceAttributeMaxGridDimX), get(hipDeviceAttributeMaxGridDimY),
                      get(hipDeviceAttributeMaxGridDimZ)};
  figures.lds_bytes = get(hipDeviceAttributeMaxSharedMemoryPerBlock);
  figures.max_clock_mhz = get(hipDeviceAttributeClockRate) / 1000;
  DeviceDetails& details = facts.details;
  details.numa_node = numa_node_of(facts.pci_address);
  details.l2_cache_bytes = get(hipDeviceAttributeL2CacheSize);
  details.copy_engines = get(hipDeviceAttributeAsyncEngineCount);
  if (figures.wavefront_size != 0) {
    details.waves_per_compute_unit =
        get(hipDeviceAttributeMaxThreadsPerMultiProcessor) / figures.wavefront_size;
  }
  facts.memory_clock_mhz = get(hipDeviceAttributeMemoryClockRate) / 1000;
  facts.memory_bus_bits = get(hipDeviceAttributeMemoryBusWidth);
  // HIP writes an address where other attributes are an int.
  uint32_t* flush = nullptr;
  if (hip.hipDeviceGetAttribute(reinterpret_cast<int*>(&flush), hipDeviceAttributeHdpMemFlushCntl,
                                device) == hipSuccess) {
    facts.window = HostWindow(flush);
  }
  // All of it: memory that the device shares at a fine grain, a window through which the host
  // reaches all of it, and a way to synchronise that.
  figures.maps_device_memory &=
      get(hipDeviceAttributeFineGrainSupport) != 0 && facts.window.can_synchronise();
  figures.managed_memory = hip.hipMallocManaged != nullptr && hip.hipMemPrefetchAsync != nullptr &&
                           hip.hipMemAdvise != nullptr && get(hipDeviceAttributeManagedMemory) != 0;
  figures.commit_granule = has_virtual_memory(hip, device) ? kCommitGranule : 0;
  size_t bytes = 0;
  HALYARD_RETURN_IF_ERROR(check(hip, hip.hipDeviceTotalMem(&bytes, device),
                                fmt::format("Asking for the memory of device {}", device)));
  figures.memory_bytes = bytes;
  figures.max_allocation_bytes = bytes;
  figures.allocation_alignment = 4096;
  // What an AQL packet holds, which is what HIP makes of a launch.
  figures.max_grid_size = UINT32_MAX;
  figures.timestamp_hz = 1'000'000'000;  // HIP's times are on the host's scale
  figures.coherent_map = !figures.maps_device_memory;
  figures.imports_queues = true;
  return facts;
}

}  // namespace

std::string uuid_text(const hipUUID& uuid) {
  std::string digits(uuid.bytes, strnlen(uuid.bytes, sizeof(uuid.bytes)));
  if (digits.size() != sizeof(uuid.bytes) ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos ||
      digits.find_first_not_of('0') == std::string::npos) {
    return {};
  }
  return "GPU-" + digits;
}

Result<std::vector<GpuFacts>> list_gpus(const Hip& hip) {
  int count = 0;
  HALYARD_RETURN_IF_ERROR(check(hip, hip.hipGetDeviceCount(&count), "Counting the devices"));
  std::vector<GpuFacts> gpus;
  for (int device = 0; device < count; ++device) {
    HALYARD_ASSIGN_OR_RETURN(GpuFacts facts, describe_gpu(hip, device));
    gpus.push_back(std::move(facts));
  }
  return gpus;
}

}  // namespace halyard::hip
