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
  QueuePool& pool(MemoryType type) const { return *pools_[static_cast<size_t>(type)]; }
  // The queue's work with that index.
  static PoolPoint point(const QueueCore& core, uint64_t index);
  PoolStatistics statistics(MemoryType type) const;

 private:
  class Source;
  static constexpr size_t kTypes = 3;

  std::array<std::unique_ptr<Source>, kTypes> sources_;
  std::array<std::unique_ptr<QueuePool>, kTypes> pools_;
};

}  // namespace halyard::amdgpu
