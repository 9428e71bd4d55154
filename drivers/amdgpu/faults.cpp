#include "drivers/amdgpu/faults.h"

#include <string>

#include "drivers/amdgpu/device.h"
#include "plugins/sdk/gpu_faults.h"

namespace halyard::amdgpu {

namespace {

hsa_status_t on_event(const hsa_amd_event_t* event, void*) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  const hsa_amd_gpu_memory_fault_info_t& fault = event->memory_fault;
  const bool ours = GpuFaults::instance().report(fault.agent.handle, fault.virtual_address,
                                                 fault.fault_reason_mask);
  // Anything but success has the runtime end the process, as it does for the faults of other code.
  return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

}  // namespace

// The kernel driver stops all of a process's queues on an agent that has faulted, and ROCR handles
// one fault per process (5.2.3, Runtime::VMFaultHandler), so there is no way back.
Status Faults::watch(Hsa& hsa, DeviceImpl& device) {
  HALYARD_RETURN_IF_ERROR(GpuFaults::instance().watch(
      device, device.agent().handle,
      [&device](const std::string& what) { device.lose_device(what); }));
  return hsa.on_system_event(&on_event);
}

void Faults::forget(const DeviceImpl& device) {
  GpuFaults::instance().forget(device);
}

}  // namespace halyard::amdgpu
