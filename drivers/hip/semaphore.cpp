#include "drivers/hip/semaphore.h"

#include <algorithm>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"

namespace halyard::hip {

// Raises the value to what is known to be reached, and forgets those points.
void SemaphoreImpl::drop_known() const {
  std::erase_if(points_, [this](const TimelinePoint& point) {
    const bool done = point.at.stream->known_done(point.at.number);
    if (!done) return false;
    raise(point.value);
    if (point.at.stream->is_worth_releasing())
      releasable_.store(point.at.stream, std::memory_order_relaxed);
    return true;
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
  if (lost != nullptr && !has_reached(value)) set_failure(lost->fault());
}

void SemaphoreImpl::settle() const {
  const std::lock_guard lock(points_mutex_);
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

uint64_t SemaphoreImpl::least_pending() const {
  const std::lock_guard lock(points_mutex_);
  uint64_t least = UINT64_MAX;
  for (const TimelinePoint& point : points_) least = std::min(least, point.value);
  return least;
}

void SemaphoreImpl::add_point(uint64_t value, const StreamPoint& at) {
  const std::lock_guard lock(points_mutex_);
  if (points_.size() >= prune_at_) {
    drop_known();
    prune_at_ = std::max<size_t>(64, 2 * points_.size());
  }
  points_.push_back({value, at});
}

PointState SemaphoreImpl::state_of(uint64_t value) const {
  ask_for(value);
  if (has_reached(value)) return PointState::kReached;
  return has_failed() ? PointState::kFailed : PointState::kPending;
}

PointState SemaphoreImpl::evaluate(uint64_t value, bool* on_device) const {
  if (has_reached(value)) return PointState::kReached;
  const std::lock_guard lock(points_mutex_);
  const PointState state = state_of(value);
  if (on_device != nullptr && state != PointState::kReached) *on_device = !points_.empty();
  return state;
}

SemaphoreImpl::Ahead SemaphoreImpl::look_ahead(uint64_t value, const Stream* own) const {
  Ahead ahead;
  ahead.state = PointState::kReached;
  if (has_reached(value)) return ahead;
  const std::lock_guard lock(points_mutex_);
  ahead.state = state_of(value);
  if (ahead.state != PointState::kPending) return ahead;
  for (const TimelinePoint& point : points_) {
    if (point.value < value || point.at.stream->lost()) continue;
    if (point.at.stream == own) {
      ahead.point = point.at;
    } else if (point.value != value) {
      ahead.later = true;
    } else if (ahead.point.stream == nullptr) {
      ahead.point = point.at;
    }
  }
  return ahead;
}

bool SemaphoreImpl::is_coming(uint64_t value) const {
  const std::lock_guard lock(points_mutex_);
  return std::any_of(points_.begin(), points_.end(), [value](const TimelinePoint& point) {
    return point.value >= value && !point.at.stream->lost();
  });
}

PointState SemaphoreImpl::wait_until(uint64_t value, Deadline deadline) const {
  const PointState state = Progress::instance().wait_until(
      [&](bool* on_device) { return evaluate(value, on_device); }, deadline,
      static_cast<DeviceImpl&>(device()).options().wait_spin_ns);
  // The thread has waited, and nobody waits for it: HIP's part of what has been done is done here,
  // as it would be if the thread had called hipStreamSynchronize.
  if (releasable_.load(std::memory_order_relaxed) != nullptr && state == PointState::kReached) {
    Stream* const stream = releasable_.exchange(nullptr);
    if (stream != nullptr && stream->is_worth_releasing()) {
      Streams::instance().release_commands(*stream);
    }
  }
  return state;
}

void SemaphoreImpl::notify() const {
  Progress::instance().changed();
}

}  // namespace halyard::hip
