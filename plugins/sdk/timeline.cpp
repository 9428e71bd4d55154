#include "plugins/sdk/timeline.h"

#include <algorithm>

#include "hal/error.h"

namespace halyard {

LocalTimeline Timeline::local_end() {
  return {.look =
              [this](uint64_t* value, Status* failure) {
                settle();
                *value = value_.load(std::memory_order_acquire);
                if (has_failed()) *failure = this->failure();
              },
          .reach =
              [this](uint64_t value) {
                raise(value);
                notify();
              },
          .fail =
              [this](const Status& cause) {
                if (set_failure(cause)) notify();
              }};
}

Status Timeline::share(ExportedSemaphore* exported) {
  settle();
  const std::lock_guard lock(mutex_);
  SharedTimeline* shared = shared_.load(std::memory_order_acquire);
  if (shared == nullptr) {
    HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<SharedTimeline> made,
                             SharedTimeline::create(value_.load(std::memory_order_acquire)));
    HALYARD_RETURN_IF_ERROR(made->start(local_end()));
    shared = made.release();
    shared_.store(shared, std::memory_order_release);
    if (has_failed()) shared->publish(0, failure_);
  }
  *exported = shared->handle();
  return {};
}

Status Timeline::join(std::unique_ptr<SharedTimeline> shared) {
  HALYARD_RETURN_IF_ERROR(shared->start(local_end()));
  shared_.store(shared.release(), std::memory_order_release);
  return {};
}

void Timeline::end_sharing() {
  SharedTimeline* const shared = shared_.exchange(nullptr, std::memory_order_acq_rel);
  if (shared != nullptr) SharedTimeline::end(std::unique_ptr<SharedTimeline>(shared));
}

void Timeline::publish() const {
  SharedTimeline* const shared = shared_.load(std::memory_order_acquire);
  if (shared == nullptr) [[likely]]
    return;
  shared->publish(value_.load(std::memory_order_acquire), has_failed() ? failure() : Status());
}

void Timeline::promise(uint64_t value) {
  const std::lock_guard lock(mutex_);
  promises_.push_back(value);
}

void Timeline::keep_promise(uint64_t value) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(promises_.begin(), promises_.end(), value);
  if (found != promises_.end()) promises_.erase(found);
}

bool Timeline::set_failure(const Status& cause) const {
  const std::lock_guard lock(mutex_);
  if (failed_.load(std::memory_order_relaxed)) return false;
  failure_ = cause;
  failed_.store(true, std::memory_order_release);
  count_failure();
  return true;
}

void Timeline::reach(uint64_t value) {
  raise(value);
  notify_under_lock();
}

void Timeline::fail_with(const Status& cause) {
  settle();
  if (set_failure(cause)) notify_under_lock();
}

Status Timeline::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status Timeline::do_query(uint64_t* value) const {
  settle();
  if (has_failed()) return failure();
  *value = value_.load(std::memory_order_acquire);
  observed();
  return {};
}

Status Timeline::do_signal(uint64_t value) {
  settle();
  uint64_t pending = least_pending();
  {
    const std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return failure_;
    const uint64_t current = value_.load(std::memory_order_acquire);
    // A promise that is reached already is kept, although nobody has noted it yet.
    for (const uint64_t promised : promises_) {
      if (promised > current) pending = std::min(pending, promised);
    }
    if (value <= current) {
      return error(StatusCode::kInvalidArgument,
                   "Semaphore::signal is given a value ({}) that is not above the current one "
                   "({}). A timeline only grows.",
                   value, current);
    }
    if (value >= pending) {
      return error(StatusCode::kInvalidArgument,
                   "Semaphore::signal is given a value ({}) that is not below one that queued work "
                   "will signal ({}). A timeline only grows.",
                   value, pending);
    }
    raise(value);
  }
  publish();
  notify();
  return {};
}

Status Timeline::do_wait(uint64_t value, Deadline deadline) const {
  const PointState state = wait_until(value, deadline);
  if (state == PointState::kReached) [[likely]]
    return {};
  if (state == PointState::kFailed) return failure();
  return error(StatusCode::kDeadlineExceeded,
               "The semaphore does not reach the value ({}) before the deadline; it has {}.", value,
               value_.load(std::memory_order_acquire));
}

void Timeline::do_fail(const Status& cause) {
  fail_with(cause);
  publish();
  notify();
}

std::vector<HeldPoint> retain(Span<const SemaphorePoint> points) {
  std::vector<HeldPoint> result;
  result.reserve(points.size());
  for (const SemaphorePoint& point : points) {
    result.push_back({Ref<Timeline>::retain(&timeline(point)), point.value});
  }
  return result;
}

std::vector<SemaphorePoint> views(const std::vector<HeldPoint>& points) {
  std::vector<SemaphorePoint> result;
  result.reserve(points.size());
  for (const HeldPoint& point : points) result.push_back({point.semaphore.get(), point.value});
  return result;
}

void fail_signals(Span<const SemaphorePoint> signals, const Status& cause) {
  for (const SemaphorePoint& signal : signals) timeline(signal).fail_with(cause);
}

Status AwaitedPoints::result(PointState state, size_t* index) const {
  switch (state) {
    case PointState::kReached:
      if (index != nullptr) *index = decided_;
      return {};
    case PointState::kFailed:
      return timeline(points_[decided_]).failure();
    default:
      return error(StatusCode::kDeadlineExceeded, "Of {} semaphore points {} before the deadline.",
                   points_.size(),
                   mode_ == WaitMode::kAny ? "none is reached" : "not all are reached");
  }
}

}  // namespace halyard
