// Links from a device to the other GPUs of the runtime.
#include <algorithm>

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

namespace {

// A device's coarse-grained pool stands for its end of a link.
bool local_pool(const Hsa& hsa, hsa_agent_t agent, hsa_amd_memory_pool_t* pool) {
  struct Context {
    const Hsa& hsa;
    hsa_amd_memory_pool_t pool = {};
  } context{hsa};
  const auto visit = [](hsa_amd_memory_pool_t handle, void* data) {
    auto& c = *static_cast<Context*>(data);
    uint32_t flags = 0;
    if (c.hsa.hsa_amd_memory_pool_get_info(handle, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) !=
            HSA_STATUS_SUCCESS ||
        (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) == 0) {
      return HSA_STATUS_SUCCESS;
    }
    c.pool = handle;
    return HSA_STATUS_INFO_BREAK;
  };
  hsa.hsa_amd_agent_iterate_memory_pools(agent, visit, &context);
  *pool = context.pool;
  return context.pool.handle != 0;
}

LinkInfo::Kind kind_of(const hsa_amd_memory_pool_link_info_t& hop) {
  switch (hop.link_type) {
    case HSA_AMD_LINK_INFO_TYPE_PCIE:
      return LinkInfo::Kind::kPcie;
    case HSA_AMD_LINK_INFO_TYPE_XGMI:
      return LinkInfo::Kind::kXgmi;
    default:
      return LinkInfo::Kind::kOther;
  }
}

bool describe_link(const Hsa& hsa, hsa_agent_t from, hsa_agent_t to, LinkInfo* info) {
  hsa_amd_memory_pool_t pool = {};
  if (!local_pool(hsa, to, &pool)) return false;
  uint32_t hops = 0;
  if (hsa.hsa_amd_agent_memory_pool_get_info(
          from, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops) != HSA_STATUS_SUCCESS ||
      hops == 0) {
    return false;
  }
  std::vector<hsa_amd_memory_pool_link_info_t> path(hops);
  if (hsa.hsa_amd_agent_memory_pool_get_info(from, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO,
                                             path.data()) != HSA_STATUS_SUCCESS) {
    return false;
  }
  info->hops = hops;
  info->coherent = true;
  info->min_bandwidth_mbps = UINT32_MAX;
  info->max_bandwidth_mbps = UINT32_MAX;
  info->kind = kind_of(path.front());
  for (const hsa_amd_memory_pool_link_info_t& hop : path) {
    if (kind_of(hop) != info->kind) info->kind = LinkInfo::Kind::kOther;
    info->coherent &= hop.coherent_support;
    info->min_bandwidth_mbps = std::min(info->min_bandwidth_mbps, hop.min_bandwidth);
    info->max_bandwidth_mbps = std::min(info->max_bandwidth_mbps, hop.max_bandwidth);
  }
  return true;
}

}  // namespace

std::vector<LinkInfo> DeviceImpl::list_links() const {
  std::vector<LinkInfo> links;
  const Result<Agents> agents = list_agents(hsa_);
  if (!agents.ok()) return links;
  for (size_t i = 0; i < agents.value().gpus.size(); ++i) {
    const hsa_agent_t peer = agents.value().gpus[i].agent;
    if (peer.handle == agent().handle) continue;
    LinkInfo info;
    info.peer_ordinal = static_cast<uint32_t>(i);
    if (describe_link(hsa_, agent(), peer, &info)) links.push_back(info);
  }
  return links;
}

}  // namespace halyard::amdgpu
