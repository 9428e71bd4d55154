// HeldQueue: the operations of one queue that are held back, in their order.
//
// What waits for a point that no work on the device will reach, what the host has a part in, and
// all that comes behind these in the queue, stays here until its turn comes. A driver says how an
// operation gets onto the device, and when the device has done all that is before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/device.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/held_sync.h"
#include "plugins/sdk/operation.h"
#include "plugins/sdk/wait_plan.h"

namespace halyard {

class HeldQueue {
 public:
  // `order` is the lock under which operations get from here onto the device.
  HeldQueue(Device& device, std::mutex& order) : device_(device), order_(order) {}
  HeldQueue(const HeldQueue&) = delete;
  HeldQueue& operator=(const HeldQueue&) = delete;

  // Whether anything is held back; then all that is submitted has to queue up behind it.
  bool any() const { return any_.load(std::memory_order_acquire); }

  // Under the lock; advance() is to be called afterwards. Keeps the device alive. Fails with
  // FAILED_PRECONDITION if the operation would wait for itself.
  Status push(std::unique_ptr<QueueOperation> operation, const Sync& sync);
  // The same for operations that follow each other and stand for one, at least one: the first
  // waits, the last signals, and if one fails those after it do not run.
  Status push_steps(std::vector<std::unique_ptr<QueueOperation>> steps, const Sync& sync);

  // Puts onto the device what can be. Any thread, without the lock.
  struct Round {
    bool changed = false;  // something is no longer held back, or has failed
    bool soon = false;     // to be called again soon, although nothing will tell
  };
  Round advance();

  // What the queue is at, for a message, if the device has nothing of it.
  std::string describe();

 protected:
  ~HeldQueue() = default;

  enum class Turn : uint8_t {
    kDone,     // it is on the device; of a host's part: that can run
    kLater,    // advance() will be called when it is worth another look
    kSoon,     // advance() should be called now and then
    kArrives,  // of a host's part: the driver calls arrived() when that can run
  };

  // A driver's part. All are called under the lock, unless they say something else.

  // Why the queue is lost; OK if it is not.
  virtual Status fault() const = 0;
  // What there is to do about one of the operation's waits. Only for a first look at many of them.
  virtual WaitAction action_for(const QueueOperation& operation, const HeldPoint& wait) = 0;
  // Puts the operation onto the device, with points for its signals, if its waits allow that. A
  // failure is the operation's.
  virtual Result<Turn> issue(QueueOperation& operation, const HeldSync& sync) = 0;
  // Behind that: puts more of it there. Whether all of it is, or never will be.
  virtual bool resume(QueueOperation&) { return true; }
  // Whether what is before the operation, and what it waits for, is done, so that the host's part
  // of it can run. `id` tells it from others.
  virtual Result<Turn> reach_host(const QueueOperation& operation, const HeldSync& sync,
                                  uint64_t id) = 0;
  // Whether the queue holds anything back has changed.
  virtual void holds(bool any) = 0;
  // Keeps the object itself alive; null if its device does that.
  virtual std::shared_ptr<const void> keep_alive() { return nullptr; }
  // The host's part of an operation is about to run, or has run. Without the lock.
  virtual void host_observed() {}
  // Whether a profile is to say when the host's part began and ended; what it is told. Without the
  // lock.
  virtual bool is_timed(const OperationFacts& facts) const = 0;
  virtual void add_time(const OperationFacts& facts, uint64_t begin_ns, uint64_t end_ns) = 0;
  // The host's part has run: advance() is to be called. Without the lock.
  virtual void changed() = 0;

  // Of kArrives, on a thread that may block, without the lock. Nothing happens if the operation is
  // gone.
  void arrived(uint64_t id);

 private:
  enum class Phase : uint8_t {
    kWaiting,
    kArriving,  // kArrives
    kRunning,   // the host's part
    kRan,
    kIssued,  // on the device, but maybe not all of it yet
  };
  // What the steps of one operation share.
  struct Steps {
    Status failure;
  };
  struct Entry final : driver::CompletionBase {
    void do_complete(const Status& outcome) noexcept override { queue->ran(*this, outcome); }

    HeldQueue* queue = nullptr;
    uint64_t id = 0;
    Ref<Device> device;
    std::shared_ptr<const void> keep_queue;
    std::unique_ptr<QueueOperation> operation;
    HeldSync sync;
    std::shared_ptr<Steps> steps;  // null: it stands alone
    Phase phase = Phase::kWaiting;
    uint64_t begin_ns = 0;  // of the host's part, if that is timed
    Status outcome;         // in kRan
  };

  void push_entry(std::unique_ptr<QueueOperation> operation, HeldSync sync,
                  const std::shared_ptr<Steps>& steps);
  // What comes of the front entry: whether it is done with (kDone); kArrives: arrived() is to be
  // called.
  Turn take_turn(Entry& entry);
  Turn take_host_turn(Entry& entry);
  // The operation's signals become true, or fail.
  static Turn finish(Entry& entry, const Status& status);
  void run_host(Entry& entry);
  void ran(Entry& entry, const Status& outcome);
  // The queue is lost: what is held back signals nothing, also what is behind a host's part that
  // runs. False if they had failed before.
  bool fail_all(const Status& cause);

  Device& device_;
  std::mutex& order_;
  std::deque<std::unique_ptr<Entry>> entries_;  // under order_
  uint64_t next_id_ = 1;                        // under order_
  bool failed_ = false;                         // under order_: fail_all has been called
  std::atomic<bool> any_{false};
};

}  // namespace halyard
