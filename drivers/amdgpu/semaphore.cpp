#include "drivers/amdgpu/semaphore.h"

#include <algorithm>
#include <utility>

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

SemaphoreImpl::SemaphoreImpl(DeviceImpl& device, uint64_t initial_value)
    : Timeline(device, initial_value) {}

void SemaphoreImpl::destroy() noexcept {
  end_sharing();
  delete this;
}

DeviceImpl& SemaphoreImpl::device() const {
  return static_cast<DeviceImpl&>(Semaphore::device());
}

void SemaphoreImpl::add_signaller(DeviceImpl& signaller) {
  device().share_semaphores();
  const std::lock_guard lock(overflow_mutex_);
  for (const Ref<Device>& known : signallers_) {
    if (known.get() == &signaller) return;
  }
  signallers_.push_back(Ref<Device>::retain(&signaller));
}

void SemaphoreImpl::add_point(uint64_t value, const QueuePoint& at) {
  if (&at.core->device() != &Semaphore::device()) [[unlikely]]
    add_signaller(at.core->device());
  const TimelinePoint point = {value, at};
  // A point that is done with makes room. Only those of which that is known without asking the
  // device, and for the oldest it is asked.
  bool ask = true;
  const auto release = [&](const TimelinePoint& old) {
    const bool done = old.at.core->room().known_done(old.at.index) ||
                      (std::exchange(ask, false) &&
                       old.at.core->epoch().state_of(old.at.index) == PointState::kReached);
    if (done) raise(old.value);
    return done;
  };
  if (!points_.add(point, release)) [[unlikely]]
    add_point_slowly(point);
}

void SemaphoreImpl::add_point_slowly(const TimelinePoint& point) {
  const std::lock_guard lock(overflow_mutex_);
  points_.grow();
  const auto release = [&](const TimelinePoint& old) {
    if (old.at.core->epoch().state_of(old.at.index) != PointState::kReached) return false;
    raise(old.value);
    return true;
  };
  if (points_.add(point, release)) return;
  overflow_.push_back(point);
  overflow_count_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_release);
}

// Calls visit(point). A point that is resolved while we look may be missed: then its value has been
// raised.
template <typename Visit>
void SemaphoreImpl::visit_points(Visit visit) const {
  points_.visit(visit);
  if (overflow_count_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(overflow_mutex_);
  for (const TimelinePoint& point : overflow_) visit(point);
}

// Raises the value to what queues have reached, frees those points, and takes over the failure of a
// queue that will not reach one. Reached points first: they were before the failure.
void SemaphoreImpl::settle() const {
  const QueueCore* broken = nullptr;
  // Points are mostly of one queue; its signals are read once.
  const QueueCore* known = nullptr;
  uint64_t completed = 0;
  const auto settled = [&](const TimelinePoint& point) {
    if (point.at.core != known) {
      known = point.at.core;
      completed = known->epoch().completed();
    }
    if (point.at.index >= completed) {
      // Looked at again: it may have come between the two.
      const bool failed =
          known->loss().lost() && known->epoch().state_of(point.at.index) == PointState::kFailed;
      if (failed) broken = known;
      return false;
    }
    raise(point.value);
    return true;
  };
  points_.remove_if(settled);
  if (overflow_count_.load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(overflow_mutex_);
    std::erase_if(overflow_, settled);
    overflow_count_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_release);
  }
  if (broken != nullptr && !has_failed()) set_failure(broken->loss().cause());
}

PointState SemaphoreImpl::evaluate(uint64_t value) const {
  if (has_reached(value)) return PointState::kReached;
  settle();
  if (has_reached(value)) return PointState::kReached;
  return has_failed() ? PointState::kFailed : PointState::kPending;
}

uint64_t SemaphoreImpl::least_pending() const {
  uint64_t least = UINT64_MAX;
  visit_points([&](const TimelinePoint& point) { least = std::min(least, point.value); });
  return least;
}

QueuePoint SemaphoreImpl::point_for(uint64_t value, const QueueCore* own) const {
  QueuePoint found;
  visit_points([&](const TimelinePoint& point) {
    if (point.value < value) return;
    if (point.at.core != own && (point.value != value || found.core != nullptr)) return;
    if (point.at.core->epoch().state_of(point.at.index) == PointState::kFailed) return;
    found = point.at;
  });
  return found;
}

bool SemaphoreImpl::is_coming(uint64_t value) const {
  bool coming = false;
  visit_points([&](const TimelinePoint& point) {
    coming |= point.value >= value &&
              point.at.core->epoch().state_of(point.at.index) != PointState::kFailed;
  });
  return coming;
}

PointState SemaphoreImpl::wait_until(uint64_t value, Deadline deadline) const {
  return device().wait_until([&] { return evaluate(value); }, deadline);
}

void SemaphoreImpl::notify() const {
  device().progress();
}

void SemaphoreImpl::observed() const {
  device().host_observed();
}

}  // namespace halyard::amdgpu
