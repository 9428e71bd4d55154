#include "plugins/sdk/wait_loop.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "plugins/sdk/clock.h"

namespace halyard {

PointState WaitLoop::wait_slowly(const Predicate& predicate, Deadline deadline, uint64_t spin_ns,
                                 bool on_device) {
  const uint64_t start = now_ns();
  for (uint32_t round = 0;; ++round) {
    const uint64_t now = now_ns();
    if (now >= deadline.monotonic_ns) return predicate.evaluate(predicate.context, &on_device);
    // What another thread has to do takes longer the more this one spins.
    if (now - start >= spin_ns || !on_device) break;
    for (int i = 0; i < 8; ++i) _mm_pause();
    // The partner may be a thread that needs this core (a virtual GPU's, a host function's).
    if (round >= spin_.rounds) sched_yield();
    const PointState state = predicate.evaluate(predicate.context, &on_device);
    if (state != PointState::kPending) return state;
  }
  sleepers_.fetch_add(1);
  sleeps();
  const PointState state = sleep(predicate, deadline, start);
  woke();
  sleepers_.fetch_sub(1);
  return state;
}

PointState WaitLoop::sleep(const Predicate& predicate, Deadline deadline, uint64_t start_ns) {
  // Long waits go in pieces that the clock's type can hold.
  constexpr uint64_t kLongest = 3'600'000'000'000;
  std::unique_lock lock(mutex_);
  for (;;) {
    bool on_device = true;
    const PointState state = predicate.evaluate(predicate.context, &on_device);
    const uint64_t now = now_ns();
    if (state != PointState::kPending || now >= deadline.monotonic_ns) return state;
    const uint64_t most = std::min(kLongest, sleep_ns(now - start_ns, on_device));
    changed_.wait_for(lock, std::chrono::nanoseconds(std::min(most, deadline.monotonic_ns - now)));
  }
}

void WaitLoop::wake() {
  // With the lock, so that no thread is between looking and sleeping.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace halyard
