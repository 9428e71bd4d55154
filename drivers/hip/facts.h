// What the HIP runtime says of each GPU.
#pragma once

#include <string>
#include <vector>

#include "drivers/hip/hip.h"
#include "hal/status.h"
#include "plugins/sdk/driver_device.h"

namespace halyard::hip {

struct GpuFacts : DeviceFacts {
  int device = 0;   // HIP's number, which is the ordinal
  std::string pci;  // "0000:03:00": domain, bus and device
};

// UNAVAILABLE, with HIP's words, if the runtime cannot say.
Result<std::vector<GpuFacts>> list_gpus(const Hip& hip);

// "GPU-0123456789abcdef", as the HSA runtime writes it, from HIP's 16 bytes; empty if there are
// none. HIP 5.2 gives the 16 hexadecimal digits as text.
std::string uuid_text(const hipUUID& uuid);

}  // namespace halyard::hip
