#include "drivers/amdgpu/semaphore.h"

#include <algorithm>

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

// The acquire loads keep the second look at the tag behind them; a writer makes the tag busy before
// it touches the rest (its stores release).
bool SemaphoreImpl::read(const Slot& slot, uint64_t* tag, Point* point) {
  *tag = slot.tag.load(std::memory_order_acquire);
  if ((*tag & kTagMask) != kReady) return false;
  point->at.core = slot.core.load(std::memory_order_acquire);
  point->at.index = slot.index.load(std::memory_order_acquire);
  point->value = slot.value.load(std::memory_order_acquire);
  return slot.tag.load(std::memory_order_relaxed) == *tag;
}

void SemaphoreImpl::add_point(uint64_t value, const QueuePoint& point) {
  const uint32_t start = next_.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < kInlinePoints; ++i) {
    Slot& slot = slots_[(start + i) % kInlinePoints];
    uint64_t tag = 0;
    Point old;
    uint64_t busy = 0;
    if (read(slot, &tag, &old)) {
      // Done with: make it count, and take the slot over.
      if (old.at.core->state_of(old.at.index) != PointState::kReached) continue;
      raise(old.value);
      busy = (tag & ~uint64_t{kTagMask}) + 4 + kBusy;
    } else {
      if ((tag & kTagMask) != kFree) continue;
      busy = tag + kBusy;
    }
    if (!slot.tag.compare_exchange_strong(tag, busy, std::memory_order_acq_rel)) continue;
    slot.core.store(point.core, std::memory_order_release);
    slot.index.store(point.index, std::memory_order_release);
    slot.value.store(value, std::memory_order_release);
    slot.tag.store(busy - kBusy + kReady, std::memory_order_release);
    return;
  }
  const std::lock_guard lock(mutex_);
  overflow_.push_back({value, point});
  overflow_count_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_release);
}

void SemaphoreImpl::raise(uint64_t value) const {
  // What is reached after the failure does not count: nobody could tell it from what was not.
  if (failed_.load(std::memory_order_acquire)) return;
  uint64_t known = value_.load(std::memory_order_relaxed);
  while (known < value && !value_.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
}

// Calls visit(point, index of its slot or -1, tag). A point that is resolved while we look may be
// missed: then its value has been raised.
template <typename Visit>
void SemaphoreImpl::visit_points(Visit visit) const {
  for (size_t i = 0; i < kInlinePoints; ++i) {
    uint64_t tag = 0;
    Point point;
    if (read(slots_[i], &tag, &point)) visit(point, static_cast<int>(i), tag);
  }
  if (overflow_count_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
  for (const Point& point : overflow_) visit(point, -1, uint64_t{0});
}

// Raises the value to what queues have reached, frees those points, and takes over the failure of a
// queue that will not reach one. Reached points first: they were before the failure.
void SemaphoreImpl::settle() const {
  const QueueCore* broken = nullptr;
  visit_points([&](const Point& point, int slot, uint64_t tag) {
    const PointState state = point.at.core->state_of(point.at.index);
    if (state == PointState::kFailed) broken = point.at.core;
    if (state != PointState::kReached) return;
    raise(point.value);
    if (slot < 0) return;
    // Release: whoever reuses the slot comes after the raise.
    uint64_t expected = tag;
    slots_[static_cast<size_t>(slot)].tag.compare_exchange_strong(
        expected, (tag & ~uint64_t{kTagMask}) + 4 + kFree, std::memory_order_acq_rel);
  });
  if (overflow_count_.load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(mutex_);
    std::erase_if(overflow_, [&](const Point& point) {
      if (point.at.core->state_of(point.at.index) != PointState::kReached) return false;
      raise(point.value);
      return true;
    });
    overflow_count_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_release);
  }
  if (broken == nullptr || failed_.load(std::memory_order_acquire)) return;
  const Status cause = broken->fault();
  const std::lock_guard lock(mutex_);
  if (failed_.load(std::memory_order_relaxed)) return;
  failure_ = cause;
  failed_.store(true, std::memory_order_release);
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

QueuePoint SemaphoreImpl::point_for(uint64_t value, const QueueCore* preferred) const {
  QueuePoint best;
  visit_points([&](const Point& point, int, uint64_t) {
    if (point.value < value) return;
    if (point.at.core->state_of(point.at.index) == PointState::kFailed) return;
    if (best.core == nullptr || (best.core != preferred && point.at.core == preferred) ||
        (best.core == point.at.core && point.at.index < best.index)) {
      best = point.at;
    }
  });
  return best;
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
  visit_points(
      [&](const Point& point, int, uint64_t) { pending = std::min(pending, point.value); });
  {
    const std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return failure_;
    for (const uint64_t promised : promises_) pending = std::min(pending, promised);
    const uint64_t current = value_.load(std::memory_order_acquire);
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
