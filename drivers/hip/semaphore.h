// SemaphoreImpl: a timeline that host and streams move forward.
//
// What work on streams will signal is kept as points, "value v is reached when operation n of
// stream s is done", and looked at when the semaphore is.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/hip/stream.h"
#include "plugins/sdk/timeline.h"

namespace halyard::hip {

// Where the driver calls these it notifies Progress itself, once it holds no lock.
class SemaphoreImpl final : public Timeline {
 public:
  SemaphoreImpl(Device& device, uint64_t initial_value) : Timeline(device, initial_value) {}

  // `value` will be reached when the marked operation `point` is done.
  void add_point(uint64_t value, const StreamPoint& point);
  PointState evaluate(uint64_t value) const override { return evaluate(value, nullptr); }
  // `on_device` (may be null): whether work on a stream may reach it.
  PointState evaluate(uint64_t value, bool* on_device) const;
  // What work on `own` that waits for `value` has to wait for. State and operation are read under
  // one lock: between two reads, another thread may find the value reached and drop its operation.
  struct Ahead {
    PointState state = PointState::kPending;
    // If pending, the operation that it waits for: any of `own` that signals `value` or more, as
    // the stream's order sees to it; of another stream only one that signals `value` itself. Before
    // that stream signals a later value, the host or work not submitted yet may signal `value`.
    StreamPoint point;   // stream is null if there is none
    bool later = false;  // there is one with a later value
  };
  Ahead look_ahead(uint64_t value, const Stream* own) const;
  bool is_coming(uint64_t value) const override;

 private:
  struct TimelinePoint {
    uint64_t value = 0;
    StreamPoint at;
  };

  ~SemaphoreImpl() = default;
  void destroy() noexcept override {
    end_sharing();
    delete this;
  }
  void settle() const override;
  uint64_t least_pending() const override;
  PointState wait_until(uint64_t value, Deadline deadline) const override;
  void notify() const override;

  // Under points_mutex_.
  void drop_known() const;
  void ask_for(uint64_t value) const;
  PointState state_of(uint64_t value) const;

  mutable std::mutex points_mutex_;
  mutable std::vector<TimelinePoint> points_;  // under points_mutex_
  mutable size_t prune_at_ = 64;               // under points_mutex_: when points_ has that many
  // A stream of which HIP keeps many commands that are done; null: none is known.
  mutable std::atomic<Stream*> releasable_{nullptr};
};

inline SemaphoreImpl& impl(Semaphore& semaphore) {
  return static_cast<SemaphoreImpl&>(semaphore);
}

}  // namespace halyard::hip
