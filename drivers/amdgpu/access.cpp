#include "drivers/amdgpu/access.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "hal/error.h"

namespace halyard::amdgpu {

Status give_access(const Hsa& hsa, void* address, hsa_agent_t gpu, hsa_agent_t host,
                   const std::string& doing) {
  // Of the process, as allocations are: from the look at a list until there is a new one.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  hsa_amd_pointer_info_t info = {};
  info.size = sizeof info;
  uint32_t count = 0;
  hsa_agent_t* listed = nullptr;
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_amd_pointer_info(address, &info, &std::malloc, &count, &listed), doing));
  std::vector<hsa_agent_t> agents(listed, listed + count);
  std::free(listed);  // NOLINT(cppcoreguidelines-no-malloc): the runtime took it from malloc
  const bool has = std::any_of(agents.begin(), agents.end(), [gpu](const hsa_agent_t& agent) {
    return agent.handle == gpu.handle;
  });
  if (has) return {};
  // The runtime has a list to change for its own allocations only (Runtime::AllowAccess of 5.2.3
  // follows a null pointer for memory that was attached by an IPC handle).
  if (info.type != HSA_EXT_POINTER_TYPE_HSA) {
    return error(StatusCode::kFailedPrecondition,
                 "{} fails: the memory at {} is not an allocation of the HSA runtime's in this "
                 "process, but {}. Make it visible to all GPUs where it is {}.",
                 doing, address,
                 info.type == HSA_EXT_POINTER_TYPE_LOCKED ? "pinned host memory"
                                                          : "memory of another process or library",
                 info.type == HSA_EXT_POINTER_TYPE_LOCKED ? "pinned" : "attached");
  }
  agents.push_back(gpu);
  if (host.handle != 0) agents.push_back(host);
  return check(hsa,
               hsa.hsa_amd_agents_allow_access(static_cast<uint32_t>(agents.size()), agents.data(),
                                               nullptr, info.agentBaseAddress),
               doing);
}

}  // namespace halyard::amdgpu
