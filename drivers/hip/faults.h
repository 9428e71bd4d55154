// Faults: a GPU's memory faults, which the HSA runtime below HIP reports to handlers.
#pragma once

#include "drivers/hip/facts.h"
#include "drivers/hip/hip.h"

namespace halyard::hip {

class Faults {
 public:
  // From now on a memory fault of the GPU while it has work of the driver's loses the device: what
  // is in flight fails, with the names of its kernels. Any other fault ends the process, as it does
  // without the driver. Does nothing if the HSA runtime cannot be asked.
  static void watch(const Hip& hip, const GpuFacts& gpu);
};

}  // namespace halyard::hip
