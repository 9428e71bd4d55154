#include "drivers/amdgpu/ring_room.h"

#include <immintrin.h>
#include <sched.h>
#include <time.h>

#include "drivers/amdgpu/queue_core.h"
#include "drivers/amdgpu/ring.h"
#include "drivers/amdgpu/transfers.h"

namespace halyard::amdgpu {

uint64_t RingRoom::refresh() {
  const uint64_t limit = room_limit(core_.epoch().completed(), core_.ring().taken(), capacity_);
  uint64_t known = end_.load(std::memory_order_relaxed);
  while (known < limit && !end_.compare_exchange_weak(known, limit, std::memory_order_acq_rel)) {
  }
  return limit;
}

bool RingRoom::has(uint32_t packets) {
  return has_at(core_.ring().reserved(), packets);
}

bool RingRoom::has_at(uint64_t index, uint32_t packets) {
  const uint64_t end = index + packets;
  return end <= end_.load(std::memory_order_acquire) || end <= refresh();
}

Status RingRoom::wait_slowly(uint64_t index, uint32_t packets) {
  constexpr uint32_t kSpins = 32;
  constexpr uint32_t kYields = 256;
  for (uint32_t attempt = 0;; ++attempt) {
    if (core_.loss().lost()) return core_.loss().cause();
    if (index + packets <= refresh()) return {};
    if (attempt < kSpins) {
      // Some pauses between looks: each takes the signals' cache lines from the device.
      for (int i = 0; i < 8; ++i) _mm_pause();
    } else if (attempt < kSpins + kYields) {
      sched_yield();
    } else {
      // A kernel that runs for long: leave the core to other threads.
      const timespec pause = {0, 50'000};
      nanosleep(&pause, nullptr);
      core_.transfers().advance();
    }
  }
}

}  // namespace halyard::amdgpu
