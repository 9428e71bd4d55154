#include "drivers/amdgpu/agents.h"

#include <algorithm>
#include <string_view>

#include "hal/error.h"
#include "plugins/sdk/hsa_agent.h"
#include "plugins/sdk/numa_node.h"

namespace halyard::amdgpu {

namespace {

// HSA_AMD_AGENT_INFO_NUM_SDMA_ENG. The runtime of ROCm 6.1 knows it, that of 5.2 refuses it.
constexpr int kNumCopyEngines = 0xA10A;

struct Visitor {
  const Hsa& hsa;
  Agents agents;
  bool has_host = false;
  Status status;
};

uint64_t local_memory(const Hsa& hsa, hsa_agent_t agent, uint32_t* lds_bytes) {
  struct Context {
    const Hsa& hsa;
    uint64_t global = 0;
    uint32_t group = 0;
  } context{hsa};
  const auto visit = [](hsa_amd_memory_pool_t pool, void* data) {
    auto& c = *static_cast<Context*>(data);
    hsa_amd_segment_t segment = {};
    size_t size = 0;
    if (c.hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) !=
            HSA_STATUS_SUCCESS ||
        c.hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size) !=
            HSA_STATUS_SUCCESS) {
      return HSA_STATUS_SUCCESS;
    }
    if (segment == HSA_AMD_SEGMENT_GROUP) c.group = static_cast<uint32_t>(size);
    // Fine- and coarse-grained pools are views of the same memory.
    if (segment == HSA_AMD_SEGMENT_GLOBAL) c.global = std::max<uint64_t>(c.global, size);
    return HSA_STATUS_SUCCESS;
  };
  hsa.hsa_amd_agent_iterate_memory_pools(agent, visit, &context);
  *lds_bytes = context.group;
  return context.global;
}

Status describe_gpu(const Hsa& hsa, hsa_agent_t agent, GpuFacts* facts) {
  HALYARD_RETURN_IF_ERROR(describe_agent(hsa, agent, facts));
  facts->agent = agent;
  facts->processor = agent_text(hsa, agent, HSA_AGENT_INFO_NAME);
  facts->figures.memory_bytes = local_memory(hsa, agent, &facts->figures.lds_bytes);
  DeviceDetails& details = facts->details;
  details.numa_node = numa_node_of(facts->pci_address);
  uint32_t caches[4] = {};
  get_agent_info(hsa, agent, HSA_AGENT_INFO_CACHE_SIZE, &caches);
  details.l1_cache_bytes = caches[0];
  details.l2_cache_bytes = caches[1];
  details.l3_cache_bytes = caches[2];
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_CACHELINE_SIZE, &details.cache_line_bytes);
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, &details.simds_per_compute_unit);
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, &details.waves_per_compute_unit);
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, &details.shader_engines);
  get_agent_info(hsa, agent, kNumCopyEngines, &details.copy_engines);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_QUEUES_MAX, &details.max_queues);
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, &facts->memory_clock_mhz);
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_MEMORY_WIDTH, &facts->memory_bus_bits);
  hsa_amd_hdp_flush_t registers = {};
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_HDP_FLUSH, &registers);
  facts->window = HostWindow(registers.HDP_MEM_FLUSH_CNTL);
  return {};
}

hsa_status_t visit_agent(hsa_agent_t agent, void* data) {
  auto& visitor = *static_cast<Visitor*>(data);
  hsa_device_type_t type = {};
  if (!get_agent_info(visitor.hsa, agent, HSA_AGENT_INFO_DEVICE, &type)) return HSA_STATUS_SUCCESS;
  if (type == HSA_DEVICE_TYPE_CPU && !visitor.has_host) {
    visitor.agents.host = agent;
    visitor.has_host = true;
  }
  if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
  GpuFacts facts;
  visitor.status = describe_gpu(visitor.hsa, agent, &facts);
  if (!visitor.status.ok()) return HSA_STATUS_INFO_BREAK;
  visitor.agents.gpus.push_back(std::move(facts));
  return HSA_STATUS_SUCCESS;
}

}  // namespace

Result<Agents> list_agents(const Hsa& hsa) {
  Visitor visitor{hsa, {}, false, {}};
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_iterate_agents(&visit_agent, &visitor), "Listing the HSA agents"));
  HALYARD_RETURN_IF_ERROR(visitor.status);
  if (!visitor.has_host) {
    return error(StatusCode::kUnavailable, "The HSA runtime ({}) lists no agent for the host.",
                 hsa.path());
  }
  return std::move(visitor.agents);
}

}  // namespace halyard::amdgpu
