// HeapUsage: how much of a heap a device's allocations take, and what an allocation of a given size
// and alignment takes.
#pragma once

#include <atomic>
#include <cstdint>

#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

// An allocation, rounded to what the vendor's runtime gives.
struct RoundedSize {
  uint64_t slack = 0;  // bytes, so that an address within them is aligned
  uint64_t bytes = 0;  // with the slack, a multiple of the granule; less than the size on overflow
};
// The runtime aligns to `own_alignment` by itself.
constexpr RoundedSize round_up(uint64_t size, uint64_t alignment, uint64_t own_alignment,
                               uint64_t granule) {
  const uint64_t slack = alignment > own_alignment ? alignment - own_alignment : 0;
  return {slack, (size + slack + granule - 1) / granule * granule};
}

// The first address from `base` on that is a multiple of `alignment`; 0 is no alignment.
inline void* align_up(void* base, uint64_t alignment) {
  const uint64_t align = alignment == 0 ? 1 : alignment;
  const auto address = reinterpret_cast<uint64_t>(base);
  return reinterpret_cast<void*>((address + align - 1) / align * align);
}

// Any thread may use any method.
class HeapUsage {
 public:
  // Counts `rounded` bytes for an allocation of `size`. RESOURCE_EXHAUSTED names size, limit and
  // use, and counts nothing.
  Status take(const HeapInfo& heap, StringView device, uint64_t size, uint64_t rounded);
  // The allocation failed after all. How much is in use now.
  uint64_t untake(uint64_t rounded) { return live_bytes_.fetch_sub(rounded) - rounded; }
  // It has become a buffer, which is freed later.
  void add_buffer() { live_buffers_.fetch_add(1, std::memory_order_relaxed); }
  void free_buffer(uint64_t rounded) {
    live_bytes_.fetch_sub(rounded, std::memory_order_relaxed);
    live_buffers_.fetch_sub(1, std::memory_order_relaxed);
  }

  uint64_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }
  HeapStatistics statistics() const;

 private:
  std::atomic<uint64_t> live_bytes_{0};
  std::atomic<uint64_t> live_buffers_{0};
  std::atomic<uint64_t> peak_bytes_{0};
};

}  // namespace halyard
