// The agents (GPUs and the host) that the HSA runtime lists, and what it says of each GPU.
#pragma once

#include <string>
#include <vector>

#include "drivers/amdgpu/hsa.h"
#include "hal/status.h"
#include "plugins/sdk/driver_device.h"

namespace halyard::amdgpu {

struct GpuFacts : DeviceFacts {
  hsa_agent_t agent = {};
  std::string processor;  // "gfx90a"
};

struct Agents {
  hsa_agent_t host = {};
  std::vector<GpuFacts> gpus;
};

// UNAVAILABLE, with HSA's words, if the runtime cannot say.
Result<Agents> list_agents(const Hsa& hsa);

}  // namespace halyard::amdgpu
