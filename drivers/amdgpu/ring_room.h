// RingRoom: which slots of a queue's ring can be written: those whose last packet the packet
// processor has taken out, and is done (room_limit in ring.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "hal/status.h"

namespace halyard::amdgpu {

class QueueCore;

// Any thread may use any method.
class RingRoom {
 public:
  RingRoom(QueueCore& core, uint32_t capacity) : core_(core), capacity_(capacity), end_(capacity) {}

  // OK when the slots from `index` on can be written (at most as many as there are). Spins, then
  // yields, then sleeps; fails only if the queue is lost, and then it takes nothing any more.
  Status wait(uint64_t index, uint32_t packets) {
    if (index + packets <= end_.load(std::memory_order_acquire)) [[likely]]
      return {};
    return wait_slowly(index, packets);
  }
  // Whether wait() would return at once, for a reservation of `packets` made now.
  bool has(uint32_t packets);
  // … for one that was made.
  bool has_at(uint64_t index, uint32_t packets);
  // Whether the packet with this index is known to be done, without asking the device.
  bool known_done(uint64_t index) const {
    return index + capacity_ < end_.load(std::memory_order_acquire);
  }

 private:
  Status wait_slowly(uint64_t index, uint32_t packets);
  uint64_t refresh();

  QueueCore& core_;
  const uint64_t capacity_;
  // The end of the indices that are known to be writable; only grows.
  alignas(64) std::atomic<uint64_t> end_;
};

}  // namespace halyard::amdgpu
