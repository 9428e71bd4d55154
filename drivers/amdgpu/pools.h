// Pools: a device's queue-ordered memory, one pool for each type (drivers/common/pool.h).
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "drivers/amdgpu/queue_core.h"
#include "drivers/common/pool.h"
#include "hal/buffer.h"
#include "hal/device.h"

namespace halyard::amdgpu {

// Any thread may use any method.
class Pools {
 public:
  explicit Pools(DeviceImpl& device);
  // Nothing is in flight any more.
  ~Pools();

  // A block for work of `core` that is submitted from now on, and waits for `*after` if that has a
  // queue, which is a QueueCore's address.
  Status acquire(MemoryType type, uint64_t size, uint64_t alignment, const QueueCore& core,
                 PoolBlock* block, PoolPoint* after);
  // As QueuePool's.
  uint64_t release(MemoryType type, const PoolBlock& block, const QueueCore& core);
  void settle(MemoryType type, uint64_t ticket, uint64_t index);
  void release_unused(MemoryType type, const PoolBlock& block);
  QueuePool::Spare spare(MemoryType type);
  void trim(MemoryType type, uint64_t keep_bytes);
  PoolStatistics statistics(MemoryType type) const;

 private:
  class Source;
  static constexpr size_t kTypes = 3;

  QueuePool* pool(MemoryType type) const;

  std::array<std::unique_ptr<Source>, kTypes> sources_;
  std::array<std::unique_ptr<QueuePool>, kTypes> pools_;
};

}  // namespace halyard::amdgpu
