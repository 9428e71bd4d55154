// Progress: wakes what waits for a semaphore, a stream or room when it may go on.
//
// Host threads that wait (WaitLoop) look for themselves what the device has done, first all the
// time and then ever less often; what other host threads do (a signal, a failure, a submission)
// wakes them at once. The thread that made the progress also looks at the queues that hold
// operations back. Only if the device may make it, without a notification, a thread polls them
// (poll_holders).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/hip/stream.h"
#include "plugins/sdk/wait_loop.h"

namespace halyard::hip {

class DeviceImpl;
class QueueCore;

class Progress final : public WaitLoop {
 public:
  // One for the process, as semaphores may be shared between devices.
  static Progress& instance();

  // Something that a waiter or a held-back operation looks at has changed. Without any lock of the
  // driver's. Cheap when nothing waits.
  void changed() {
    if (any_sleeps()) wake();
    if (holders_count_.fetch_add(0) != 0) advance();
  }
  // The queue holds operations back, from now until it is removed. Under the stream's lock.
  void add_holder(const std::shared_ptr<QueueCore>& core);
  void remove_holder(const QueueCore& core);
  // Whether a queue of the device holds operations back.
  bool holds(const DeviceImpl& device);

 private:
  Progress() : WaitLoop({.looks = 64, .rounds = 32, .ns = 200'000}) {}
  uint64_t sleep_ns(uint64_t waited_ns, bool on_device) override;
  void advance();
  void poll_holders();

  std::atomic<uint32_t> holders_count_{0};
  std::atomic<bool> advancing_{false};
  std::atomic<uint64_t> requests_{0};
  std::atomic<bool> await_streams_{false};  // a holder waits for a stream, as last seen
  std::atomic<bool> polling_{false};        // a thread is in poll_holders
  std::mutex holders_mutex_;
  std::vector<std::shared_ptr<QueueCore>> holders_;  // under holders_mutex_
};

}  // namespace halyard::hip
