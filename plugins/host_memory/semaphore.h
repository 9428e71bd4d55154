// Semaphore of the host_memory driver, and the one lock that all its timelines share.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "hal/contract/objects.h"
#include "hal/semaphore.h"

namespace host_memory {

class HostMemoryDevice;

// One lock and one condition for every semaphore and queue: simple, and a wait for several
// semaphores needs nothing more. A real driver has its hardware's signals instead.
struct Timelines {
  std::mutex mutex;
  std::condition_variable changed;

  // Waits until `done` is true; false if the deadline comes first. Called with the lock held.
  template <typename Done>
  bool wait(std::unique_lock<std::mutex>& lock, halyard::Deadline deadline, Done done) {
    if (deadline.is_infinite()) {
      changed.wait(lock, done);
      return true;
    }
    // steady_clock is CLOCK_MONOTONIC; a deadline that does not fit its type is as good as never.
    constexpr uint64_t kLast = INT64_MAX;
    const std::chrono::steady_clock::time_point until(
        std::chrono::nanoseconds(deadline.monotonic_ns > kLast ? kLast : deadline.monotonic_ns));
    return changed.wait_until(lock, until, done);
  }
};
// Never destroyed: other threads may still wait when the program ends.
Timelines& timelines();

class HostMemorySemaphore final : public halyard::driver::SemaphoreBase {
 public:
  HostMemorySemaphore(HostMemoryDevice& device, uint64_t initial_value);

  // With the lock of timelines() held: whether a wait for `value` is over, and how it ends.
  bool settled(uint64_t value, halyard::Status* outcome) const;
  // From a queue, when an operation is done. A value that is not above the current one does
  // nothing.
  void advance(uint64_t value);

 private:
  ~HostMemorySemaphore() = default;
  void destroy() noexcept override;
  halyard::Status do_query(uint64_t* value) const override;
  halyard::Status do_signal(uint64_t value) override;
  halyard::Status do_wait(uint64_t value, halyard::Deadline deadline) const override;
  void do_fail(const halyard::Status& cause) override;

  halyard::Ref<halyard::Device> owner_;
  // Under the lock of timelines().
  uint64_t value_;
  halyard::Status failure_;
};

}  // namespace host_memory
