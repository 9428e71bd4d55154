#include "drivers/hip/semaphore.h"

#include <algorithm>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"

namespace halyard::hip {

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

PointState SemaphoreImpl::evaluate(uint64_t value, bool* on_device) const {
  if (has_reached(value)) return PointState::kReached;
  const std::lock_guard lock(points_mutex_);
  ask_for(value);
  if (has_reached(value)) return PointState::kReached;
  if (on_device != nullptr) *on_device = !points_.empty();
  return has_failed() ? PointState::kFailed : PointState::kPending;
}

StreamPoint SemaphoreImpl::point_for(uint64_t value, const Stream* own, bool* later) const {
  StreamPoint found;
  const std::lock_guard lock(points_mutex_);
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
  const std::lock_guard lock(points_mutex_);
  return std::any_of(points_.begin(), points_.end(), [value](const TimelinePoint& point) {
    return point.value >= value && !point.at.stream->lost();
  });
}

PointState SemaphoreImpl::wait_until(uint64_t value, Deadline deadline) const {
  return Progress::instance().wait_until(
      [&](bool* on_device) { return evaluate(value, on_device); }, deadline,
      static_cast<DeviceImpl&>(device()).options().wait_spin_ns);
}

void SemaphoreImpl::notify() const {
  Progress::instance().changed();
}

}  // namespace halyard::hip
