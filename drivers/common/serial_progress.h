// SerialProgress: what threads of the process sleep on that wait for work of the serial classes,
// for their semaphores or for memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "drivers/common/point_state.h"
#include "hal/types.h"

namespace halyard {

// Any thread may use any method.
class SerialProgress {
 public:
  // Never destroyed: devices may outlive static objects.
  static SerialProgress& instance() {
    static auto* const progress = new SerialProgress;
    return *progress;
  }
  // Something has changed that somebody may wait for.
  void notify() {
    {
      const std::lock_guard lock(mutex_);
      ++changes_;
    }
    changed_.notify_all();
  }
  uint64_t changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  // Until there are more changes than `seen`. False if the deadline comes before.
  bool wait(uint64_t seen, Deadline deadline) {
    std::unique_lock lock(mutex_);
    const auto more = [&] { return changes_ != seen; };
    if (deadline.is_infinite()) return changed_.wait(lock, more), true;
    const std::chrono::steady_clock::time_point end(
        std::chrono::nanoseconds(static_cast<int64_t>(deadline.monotonic_ns)));
    return changed_.wait_until(lock, end, more);
  }
  // Until `evaluate` says something else than kPending, or the deadline is past.
  template <typename Evaluate>
  PointState wait_until(Evaluate&& evaluate, Deadline deadline) {
    while (true) {
      const uint64_t seen = changes();
      const PointState state = evaluate();
      if (state != PointState::kPending || !wait(seen, deadline)) return state;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;  // under mutex_
};

}  // namespace halyard
