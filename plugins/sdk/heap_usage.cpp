#include "plugins/sdk/heap_usage.h"

#include "hal/error.h"

namespace halyard {

Status HeapUsage::take(const HeapInfo& heap, StringView device, uint64_t size, uint64_t rounded) {
  uint64_t before = live_bytes();
  if (size > heap.max_allocation || rounded < size) {
    return error(StatusCode::kResourceExhausted,
                 "The allocation of {} bytes of {} memory exceeds the largest that {} makes ({} "
                 "bytes); {} of {} bytes are in use.",
                 size, to_string(heap.type), device, heap.max_allocation, before, heap.size);
  }
  do {
    if (rounded > heap.size || before > heap.size - rounded) {
      return error(StatusCode::kResourceExhausted,
                   "The allocation of {} bytes of {} memory does not fit on {}: of {} bytes {} are "
                   "in use.",
                   size, to_string(heap.type), device, heap.size, before);
    }
  } while (!live_bytes_.compare_exchange_weak(before, before + rounded));
  uint64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (peak < before + rounded && !peak_bytes_.compare_exchange_weak(peak, before + rounded)) {
  }
  return {};
}

HeapStatistics HeapUsage::statistics() const {
  HeapStatistics statistics;
  statistics.live_bytes = live_bytes();
  statistics.live_buffers = live_buffers_.load(std::memory_order_relaxed);
  statistics.peak_bytes = peak_bytes_.load(std::memory_order_relaxed);
  return statistics;
}

}  // namespace halyard
