// QueueCore: a stream, and the operations that cannot go onto it yet.
//
// A wait goes onto the stream if work that is on another stream will reach it (hipStreamWaitEvent).
// Otherwise the operation is held back, and so is all that comes after it, until somebody submits
// or signals what it waits for; that thread then submits it. So a stream never waits for something
// that is not yet submitted: HIP maps many streams onto few hardware queues, and such a wait
// (hipStreamWaitValue64) would hold up every stream that shares its queue, maybe the one that is to
// end it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/common/held_sync.h"
#include "drivers/hip/operation.h"
#include "drivers/hip/semaphore.h"
#include "drivers/hip/stream.h"
#include "hal/queue.h"
#include "plugins/objects.h"

namespace halyard::hip {

class DeviceImpl;

class QueueCore : public std::enable_shared_from_this<QueueCore> {
 public:
  // Takes the stream, and gives it back in the end. `capacity` is as QueueOptions has it.
  QueueCore(DeviceImpl& device, Stream& stream, uint32_t capacity);
  ~QueueCore() { Streams::instance().give(stream_); }
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  // Only while something keeps the device alive.
  DeviceImpl& device() const { return device_; }
  Stream& stream() const { return stream_; }
  // Queue::id().
  uint64_t queue_id() const { return queue_id_; }
  const Hip& hip() const { return stream_.hip(); }

  // Puts the operation onto the stream, or holds it back. `after` (its stream may be null) is work
  // that it waits for as well.
  Status submit(Operation& operation, const Sync& sync, const StreamPoint& after = {});
  // The same for operations that follow each other and stand for one: the first waits, the last
  // signals, and if one fails those after it do not run.
  Status submit_steps(std::vector<std::unique_ptr<Operation>> steps, const Sync& sync);

  // Submits what can be. One thread at a time (Progress). True if something has changed.
  bool advance();
  // Whether work on another stream may let what is held back go on, without any host thread.
  bool awaits_stream() const { return awaits_stream_.load(std::memory_order_acquire); }

  // Queue::abandon.
  void abandon();

 private:
  enum class Phase : uint8_t { kWaiting, kArriving, kRunning, kRan };
  // What the steps of one operation share.
  struct Steps {
    Status failure;
  };
  struct Entry final : driver::CompletionBase {
    void do_complete(const Status& outcome) noexcept override { core->ran(*this, outcome); }

    QueueCore* core = nullptr;
    uint64_t id = 0;
    Ref<Device> keep_alive;
    std::unique_ptr<Operation> operation;
    HeldSync sync;
    StreamPoint after;
    std::shared_ptr<Steps> steps;
    Phase phase = Phase::kWaiting;
    uint64_t began_ns = 0;  // of the host's part, if a profile is being taken
    Status outcome;         // in kRan
  };
  // The way to a place in a stream and back (hipStreamAddCallback).
  struct Arrival {
    std::shared_ptr<QueueCore> core;
    Ref<Device> keep_alive;
    uint64_t id = 0;
  };
  struct WaitPlan {
    bool hold = false;
    bool awaits_stream = false;  // it is held until the host has seen work on another stream done
    Status failure;
    std::vector<StreamPoint> points;
  };

  // The stream's lock, with room on the stream for what is to be put there at once.
  std::unique_lock<std::mutex> lock_with_room();

  // All under the stream's lock.
  // `on_host`: Operation::waits_on_host.
  WaitPlan plan_waits(Span<const SemaphorePoint> waits, const StreamPoint& after,
                      bool on_host) const;
  // How to wait for the point: `point` is the stream's operation that reaches it, if there is one;
  // `later` as SemaphoreImpl::point_for has it.
  WaitAction plan_wait_for(const SemaphorePoint& wait, StreamPoint* point, bool* later) const;
  Status put(Operation& operation, const WaitPlan& plan, Span<const SemaphorePoint> signals);
  void push(std::unique_ptr<Operation> operation, HeldSync sync, const StreamPoint& after,
            std::shared_ptr<Steps> steps);
  // Holds the operation back, with all that it refers to.
  Status hold(Operation& operation, const Sync& sync, const StreamPoint& after);
  // Whether the front entry is done with.
  bool try_front(Entry& entry);
  bool start_host(Entry& entry, const WaitPlan& plan);
  bool finish(Entry& entry, const Status& status);
  // What the queue is at, for a message.
  std::string describe_unfinished();
  // The stream is lost: what is held back is not to signal anything, also what is behind a host
  // operation that runs.
  void fail_held(const Status& cause);

  void arrived(uint64_t id);
  void ran(Entry& entry, const Status& outcome);
  static void on_arrival(void* arrival);

  DeviceImpl& device_;
  Stream& stream_;
  const uint32_t capacity_;
  const uint64_t queue_id_;
  std::deque<std::unique_ptr<Entry>> entries_;  // under the stream's lock
  uint64_t next_id_ = 1;                        // under the stream's lock
  std::atomic<bool> awaits_stream_{false};      // of the front entry
  bool held_failed_ = false;                    // under the stream's lock
};

// Operations on a stream before a submission waits for room, if `requested` (0: any) is asked for.
constexpr uint32_t stream_capacity(uint32_t requested) {
  constexpr uint32_t kLeast = 64;
  constexpr uint32_t kDefault = 2048;
  constexpr uint32_t kMost = 4096;  // what HIP's own rings hold (ROCclr 5.2.3)
  return requested == 0 ? kDefault : std::bit_ceil(std::clamp(requested, kLeast, kMost));
}

}  // namespace halyard::hip
