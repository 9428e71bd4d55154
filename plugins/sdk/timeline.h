// Timeline: the part of a semaphore that does not depend on a vendor's API: the value, the failure,
// the promises of operations that are held back, and what the host may signal.
//
// A driver says how far its work has come (settle, evaluate), and how a thread waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/device.h"
#include "hal/ref.h"
#include "hal/semaphore.h"
#include "hal/status.h"
#include "plugins/sdk/point_state.h"
#include "plugins/sdk/shared_timeline.h"

namespace halyard {

// Any thread may use any method.
class Timeline : public driver::SemaphoreBase {
 public:
  // Work that is held back, or that the host does, will signal `value`. This is kept as a promise
  // until keep_promise, which comes together with a point of the driver's, reach or fail_with.
  void promise(uint64_t value);
  void keep_promise(uint64_t value);
  // The host has done the work that signals `value`.
  void reach(uint64_t value);
  void fail_with(const Status& cause);

  // How often a semaphore or a queue of the process has failed. After each failure anything that
  // waits may have to fail as well.
  static uint64_t failures() { return failure_count.load(std::memory_order_acquire); }
  static void count_failure() { failure_count.fetch_add(1, std::memory_order_acq_rel); }

  // Where `value` stands now.
  virtual PointState evaluate(uint64_t value) const = 0;
  // Whether work that the device has signals `value` or more.
  virtual bool is_coming(uint64_t value) const = 0;
  // Only after evaluate() has returned kFailed.
  Status failure() const;

  // Device::export_semaphore.
  Status share(ExportedSemaphore* exported);
  // Device::import_semaphore. Before anybody else knows of this.
  Status join(std::unique_ptr<SharedTimeline> shared);

 protected:
  Timeline(Device& device, uint64_t initial_value)
      : SemaphoreBase(device), keep_alive_(Ref<Device>::retain(&device)), value_(initial_value) {}
  ~Timeline() = default;
  // The first thing that a driver does when the last reference is gone. This may be deleted then.
  void end_sharing();

  // Raises the value to what is reached by now, and takes over the failure of a queue that will not
  // reach what it was to signal. Without any lock of this class.
  virtual void settle() const = 0;
  // The least value that submitted work still has to signal, after settle(); UINT64_MAX if none.
  virtual uint64_t least_pending() const = 0;
  virtual PointState wait_until(uint64_t value, Deadline deadline) const = 0;
  // The value or the failure has changed: wakes whoever waits for that. Called without any lock of
  // the driver's.
  virtual void notify() const = 0;
  // The same after reach() and fail_with(), whose callers may hold locks. A driver that does
  // nothing here notifies when it has released them.
  virtual void notify_under_lock() const {}
  // The host has seen the value.
  virtual void observed() const {}

  bool has_reached(uint64_t value) const { return value_.load(std::memory_order_acquire) >= value; }
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  // Unless it has failed: points that are reached after the failure do not count, because callers
  // could not tell them from those that are not reached.
  void raise(uint64_t value) const {
    if (has_failed()) return;
    uint64_t known = value_.load(std::memory_order_relaxed);
    while (known < value &&
           !value_.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
    }
  }
  // Only the first failure counts; whether this is it.
  bool set_failure(const Status& cause) const;

 private:
  Status do_query(uint64_t* value) const final;
  Status do_signal(uint64_t value) final;
  Status do_wait(uint64_t value, Deadline deadline) const final;
  void do_fail(const Status& cause) final;

  static inline std::atomic<uint64_t> failure_count{0};

  // How the timeline's other ends see this one.
  LocalTimeline local_end();
  // To the other ends, before anybody sees that this has changed and ends the process.
  void publish() const;

  const Ref<Device> keep_alive_;
  mutable std::mutex mutex_;
  // Set once, under mutex_; null: no other process has it.
  std::atomic<SharedTimeline*> shared_{nullptr};
  std::vector<uint64_t> promises_;  // under mutex_
  mutable Status failure_;          // under mutex_, set before failed_
  // Last, next to the points of the driver's, which a submission looks at together with these.
  mutable std::atomic<uint64_t> value_;
  mutable std::atomic<bool> failed_{false};
};

// A semaphore point that is kept alive.
struct HeldPoint {
  Ref<Timeline> semaphore;
  uint64_t value = 0;
};

inline Timeline& timeline(const SemaphorePoint& point) {
  return static_cast<Timeline&>(*point.semaphore);
}

std::vector<HeldPoint> retain(Span<const SemaphorePoint> points);
std::vector<SemaphorePoint> views(const std::vector<HeldPoint>& points);

void fail_signals(Span<const SemaphorePoint> signals, const Status& cause);

// Several points that a thread waits for (Device::wait).
class AwaitedPoints {
 public:
  AwaitedPoints(Span<const SemaphorePoint> points, WaitMode mode) : points_(points), mode_(mode) {}

  // `state_of(point)` is where one stands.
  template <typename StateOf>
  PointState evaluate(StateOf&& state_of) {
    bool pending = false;
    size_t failed = points_.size();
    for (size_t i = 0; i < points_.size(); ++i) {
      const PointState state = state_of(points_[i]);
      if (state == PointState::kReached && mode_ == WaitMode::kAny) {
        decided_ = i;
        return PointState::kReached;
      }
      if (state == PointState::kFailed && failed == points_.size()) failed = i;
      pending |= state == PointState::kPending;
    }
    if (failed != points_.size()) {
      decided_ = failed;
      return PointState::kFailed;
    }
    return pending ? PointState::kPending : PointState::kReached;
  }

  // What Device::wait returns after the last evaluate() has returned `state`. `index` may be null.
  Status result(PointState state, size_t* index) const;

 private:
  Span<const SemaphorePoint> points_;
  WaitMode mode_;
  size_t decided_ = 0;  // the point that is reached (kAny) or has failed
};

}  // namespace halyard
