// HeldQueue: the operations of one queue that cannot go into its ring yet, in their order. The
// watcher's thread submits them as soon as what they wait for is reached.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "drivers/amdgpu/operation.h"
#include "drivers/common/held_sync.h"

namespace halyard::amdgpu {

class HeldQueue {
 public:
  explicit HeldQueue(QueueCore& core) : core_(core) {}
  ~HeldQueue();

  // Whether anything is held back; then all that is submitted has to queue up behind it.
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }

  // FAILED_PRECONDITION if the operation would wait for itself.
  Status push(std::unique_ptr<Operation> operation, const Sync& sync);
  // Submits what can be, from the watcher's thread. True if it should be called again soon although
  // no signal will tell.
  bool advance();
  // What the queue is at, if its ring is idle (describe_held).
  std::string describe();
  // The queue is lost: what is held back is not to signal anything. A host operation that runs is
  // waited for by nobody then.
  void fail_signals(const Status& cause);

 private:
  struct Entry {
    Ref<Device> keep_alive;
    std::unique_ptr<Operation> operation;
    HeldSync sync;
    bool issued = false;  // in the ring, but maybe not all of it yet
    bool fenced = false;  // a host operation whose barrier is in the ring
    uint64_t fence = 0;   // … with this index
    bool started = false;
  };
  enum class Outcome { kDone, kLater, kPoll, kRunning };

  Outcome try_issue(Entry& entry);
  // The operation will not run.
  static void give_up(Entry& entry, const Status& cause);
  Outcome try_host(Entry& entry);
  void drop_front();
  void run_host(Entry& entry);

  QueueCore& core_;
  std::atomic<uint32_t> count_{0};
  std::mutex mutex_;
  std::deque<Entry> entries_;  // under mutex_; the front is the watcher's alone
  // A host operation runs on a thread of its own, since it may block.
  std::thread host_thread_;
  std::atomic<bool> host_running_{false};
};

}  // namespace halyard::amdgpu
