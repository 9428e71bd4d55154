// Peers: has HIP let devices see each other's memory, which it does for the whole process.
//
// hipDeviceEnablePeerAccess of HIP 5.2.3 goes through all memory of the peer's, and ends the
// process where it comes to memory that hipIpcOpenMemHandle has opened: the HSA runtime has no
// region for that (MemObjMap::UpdateAccess of ROCclr, Runtime::AllowAccess of ROCR). What is
// enabled already is not gone through again. So all who can reach a device are let before it opens
// such memory.
#pragma once

#include <mutex>

#include "drivers/hip/hip.h"

namespace halyard::hip {

// Devices are HIP's numbers. Any thread may use any method.
class Peers {
 public:
  static Peers& instance();

  // Lets `device` see the memory of `peer`. False if it cannot.
  bool enable(const Hip& hip, int device, int peer);
  // hipIpcOpenMemHandle on the device, which is safe from then on whoever is enabled later.
  hipError_t open_memory(const Hip& hip, int device, const hipIpcMemHandle_t& handle,
                         void** pointer);

 private:
  static bool enable_locked(const Hip& hip, int device, int peer);

  std::mutex mutex_;
};

}  // namespace halyard::hip
