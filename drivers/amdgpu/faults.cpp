#include "drivers/amdgpu/faults.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/amdgpu/device.h"
#include "drivers/common/loss.h"
#include "drivers/common/memory_fault.h"

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

hsa_status_t on_event(const hsa_amd_event_t* event, void*) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  const std::string what = describe_memory_fault(event->memory_fault.virtual_address,
                                                 event->memory_fault.fault_reason_mask);
  all.lost_agents.emplace(event->memory_fault.agent.handle, what);
  bool ours = false;
  for (DeviceImpl* const device : all.devices) {
    if (device->agent().handle != event->memory_fault.agent.handle) continue;
    device->lose_device(what);
    ours = true;
  }
  // Anything but success has the runtime end the process, as it does for the faults of other code.
  return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

}  // namespace

Status Faults::watch(Hsa& hsa, DeviceImpl& device) {
  {
    const std::lock_guard lock(watched().mutex);
    const auto lost = watched().lost_agents.find(device.agent().handle);
    if (lost != watched().lost_agents.end()) {
      return device_was_lost(device.info().name, lost->second);
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
