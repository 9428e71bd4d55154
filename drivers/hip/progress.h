// Progress: wakes what waits for a semaphore, a stream or room when it may go on.
//
// Host threads that wait look for themselves what the device has done, first all the time and then
// ever less often; what other host threads do (a signal, a failure, a submission) wakes them at
// once. The thread that made the progress also looks at the queues that hold operations back. Only
// if the device may make it, without a notification, a thread polls them (poll_holders).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "drivers/common/clock.h"
#include "drivers/hip/stream.h"
#include "hal/types.h"

namespace halyard::hip {

class DeviceImpl;
class QueueCore;

class Progress {
 public:
  // One for the process, as semaphores may be shared between devices.
  static Progress& instance();

  // Something that a waiter or a held-back operation looks at has changed. Without any lock of the
  // driver's. Cheap when nothing waits.
  void changed() {
    // An addition of nothing, so that it and the addition of a thread that starts waiting have an
    // order.
    if (waiters_.fetch_add(0) != 0) wake();
    if (holders_count_.fetch_add(0) != 0) advance();
  }

  // Calls `evaluate(&on_device)` until it says something else than kPending, or the deadline is
  // past. `on_device`: whether the device may make the progress that is waited for. `spin_ns`: how
  // long it is called all the time (DeviceOptions::wait_spin_ns).
  template <typename Evaluate>
  PointState wait_until(Evaluate&& evaluate, Deadline deadline,
                        std::optional<uint64_t> spin_ns = {}) {
    using Callable = std::remove_reference_t<Evaluate>;
    const Predicate predicate = {[](void* context, bool* on_device) {
                                   return (*static_cast<Callable*>(context))(on_device);
                                 },
                                 const_cast<void*>(static_cast<const void*>(&evaluate))};
    return wait(predicate, deadline, spin_ns.value_or(kSpinNs));
  }

  // The queue holds operations back, from now until it is removed. Under the stream's lock.
  void add_holder(const std::shared_ptr<QueueCore>& core);
  void remove_holder(const QueueCore& core);
  // Whether a queue of the device holds operations back.
  bool holds(const DeviceImpl& device);

 private:
  // A kernel that does next to nothing is back after some microseconds; a thread that is put to
  // sleep takes longer than that to wake.
  static constexpr uint64_t kSpinNs = 100'000;

  struct Predicate {
    PointState (*evaluate)(void* context, bool* on_device);
    void* context;
  };

  PointState wait(const Predicate& predicate, Deadline deadline, uint64_t spin_ns);
  PointState park(const Predicate& predicate, Deadline deadline, uint64_t start);
  void wake();
  void advance();
  void poll_holders();

  std::atomic<uint32_t> waiters_{0};
  std::mutex mutex_;
  std::condition_variable parked_;

  std::atomic<uint32_t> holders_count_{0};
  std::atomic<bool> advancing_{false};
  std::atomic<uint64_t> requests_{0};
  std::atomic<bool> await_streams_{false};  // a holder waits for a stream, as last seen
  std::atomic<bool> polling_{false};        // a thread is in poll_holders
  std::mutex holders_mutex_;
  std::vector<std::shared_ptr<QueueCore>> holders_;  // under holders_mutex_
};

}  // namespace halyard::hip
