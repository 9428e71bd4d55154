#include "drivers/amdgpu/semaphore.h"

#include <algorithm>
#include <utility>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

SemaphoreImpl::SemaphoreImpl(DeviceImpl& device, uint64_t initial_value)
    : Semaphore(device), keep_alive_(Ref<Device>::retain(&device)), value_(initial_value) {}

void SemaphoreImpl::destroy() noexcept {
  delete this;
}

DeviceImpl& SemaphoreImpl::device() const {
  return static_cast<DeviceImpl&>(Semaphore::device());
}

void SemaphoreImpl::add_signaller(DeviceImpl& signaller) {
  device().share_semaphores();
  const std::lock_guard lock(mutex_);
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
    const bool done =
        old.at.core->known_done(old.at.index) ||
        (std::exchange(ask, false) && old.at.core->state_of(old.at.index) == PointState::kReached);
    if (done) raise(old.value);
    return done;
  };
  if (!points_.add(point, release)) [[unlikely]]
    add_point_slowly(point);
}

void SemaphoreImpl::add_point_slowly(const TimelinePoint& point) {
  const std::lock_guard lock(mutex_);
  points_.grow();
  const auto release = [&](const TimelinePoint& old) {
    if (old.at.core->state_of(old.at.index) != PointState::kReached) return false;
    raise(old.value);
    return true;
  };
  if (points_.add(point, release)) return;
  overflow_.push_back(point);
  overflow_count_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_release);
}

void SemaphoreImpl::raise(uint64_t value) const {
  // What is reached after the failure does not count: nobody could tell it from what was not.
  if (failed_.load(std::memory_order_acquire)) return;
  uint64_t known = value_.load(std::memory_order_relaxed);
  while (known < value && !value_.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
}

// Calls visit(point). A point that is resolved while we look may be missed: then its value has been
// raised.
template <typename Visit>
void SemaphoreImpl::visit_points(Visit visit) const {
  points_.visit(visit);
  if (overflow_count_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
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
      completed = known->completed();
    }
    if (point.at.index >= completed) {
      // Looked at again: it may have come between the two.
      const bool failed = known->lost() && known->state_of(point.at.index) == PointState::kFailed;
      if (failed) broken = known;
      return false;
    }
    raise(point.value);
    return true;
  };
  points_.remove_if(settled);
  if (overflow_count_.load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(mutex_);
    std::erase_if(overflow_, settled);
    overflow_count_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_release);
  }
  if (broken == nullptr || failed_.load(std::memory_order_acquire)) return;
  const Status cause = broken->fault();
  const std::lock_guard lock(mutex_);
  if (failed_.load(std::memory_order_relaxed)) return;
  failure_ = cause;
  failed_.store(true, std::memory_order_release);
  count_failure();
}

PointState SemaphoreImpl::evaluate(uint64_t value) const {
  if (value_.load(std::memory_order_acquire) >= value) return PointState::kReached;
  settle();
  if (value_.load(std::memory_order_acquire) >= value) return PointState::kReached;
  return failed_.load(std::memory_order_acquire) ? PointState::kFailed : PointState::kPending;
}

Status SemaphoreImpl::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

QueuePoint SemaphoreImpl::point_for(uint64_t value, const QueueCore* own) const {
  QueuePoint found;
  visit_points([&](const TimelinePoint& point) {
    if (point.value < value) return;
    if (point.at.core != own && (point.value != value || found.core != nullptr)) return;
    if (point.at.core->state_of(point.at.index) == PointState::kFailed) return;
    found = point.at;
  });
  return found;
}

bool SemaphoreImpl::is_coming(uint64_t value) const {
  bool coming = false;
  visit_points([&](const TimelinePoint& point) {
    coming |=
        point.value >= value && point.at.core->state_of(point.at.index) != PointState::kFailed;
  });
  return coming;
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
  raise(value);
  device().progress();
}

void SemaphoreImpl::fail_with(const Status& cause) {
  settle();
  {
    const std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    failure_ = cause;
    failed_.store(true, std::memory_order_release);
    count_failure();
  }
  device().progress();
}

Status SemaphoreImpl::do_query(uint64_t* value) const {
  settle();
  if (failed_.load(std::memory_order_acquire)) return failure();
  *value = value_.load(std::memory_order_acquire);
  device().host_observed();
  return {};
}

Status SemaphoreImpl::do_signal(uint64_t value) {
  settle();
  uint64_t pending = UINT64_MAX;
  visit_points([&](const TimelinePoint& point) { pending = std::min(pending, point.value); });
  {
    const std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return failure_;
    const uint64_t current = value_.load(std::memory_order_acquire);
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
  device().progress();
  return {};
}

Status SemaphoreImpl::do_wait(uint64_t value, Deadline deadline) const {
  const PointState state = device().wait_until([&] { return evaluate(value); }, deadline);
  if (state == PointState::kReached) [[likely]]
    return {};
  if (state == PointState::kFailed) return failure();
  return error(StatusCode::kDeadlineExceeded,
               "The semaphore does not reach the value ({}) before the deadline; it has {}.", value,
               value_.load(std::memory_order_acquire));
}

void SemaphoreImpl::do_fail(const Status& cause) {
  fail_with(cause);
}

}  // namespace halyard::amdgpu
