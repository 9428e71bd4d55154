// MemoryPool: queue-ordered memory with its own limit and policy, for Queue::alloca_buffer.
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
  // The most bytes that the pool reserves; 0: no limit. Blocks are rounded up to at most 9/8 of a
  // buffer's size (or 4 KiB more).
  uint64_t limit_bytes = 0;
  // The most unused bytes that the pool keeps for reuse until it is trimmed. It frees deallocated
  // memory above that. kKeepDefault: as the device's own pools.
  uint64_t keep_bytes = kKeepDefault;

  static constexpr uint64_t kKeepDefault = UINT64_MAX;
};

// The contents of the device's pool of one memory type. Deallocated blocks stay in the pool until
// they are reused or trimmed.
struct PoolStatistics {
  uint32_t struct_size = sizeof(PoolStatistics);
  uint64_t reserved_bytes = 0;       // allocated from the heap
  uint64_t used_bytes = 0;           // of these, in live buffers
  uint64_t peak_reserved_bytes = 0;  // the maximum so far
  uint64_t allocations = 0;          // buffers so far
  uint64_t reuses = 0;               // of these, in memory of an earlier buffer
};

// Any thread may use any method. Buffers keep their pool alive. When the last buffer and the last
// reference are gone, the pool frees its memory as soon as no work uses it. An allocation that
// finds the heap full takes the unused memory of any pool.
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
