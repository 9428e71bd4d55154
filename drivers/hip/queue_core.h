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
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/hip/operation.h"
#include "drivers/hip/semaphore.h"
#include "drivers/hip/stream.h"
#include "hal/queue.h"
#include "plugins/sdk/held_queue.h"

namespace halyard::hip {

class DeviceImpl;

class QueueCore final : public HeldQueue, public std::enable_shared_from_this<QueueCore> {
 public:
  // Takes the stream, and gives it back in the end. `capacity` is as QueueOptions has it.
  QueueCore(DeviceImpl& device, Stream& stream, uint32_t capacity);
  ~QueueCore() { Streams::instance().give(stream_); }

  // Only while something keeps the device alive.
  DeviceImpl& device() const { return device_; }
  Stream& stream() const { return stream_; }
  // Queue::id().
  uint64_t queue_id() const { return queue_id_; }
  const Hip& hip() const { return stream_.hip(); }

  // Puts the operation onto the stream, or holds it back.
  Status submit(Operation& operation, const Sync& sync);
  // The same for operations that follow each other and stand for one, in one of which the host has
  // a part (HeldQueue::push_steps).
  Status submit_steps(std::vector<std::unique_ptr<QueueOperation>> steps, const Sync& sync);
  // Of what the host does, in the stream's order.
  Status submit_host(std::unique_ptr<QueueOperation> operation, const Sync& sync);

  // Whether work on another stream may let what is held back go on, without any host thread.
  bool awaits_stream() const { return awaits_stream_.load(std::memory_order_acquire); }

  // Queue::abandon.
  void abandon();

 private:
  // The way to a place in a stream and back (hipStreamAddCallback).
  struct Arrival {
    std::shared_ptr<QueueCore> core;
    Ref<Device> keep_alive;
    uint64_t id = 0;
  };
  struct WaitPlan {
    bool hold = false;
    bool awaits_stream = false;  // it is held until the host has seen work on another stream done
    Status failure = {};
    std::vector<StreamPoint> points = {};
  };

  // The stream's lock, with room on the stream for what is to be put there at once.
  std::unique_lock<std::mutex> lock_with_room();

  // All under the stream's lock.
  // `on_host`: QueueOperation::waits_on_host.
  WaitPlan plan_waits(Span<const SemaphorePoint> waits, bool on_host) const;
  // How to wait for the point: `point` is the stream's operation that reaches it, if there is one;
  // `later` as SemaphoreImpl::Ahead has it.
  WaitAction plan_wait_for(const SemaphorePoint& wait, StreamPoint* point, bool* later) const;
  Status put(Operation& operation, const WaitPlan& plan, Span<const SemaphorePoint> signals);
  // Has arrived() called when all that is on the stream is done.
  Status ask_for_arrival(uint64_t id);
  static void on_arrival(void* arrival);
  // What the queue is at, for a message.
  std::string describe_unfinished();

  Status fault() const override { return stream_.lost() ? stream_.fault() : Status(); }
  WaitAction action_for(const QueueOperation& operation, const HeldPoint& wait) override;
  Result<Turn> issue(QueueOperation& operation, const HeldSync& sync) override;
  Result<Turn> reach_host(const QueueOperation& operation, const HeldSync& sync,
                          uint64_t id) override;
  void holds(bool any) override;
  std::shared_ptr<const void> keep_alive() override { return shared_from_this(); }
  bool is_timed(const OperationFacts& facts) const override;
  void add_time(const OperationFacts& facts, uint64_t begin_ns, uint64_t end_ns) override;
  void changed() override;

  DeviceImpl& device_;
  Stream& stream_;
  const uint32_t capacity_;
  const uint64_t queue_id_;
  std::atomic<bool> awaits_stream_{false};  // of the front operation
};

// Operations on a stream before a submission waits for room, if `requested` (0: any) is asked for.
constexpr uint32_t stream_capacity(uint32_t requested) {
  constexpr uint32_t kLeast = 64;
  constexpr uint32_t kDefault = 2048;
  constexpr uint32_t kMost = 4096;  // what HIP's own rings hold (ROCclr 5.2.3)
  return requested == 0 ? kDefault : std::bit_ceil(std::clamp(requested, kLeast, kMost));
}

}  // namespace halyard::hip
