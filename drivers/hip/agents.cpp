#include "drivers/hip/agents.h"

#include "hal/error.h"
#include "plugins/sdk/clock.h"
#include "plugins/sdk/device_clock.h"
#include "plugins/sdk/dmabuf.h"

namespace halyard::hip {

std::string pci_of(const Hip& hip, hsa_agent_t agent) {
  uint32_t location = 0;  // bus, device and function: 8, 5 and 3 bits
  uint32_t domain = 0;
  if (hip.hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_BDFID, &location) != HSA_STATUS_SUCCESS ||
      hip.hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_DOMAIN, &domain) != HSA_STATUS_SUCCESS) {
    return {};
  }
  return fmt::format("{:04x}:{:02x}:{:02x}", domain, location >> 8 & 0xff, location >> 3 & 0x1f);
}

namespace {

std::optional<hsa_agent_t> find_agent(const Hip& hip, const std::string& pci) {
  struct Search {
    const Hip& hip;
    const std::string& pci;
    std::optional<hsa_agent_t> found;
  } search = {hip, pci, {}};
  const auto look = [](hsa_agent_t agent, void* data) -> hsa_status_t {
    auto& s = *static_cast<Search*>(data);
    int type = 0;
    s.hip.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (!s.found && type == HSA_DEVICE_TYPE_GPU && pci_of(s.hip, agent) == s.pci) s.found = agent;
    return HSA_STATUS_SUCCESS;
  };
  hip.hsa_iterate_agents(look, &search);
  return search.found;
}

}  // namespace

bool owns_memory(const Hip& hip, const GpuFacts& gpu, const void* pointer, int device) {
  if (hip.hsa_amd_pointer_info != nullptr && hip.hsa_agent_get_info != nullptr) {
    hsa_amd_pointer_info_t info = {};
    info.size = sizeof(info);
    const hsa_status_t status = hip.hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr);
    // Memory that a process has opened has no owner here.
    if (status == HSA_STATUS_SUCCESS && info.size >= sizeof(info) &&
        info.type == HSA_EXT_POINTER_TYPE_HSA) {
      const std::string pci = pci_of(hip, info.owner);
      if (!pci.empty()) return pci == gpu.pci;
    }
  }
  return device == gpu.device;
}

Status check_has_dmabufs(const Hip& hip) {
  if (hip.hsa_amd_portable_export_dmabuf == nullptr || hip.hipImportExternalMemory == nullptr ||
      hip.hipExternalMemoryGetMappedBuffer == nullptr || hip.hipDestroyExternalMemory == nullptr) {
    return no_dmabufs(
        "the HSA runtime below HIP lacks hsa_amd_portable_export_dmabuf, which releases from 5.6 "
        "on have");
  }
  bool supported = true;
  if (hip.hsa_system_get_info != nullptr &&
      hip.hsa_system_get_info(HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED, &supported) ==
          HSA_STATUS_SUCCESS &&
      !supported) {
    return no_dmabufs("the HSA runtime reports that this kernel driver has none (KFD before 1.12)");
  }
  return {};
}

bool can_map_dmabuf(const Hip& hip, const GpuFacts& gpu, int descriptor) {
  if (hip.hsa_iterate_agents == nullptr || hip.hsa_agent_get_info == nullptr ||
      hip.hsa_amd_interop_map_buffer == nullptr || hip.hsa_amd_interop_unmap_buffer == nullptr)
    return false;
  std::optional<hsa_agent_t> agent = find_agent(hip, gpu.pci);
  if (!agent) return false;
  size_t size = 0;
  void* mapped = nullptr;
  if (hip.hsa_amd_interop_map_buffer(1, &*agent, descriptor, 0, &size, &mapped, nullptr, nullptr) !=
      HSA_STATUS_SUCCESS)
    return false;
  hip.hsa_amd_interop_unmap_buffer(mapped);
  return true;
}

Status read_clocks(const Hip& hip, const GpuFacts& gpu, ClockReading* reading) {
  std::optional<hsa_agent_t> agent;
  if (hip.hsa_iterate_agents != nullptr && hip.hsa_agent_get_info != nullptr &&
      hip.hsa_system_get_info != nullptr &&
      hip.hsa_amd_profiling_convert_tick_to_system_domain != nullptr) {
    agent = find_agent(hip, gpu.pci);
  }
  if (!agent) {
    return error(StatusCode::kUnimplemented,
                 "Device::read_clocks is called on {}: HIP does not tell the device's time, and "
                 "there is no HSA runtime below it that knows the device ({}).",
                 gpu.name, gpu.pci);
  }
  ClockSource source;
  hip.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &source.system_hz);
  source.system_now = [&hip](uint64_t* ticks) {
    return hip.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, ticks) == HSA_STATUS_SUCCESS;
  };
  source.to_system = [&hip, gpu_agent = *agent](uint64_t device, uint64_t* system) {
    return hip.hsa_amd_profiling_convert_tick_to_system_domain(gpu_agent, device, system) ==
           HSA_STATUS_SUCCESS;
  };
  source.host_now_ns = &now_ns;
  return halyard::read_clocks(source, reading);
}

}  // namespace halyard::hip
