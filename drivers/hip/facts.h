// What the HIP runtime says of each GPU.
#pragma once

#include <string>
#include <vector>

#include "drivers/common/host_window.h"
#include "drivers/hip/hip.h"
#include "hal/status.h"
#include "hal/target_id.h"
#include "hal/types.h"

namespace halyard::hip {

struct GpuFacts {
  int device = 0;      // HIP's number, which is the ordinal
  std::string name;    // "AMD Instinct MI210"; the processor if it has no such name
  std::string uuid;    // "GPU-…"; empty if it has none
  std::string pci;     // "0000:03:00": domain, bus and device
  std::string target;  // "gfx90a:sramecc+:xnack-"
  TargetId target_id;
  uint32_t compute_units = 0;
  uint32_t wavefront_size = 0;
  uint32_t max_workgroup_size = 0;
  Dim3 max_workgroup = {0, 0, 0};
  Dim3 max_grid = {0, 0, 0};  // work-items
  uint32_t lds_bytes = 0;
  uint64_t memory_bytes = 0;
  uint32_t max_clock_mhz = 0;
  bool maps_device_memory = false;
  HostWindow window;
};

// UNAVAILABLE, with HIP's words, if the runtime cannot say.
Result<std::vector<GpuFacts>> list_gpus(const Hip& hip);

// "GPU-0123456789abcdef", as the HSA runtime writes it, from HIP's 16 bytes; empty if there are
// none. HIP 5.2 gives the 16 hexadecimal digits as text.
std::string uuid_text(const hipUUID& uuid);

}  // namespace halyard::hip
