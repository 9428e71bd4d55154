// Faults: memory faults of devices, which the runtime reports once for the whole process.
#pragma once

#include "drivers/amdgpu/hsa.h"
#include "hal/status.h"

namespace halyard::amdgpu {

class DeviceImpl;

class Faults {
 public:
  // From now on a fault of the device's agent loses the device, instead of ending the process.
  // UNAVAILABLE if the agent has faulted before: its process has lost it for good, and the runtime
  // would not report another fault.
  static Status watch(Hsa& hsa, DeviceImpl& device);
  static void forget(const DeviceImpl& device);
};

}  // namespace halyard::amdgpu
