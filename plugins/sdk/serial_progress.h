// SerialProgress: what threads of the process wait with that wait for work of the serial classes,
// for their semaphores or for memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugins/sdk/wait_loop.h"

namespace halyard {

// Any thread may use any method.
class SerialProgress final : public WaitLoop {
 public:
  // Never destroyed: devices may outlive static objects.
  static SerialProgress& instance() {
    static auto* const progress = new SerialProgress;
    return *progress;
  }
  // Something has changed that somebody may wait for.
  void notify() {
    changes_.fetch_add(1);
    if (any_sleeps()) wake();
  }
  uint64_t changes() const { return changes_.load(); }
  // Until there are more changes than `seen`, or the deadline is past.
  void wait(uint64_t seen, Deadline deadline) {
    wait_until([&] { return changes() != seen ? PointState::kReached : PointState::kPending; },
               deadline);
  }

 private:
  // A queue's thread sees what the device has done, and needs the processor for that: threads sleep
  // at once, unless DeviceOptions::wait_spin_ns has another say.
  SerialProgress() : WaitLoop({.looks = 1, .rounds = 8, .ns = 0}) {}
  uint64_t sleep_ns(uint64_t, bool) override { return UINT64_MAX; }

  std::atomic<uint64_t> changes_{0};
};

}  // namespace halyard
