// The agents (GPUs and the host) that the HSA runtime lists, and what it says of each GPU.
#pragma once

#include <string>
#include <vector>

#include "drivers/amdgpu/hsa.h"
#include "drivers/common/host_window.h"
#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard::amdgpu {

struct GpuFacts {
  hsa_agent_t agent = {};
  std::string processor;  // "gfx90a"
  std::string product;    // "AMD Instinct MI210"; the processor if it has no such name
  std::string uuid;       // "GPU-…"; empty if it has none
  std::string target;     // "gfx90a:sramecc+:xnack-"
  TargetId target_id;
  uint32_t compute_units = 0;
  uint32_t wavefront_size = 0;
  uint32_t max_workgroup_size = 0;
  uint16_t max_workgroup[3] = {0, 0, 0};
  hsa_dim3_t max_grid = {0, 0, 0};
  uint32_t max_grid_size = 0;
  uint32_t lds_bytes = 0;
  uint64_t memory_bytes = 0;
  uint32_t max_clock_mhz = 0;
  uint32_t min_queue_size = 0;  // packets
  uint32_t max_queue_size = 0;
  HostWindow window;
};

struct Agents {
  hsa_agent_t host = {};
  std::vector<GpuFacts> gpus;
};

// UNAVAILABLE, with HSA's words, if the runtime cannot say.
Result<Agents> list_agents(const Hsa& hsa);

}  // namespace halyard::amdgpu
