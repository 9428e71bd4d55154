// MemoryPool: queue-ordered memory with a limit and a policy of its own, for Queue::alloca_buffer.
#pragma once

#include <cstdint>

#include "hal/buffer.h"
#include "hal/object.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class Device;

// For Device::create_pool.
struct PoolInfo {
  uint32_t struct_size = sizeof(PoolInfo);
  MemoryType type = MemoryType::kDevice;
  // Bytes that the pool takes from the heap at most; 0: as many as there are. Blocks are rounded up
  // to at most 9/8 of what a buffer asks for (or 4 KiB more).
  uint64_t limit_bytes = 0;
  // Unused bytes that stay in the pool until they are used again or trimmed; what is given back
  // above that goes to the heap. kKeepDefault: as the device's own pools do.
  uint64_t keep_bytes = kKeepDefault;

  static constexpr uint64_t kKeepDefault = UINT64_MAX;
};

// What Queue::alloca_buffer's pool of one memory type holds. Blocks that were given back stay in
// the pool until they are used again or trimmed.
struct PoolStatistics {
  uint32_t struct_size = sizeof(PoolStatistics);
  uint64_t reserved_bytes = 0;       // taken from the heap
  uint64_t used_bytes = 0;           // of these, in live buffers
  uint64_t peak_reserved_bytes = 0;  // the most there ever was
  uint64_t allocations = 0;          // buffers ever made
  uint64_t reuses = 0;               // of these, in memory that an earlier one gave back
};

// Any thread may use any method. The pool's buffers keep it alive; when the last of them and the
// last reference are gone, its memory goes back to the heap as soon as no work uses it. An
// allocation from the heap that finds no memory takes what any pool keeps unused.
class MemoryPool : public Object<HalyardMemoryPool> {
 public:
  Device& device() const noexcept;
  MemoryType type() const noexcept { return static_cast<MemoryType>(contract()->type); }
  // As it was created.
  PoolInfo info() const noexcept;

  Result<PoolStatistics> statistics() const;
  // Device::trim_pool of this pool.
  Status trim(uint64_t keep_bytes);

 protected:
  MemoryPool() noexcept = default;  // by the driver SDK
  ~MemoryPool() = default;
};

}  // namespace halyard
