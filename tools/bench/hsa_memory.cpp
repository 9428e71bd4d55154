#include "tools/bench/hsa_memory.h"

namespace halyard::bench {

HsaMemory::HsaMemory(const Hsa& hsa, const HsaAgents& agents) : hsa_(hsa), agents_(agents) {
  host_pool_ = find_pool(agents.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
  pool_ = find_pool(agents.gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  hsa.check(hsa.hsa_signal_create(1, 0, nullptr, &done_), "hsa_signal_create");
  host_ = allocate_host(kBlockBytes);
  device_ = allocate_device(kBlockBytes);
  other_ = allocate_device(kBlockBytes);
  if (!agents.peers.empty()) peer_ = allocate_on(agents.peers.front(), kBlockBytes);
}

HsaMemory::~HsaMemory() {
  for (void* const block : blocks_) hsa_.hsa_amd_memory_pool_free(block);
  hsa_.hsa_signal_destroy(done_);
}

hsa_amd_memory_pool_t HsaMemory::find_pool(hsa_agent_t agent, uint32_t wanted_flag) const {
  struct Search {
    const Hsa& hsa;
    uint32_t wanted;
    hsa_amd_memory_pool_t found = {};
  } search{hsa_, wanted_flag};
  const auto visit = [](hsa_amd_memory_pool_t pool, void* data) {
    auto& s = *static_cast<Search*>(data);
    hsa_amd_segment_t segment = {};
    uint32_t flags = 0;
    s.hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    s.hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if ((flags & s.wanted) == 0) return HSA_STATUS_SUCCESS;
    s.found = pool;
    return HSA_STATUS_INFO_BREAK;
  };
  hsa_.check(hsa_.hsa_amd_agent_iterate_memory_pools(agent, visit, &search),
             "hsa_amd_agent_iterate_memory_pools");
  if (search.found.handle == 0)
    throw Failure("The HSA runtime has no memory pool to allocate from.");
  return search.found;
}

void* HsaMemory::allocate(hsa_amd_memory_pool_t pool, uint64_t bytes) {
  void* address = nullptr;
  hsa_.check(hsa_.hsa_amd_memory_pool_allocate(pool, bytes, 0, &address),
             "hsa_amd_memory_pool_allocate");
  blocks_.push_back(address);
  std::vector<hsa_agent_t> gpus = agents_.peers;
  gpus.push_back(agents_.gpu);
  hsa_.check(hsa_.hsa_amd_agents_allow_access(static_cast<uint32_t>(gpus.size()), gpus.data(),
                                              nullptr, address),
             "hsa_amd_agents_allow_access");
  return address;
}

void* HsaMemory::allocate_host(uint64_t bytes) {
  return allocate(host_pool_, bytes);
}
void* HsaMemory::allocate_device(uint64_t bytes) {
  return allocate(pool_, bytes);
}
void* HsaMemory::allocate_on(hsa_agent_t gpu, uint64_t bytes) {
  return allocate(find_pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED), bytes);
}

HsaMemory::Place HsaMemory::place(Block block) const {
  switch (block) {
    case Block::kHost:
      return {host_, agents_.cpu};
    case Block::kDevice:
      return {device_, agents_.gpu};
    case Block::kOther:
      return {other_, agents_.gpu};
    default:
      return {peer_, agents_.peers.front()};
  }
}

void HsaMemory::copy(Block from, Block to, uint64_t bytes) {
  const Place source = place(from);
  const Place target = place(to);
  hsa_.hsa_signal_store_relaxed(done_, 1);
  hsa_.check(hsa_.hsa_amd_memory_async_copy(target.address, target.agent, source.address,
                                            source.agent, bytes, 0, nullptr, done_),
             "hsa_amd_memory_async_copy");
  hsa_.hsa_signal_wait_scacquire(done_, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                 HSA_WAIT_STATE_BLOCKED);
}

void HsaMemory::fill(uint32_t pattern, uint64_t bytes) {
  hsa_.check(hsa_.hsa_amd_memory_fill(device_, pattern, bytes / 4), "hsa_amd_memory_fill");
}

void HsaMemory::allocate_and_free(uint64_t bytes) {
  void* address = nullptr;
  hsa_.check(hsa_.hsa_amd_memory_pool_allocate(pool_, bytes, 0, &address),
             "hsa_amd_memory_pool_allocate");
  hsa_.check(hsa_.hsa_amd_memory_pool_free(address), "hsa_amd_memory_pool_free");
}

}  // namespace halyard::bench
