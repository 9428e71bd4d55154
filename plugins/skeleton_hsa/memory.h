// The device's memory: its heaps, one of the GPU and one of the host, and the buffers in them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "drivers/common/driver_device.h"
#include "drivers/common/heap_usage.h"
#include "drivers/common/host_maps.h"
#include "drivers/common/pool_lease.h"
#include "drivers/common/retired.h"
#include "hsa.h"
#include "progress.h"

namespace halyard::skeleton {

class DeviceImpl;
class Memory;

// A memory pool of the runtime.
struct Pool {
  hsa_amd_memory_pool_t handle = {};
  uint32_t flags = 0;
  uint64_t size = 0;  // bytes, as the rest
  uint64_t max_allocation = 0;
  uint64_t granule = 4096;
  uint64_t alignment = 4096;
};
// Those of an agent that can be allocated from. `lds_bytes` may be null.
std::vector<Pool> list_pools(const Hsa& hsa, hsa_agent_t agent, uint32_t* lds_bytes);

// A buffer's memory, as operations keep it.
struct Block {
  std::function<void()> release;
};

// Any thread may use any method.
class Heap final : public PoolSource {
 public:
  Heap(Memory& memory, DeviceImpl& device, MemoryType type, const Pool& pool);
  const Pool& pool() const { return pool_; }
  HeapUsage& usage() { return usage_; }
  PoolGroup& pools() { return pools_; }
  Status raw_allocate(uint64_t size, void** base);

  Status allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                  PoolBlock* block) override;
  void free(const PoolBlock& block) override;
  PointState wait_until(const std::function<PointState()>& evaluate, Deadline deadline) override {
    return Progress::instance().wait_until(evaluate, deadline);
  }
  // A point's queue is the address of a Core.
  bool reached(const PoolPoint& point) override;
  bool comes(const PoolPoint& point) override;

 private:
  Memory& memory_;
  DeviceImpl& device_;
  const MemoryType type_;
  const Pool pool_;
  HeapUsage usage_;
  PoolGroup pools_;
};

class Memory final : public DeviceHeaps {
 public:
  explicit Memory(DeviceImpl& device) : device_(device) {}
  Status open();
  // No work uses anything any more.
  void close();
  Heap& heap(MemoryType type) const { return *heaps_of_[static_cast<size_t>(type)]; }
  HeapInfo info(MemoryType type) const override;
  HeapStatistics statistics(MemoryType type) const override {
    return heap(type).usage().statistics();
  }

  // In use while an operation keeps the block.
  struct Use {
    std::shared_ptr<Block> block;
    bool in_use() const { return block.use_count() > 1; }
  };
  RetiredList<Use>& retired() { return retired_; }
  // A buffer's owner has let go of it.
  void retire(std::shared_ptr<Block> block, MemoryType type, uint64_t bytes);

 private:
  DeviceImpl& device_;
  std::unique_ptr<Heap> heaps_of_[3];
  RetiredList<Use> retired_;
};

class BufferImpl final : public driver::BufferBase {
 public:
  static Result<Ref<Buffer>> allocate(DeviceImpl& device, uint64_t size,
                                      const BufferOptions& options);
  // Work of `queue` uses it from now on, and first waits for `*after` if that has a queue.
  static Result<Ref<Buffer>> from_pool(DeviceImpl& device, uint64_t queue, uint64_t size,
                                       const PoolOptions& options, PoolPoint* after);

  std::byte* at(uint64_t offset) const {
    return reinterpret_cast<std::byte*>(device_address()) + offset;
  }
  const std::shared_ptr<Block>& block() const { return parent_ ? of(*parent_).block_ : block_; }
  PoolLease& lease() { return lease_; }
  static bool may_be_given_back(Buffer& buffer) {
    BufferImpl& own = of(buffer);
    return own.parent_ ? may_be_given_back(*own.parent_) : own.lease_.is_of_pool();
  }
  static BufferImpl& of(Buffer& buffer) { return static_cast<BufferImpl&>(buffer); }

 private:
  BufferImpl(DeviceImpl& device, MemoryType type, uint64_t size, uint64_t address);
  ~BufferImpl() = default;
  void destroy() noexcept override;
  Status do_map(uint64_t offset, uint64_t length, MapAccess access, void** pointer) override;
  Status do_unmap(void* pointer) override { return maps_.unmap(pointer); }
  // The host's memory is coherent.
  Status do_flush(uint64_t, uint64_t) override { return {}; }
  Status do_invalidate(uint64_t, uint64_t) override { return {}; }
  Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) override;

  DeviceImpl& device_;
  const Ref<Device> keep_alive_;
  Ref<Buffer> parent_;  // of a view
  std::shared_ptr<Block> block_;
  uint64_t taken_ = 0;  // bytes, that go back to the heap
  PoolLease lease_;
  HostMaps maps_;
};

}  // namespace halyard::skeleton
