// Which GPUs may use an allocation.
#pragma once

#include <string>

#include "drivers/amdgpu/hsa.h"
#include "hal/status.h"

namespace halyard::amdgpu {

// Lets `gpu` use the allocation that `address` lies in, beside those that may already, whoever let
// them: hsa_amd_agents_allow_access replaces an allocation's list, and an allocation may have many
// buffers. `host` (a null handle: nobody) is named as well where the host sees the memory. `doing`
// is what a failure says, as in check(). Any thread.
Status give_access(const Hsa& hsa, void* address, hsa_agent_t gpu, hsa_agent_t host,
                   const std::string& doing);

}  // namespace halyard::amdgpu
