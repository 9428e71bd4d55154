// Pools: a device's queue-ordered memory, a group of pools for each type (plugins/sdk/pool.h).
#pragma once

#include <array>
#include <memory>

#include "drivers/amdgpu/queue_core.h"
#include "hal/buffer.h"
#include "plugins/sdk/pool_group.h"

namespace halyard::amdgpu {

// Any thread may use any method.
class Pools {
 public:
  explicit Pools(DeviceImpl& device);
  // Nothing is in flight any more.
  ~Pools();

  PoolGroup& group(MemoryType type) const { return *groups_[static_cast<size_t>(type)]; }
  // A queue, as its blocks' PoolPoints name it: the QueueCore's address.
  static uint64_t id_of(const QueueCore& core) { return reinterpret_cast<uint64_t>(&core); }
  // The queue's work with that index.
  static PoolPoint point(const QueueCore& core, uint64_t index) { return {id_of(core), index}; }

 private:
  class Source;
  static constexpr size_t kTypes = 3;

  std::array<std::unique_ptr<Source>, kTypes> sources_;
  std::array<std::unique_ptr<PoolGroup>, kTypes> groups_;
};

}  // namespace halyard::amdgpu
