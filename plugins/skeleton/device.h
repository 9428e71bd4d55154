// The device: a GPU agent of the runtime, and where it has its memory.
#pragma once

#include <memory>
#include <vector>

#include "hsa.h"
#include "plugins/sdk/serial_device.h"

namespace halyard::skeleton {

inline constexpr const char* kName = "skeleton";

struct GpuFacts : DeviceFacts {
  hsa_agent_t agent = {};
};

// A memory pool of the runtime.
struct Pool {
  hsa_amd_memory_pool_t handle = {};
  uint32_t flags = 0;
  SerialHeapInfo info;
};
// Those of an agent that can be allocated from. `lds_bytes` may be null.
std::vector<Pool> list_pools(const Hsa& hsa, hsa_agent_t agent, uint32_t* lds_bytes);

class DeviceImpl final : public SerialDevice {
 public:
  static Result<Ref<Device>> create(Driver& driver, Hsa& hsa, hsa_agent_t host,
                                    const GpuFacts& facts, const DeviceOptions& options);

  const Hsa& hsa() const { return hsa_; }
  hsa_agent_t agent() const { return agent_; }
  // That has the memory of this type.
  hsa_agent_t agent_of(MemoryType type) const {
    return type == MemoryType::kDevice ? agent_ : host_;
  }

 private:
  DeviceImpl(Driver& driver, const Hsa& hsa, hsa_agent_t host, const GpuFacts& facts,
             const DeviceOptions& options)
      : SerialDevice(driver, kName, facts, options), hsa_(hsa), agent_(facts.agent), host_(host) {}
  Status allocate_memory(MemoryType type, uint64_t size, void** base) override;
  void free_memory(void* base) override { hsa_.hsa_amd_memory_pool_free(base); }
  Result<std::unique_ptr<SerialEngine>> make_engine(SerialCore& core) override;
  Ref<SerialExecutable> make_executable(CodeObject object) override;
  ClockSource clock_source() const override;
  Status find_memory(void* pointer, SerialAllocation* allocation) override;
  Status pin_memory(void* host, uint64_t size, void** device) override;
  void unpin_memory(void* host) override { hsa_.hsa_amd_memory_unlock(host); }
  Status export_memory(void* base, IpcHandle* handle) override;
  Status attach_memory(const IpcHandle& handle, void** base) override;
  void detach_memory(void* base) override { hsa_.hsa_amd_ipc_memory_detach(base); }

  const Hsa& hsa_;
  const hsa_agent_t agent_;
  const hsa_agent_t host_;
  hsa_amd_memory_pool_t pools_[3] = {};  // by type
};

}  // namespace halyard::skeleton
