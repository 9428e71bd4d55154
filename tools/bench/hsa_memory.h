// Memory of the HSA runtime's, for the loops on it.
#pragma once

#include <vector>

#include "tools/bench/hsa_functions.h"
#include "tools/bench/memory_loops.h"

namespace halyard::bench {

struct HsaAgents {
  hsa_agent_t cpu = {};
  hsa_agent_t gpu = {};
  std::vector<hsa_agent_t> peers;  // other GPUs
};

class HsaMemory final : public MemoryApi {
 public:
  HsaMemory(const Hsa& hsa, const HsaAgents& agents);
  ~HsaMemory() override;
  HsaMemory(const HsaMemory&) = delete;
  HsaMemory& operator=(const HsaMemory&) = delete;

  bool has_peer() const override { return peer_ != nullptr; }
  void* host() override { return host_; }
  void copy(Block from, Block to, uint64_t bytes) override;
  void fill(uint32_t pattern, uint64_t bytes) override;
  void allocate_and_free(uint64_t bytes) override;

  // Memory that lives as long as this, and that all agents use; of the host (for arguments), or the
  // GPU's.
  void* allocate_host(uint64_t bytes);
  void* allocate_device(uint64_t bytes);
  // The same on the agent.
  void* allocate_on(hsa_agent_t gpu, uint64_t bytes);

 private:
  struct Place {
    void* address;
    hsa_agent_t agent;
  };
  Place place(Block block) const;
  void* allocate(hsa_amd_memory_pool_t pool, uint64_t bytes);
  hsa_amd_memory_pool_t find_pool(hsa_agent_t agent, uint32_t wanted_flag) const;

  const Hsa& hsa_;
  const HsaAgents agents_;
  hsa_amd_memory_pool_t host_pool_ = {};
  hsa_amd_memory_pool_t pool_ = {};
  hsa_signal_t done_ = {};
  std::vector<void*> blocks_;
  void* host_ = nullptr;
  void* device_ = nullptr;
  void* other_ = nullptr;
  void* peer_ = nullptr;
};

}  // namespace halyard::bench
