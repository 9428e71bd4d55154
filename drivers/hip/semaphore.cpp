#include "drivers/hip/semaphore.h"

#include <algorithm>

#include "drivers/hip/progress.h"
#include "hal/error.h"

namespace halyard::hip {

// What is reached after the failure does not count: nobody could tell it from what was not.
void SemaphoreImpl::raise(uint64_t value) const {
  if (!failed_ && value_.load(std::memory_order_relaxed) < value) {
    value_.store(value, std::memory_order_release);
  }
}

void SemaphoreImpl::set_failure(const Status& cause) const {
  if (failed_) return;
  failure_ = cause;
  failed_ = true;
  count_failure();
}

// Raises the value to what is known to be reached, and forgets those points.
void SemaphoreImpl::drop_known() const {
  std::erase_if(points_, [this](const TimelinePoint& point) {
    const bool done = point.at.stream->known_done(point.at.number);
    if (done) raise(point.value);
    return done;
  });
}

// Asks the device about what can reach `value`. Reached points first: they were before a failure.
void SemaphoreImpl::ask_for(uint64_t value) const {
  const Stream* lost = nullptr;
  for (const TimelinePoint& point : points_) {
    if (point.value < value) continue;
    if (point.at.stream->state_of(point.at.number) == PointState::kFailed) lost = point.at.stream;
  }
  drop_known();
  if (lost != nullptr && value_.load(std::memory_order_relaxed) < value) {
    set_failure(lost->fault());
  }
}

void SemaphoreImpl::settle() const {
  Stream* asked = nullptr;
  for (const TimelinePoint& point : points_) {
    if (point.at.stream == asked) continue;
    asked = point.at.stream;
    asked->poll();
  }
  drop_known();
  for (const TimelinePoint& point : points_) {
    if (point.at.stream->lost()) set_failure(point.at.stream->fault());
  }
}

void SemaphoreImpl::add_point(uint64_t value, const StreamPoint& at) {
  const std::lock_guard lock(mutex_);
  if (points_.size() >= prune_at_) {
    drop_known();
    prune_at_ = std::max<size_t>(64, 2 * points_.size());
  }
  points_.push_back({value, at});
}

void SemaphoreImpl::promise(uint64_t value) {
  const std::lock_guard lock(mutex_);
  promises_.push_back(value);
}

void SemaphoreImpl::keep_promise(uint64_t value) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(promises_.begin(), promises_.end(), value);
  if (found != promises_.end()) promises_.erase(found);
}

void SemaphoreImpl::reach(uint64_t value) {
  const std::lock_guard lock(mutex_);
  raise(value);
}

void SemaphoreImpl::fail_with(const Status& cause) {
  const std::lock_guard lock(mutex_);
  settle();
  set_failure(cause);
}

PointState SemaphoreImpl::evaluate(uint64_t value, bool* on_device) const {
  if (value_.load(std::memory_order_acquire) >= value) return PointState::kReached;
  const std::lock_guard lock(mutex_);
  ask_for(value);
  if (value_.load(std::memory_order_relaxed) >= value) return PointState::kReached;
  if (on_device != nullptr) *on_device = !points_.empty();
  return failed_ ? PointState::kFailed : PointState::kPending;
}

Status SemaphoreImpl::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

StreamPoint SemaphoreImpl::point_for(uint64_t value, const Stream* own, bool* later) const {
  StreamPoint found;
  const std::lock_guard lock(mutex_);
  for (const TimelinePoint& point : points_) {
    if (point.value < value || point.at.stream->lost()) continue;
    if (point.at.stream == own) {
      found = point.at;
    } else if (point.value != value) {
      *later = true;
    } else if (found.stream == nullptr) {
      found = point.at;
    }
  }
  return found;
}

bool SemaphoreImpl::is_coming(uint64_t value) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(points_.begin(), points_.end(), [value](const TimelinePoint& point) {
    return point.value >= value && !point.at.stream->lost();
  });
}

Status SemaphoreImpl::do_query(uint64_t* value) const {
  const std::lock_guard lock(mutex_);
  settle();
  if (failed_) return failure_;
  *value = value_.load(std::memory_order_relaxed);
  return {};
}

Status SemaphoreImpl::do_signal(uint64_t value) {
  {
    const std::lock_guard lock(mutex_);
    settle();
    if (failed_) return failure_;
    uint64_t pending = UINT64_MAX;
    for (const TimelinePoint& point : points_) pending = std::min(pending, point.value);
    const uint64_t current = value_.load(std::memory_order_relaxed);
    // What is reached already is kept, although nobody has noted it yet.
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
  Progress::instance().changed();
  return {};
}

Status SemaphoreImpl::do_wait(uint64_t value, Deadline deadline) const {
  const PointState state = Progress::instance().wait_until(
      [&](bool* on_device) { return evaluate(value, on_device); }, deadline);
  if (state == PointState::kReached) [[likely]]
    return {};
  if (state == PointState::kFailed) return failure();
  return error(StatusCode::kDeadlineExceeded,
               "The semaphore does not reach the value ({}) before the deadline; it has {}.", value,
               value_.load(std::memory_order_acquire));
}

void SemaphoreImpl::do_fail(const Status& cause) {
  fail_with(cause);
  Progress::instance().changed();
}

}  // namespace halyard::hip
