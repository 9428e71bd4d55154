#include "drivers/amdgpu/faults.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

namespace {

// Leaked on purpose: the runtime's thread may call when main is over.
struct Watched {
  std::mutex mutex;
  std::vector<DeviceImpl*> devices;
  // What the first fault of each agent (by handle) was. The kernel driver stops all of a process's
  // queues on an agent that has faulted, and ROCR handles one fault per process (5.2.3,
  // Runtime::VMFaultHandler), so there is no way back.
  std::map<uint64_t, std::string> lost_agents;
};
Watched& watched() {
  static auto* const all = new Watched;
  return *all;
}

std::string describe_fault(const hsa_amd_gpu_memory_fault_info_t& fault) {
  struct Reason {
    uint32_t bit;
    const char* words;
  };
  static constexpr Reason kReasons[] = {
      {HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "the page is not present or not accessible"},
      {HSA_AMD_MEMORY_FAULT_READ_ONLY, "a write to a read-only page"},
      {HSA_AMD_MEMORY_FAULT_NX, "execution from a page without permission"},
      {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "a page that only the host may access"},
      {HSA_AMD_MEMORY_FAULT_DRAMECC, "an uncorrectable DRAM error"},
      {HSA_AMD_MEMORY_FAULT_IMPRECISE, "the address is not exact"},
      {HSA_AMD_MEMORY_FAULT_SRAMECC, "an uncorrectable SRAM error"},
      {static_cast<uint32_t>(HSA_AMD_MEMORY_FAULT_HANG), "the GPU was reset after it hung"},
  };
  std::string text = fmt::format("memory access fault at address {:#x}", fault.virtual_address);
  const char* separator = ": ";
  for (const Reason& reason : kReasons) {
    if ((fault.fault_reason_mask & reason.bit) == 0) continue;
    text += separator;
    text += reason.words;
    separator = ", ";
  }
  return text;
}

hsa_status_t on_event(const hsa_amd_event_t* event, void*) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  const std::string what = describe_fault(event->memory_fault);
  all.lost_agents.emplace(event->memory_fault.agent.handle, what);
  bool ours = false;
  for (DeviceImpl* const device : all.devices) {
    if (device->agent().handle != event->memory_fault.agent.handle) continue;
    device->lose_device(what);
    ours = true;
  }
  // Anything but success has the runtime end the process, as it does for faults of nobody's.
  return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

}  // namespace

Status Faults::watch(Hsa& hsa, DeviceImpl& device) {
  {
    const std::lock_guard lock(watched().mutex);
    const auto lost = watched().lost_agents.find(device.agent().handle);
    if (lost != watched().lost_agents.end()) {
      return error(StatusCode::kUnavailable,
                   "The device {} is lost to this process since an earlier fault ({}). Start a new "
                   "process to use it again.",
                   device.info().name, lost->second);
    }
    watched().devices.push_back(&device);
  }
  return hsa.on_system_event(&on_event);
}

void Faults::forget(const DeviceImpl& device) {
  const std::lock_guard lock(watched().mutex);
  std::erase(watched().devices, &device);
}

}  // namespace halyard::amdgpu
