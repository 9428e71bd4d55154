#include "semaphore.h"

#include "device.h"
#include "hal/error.h"

namespace host_memory {

using halyard::error;
using halyard::Status;
using halyard::StatusCode;

Timelines& timelines() {
  static Timelines* const shared = new Timelines;
  return *shared;
}

HostMemorySemaphore::HostMemorySemaphore(HostMemoryDevice& device, uint64_t initial_value)
    : SemaphoreBase(device),
      owner_(halyard::Ref<halyard::Device>::retain(&device)),
      value_(initial_value) {}

void HostMemorySemaphore::destroy() noexcept {
  delete this;
}

bool HostMemorySemaphore::settled(uint64_t value, Status* outcome) const {
  if (value_ >= value) return true;
  if (failure_.ok()) return false;
  *outcome = failure_;
  return true;
}

void HostMemorySemaphore::advance(uint64_t value) {
  {
    const std::lock_guard lock(timelines().mutex);
    if (failure_.ok() && value > value_) value_ = value;
  }
  timelines().changed.notify_all();
}

Status HostMemorySemaphore::do_query(uint64_t* value) const {
  const std::lock_guard lock(timelines().mutex);
  *value = value_;
  return failure_;
}

Status HostMemorySemaphore::do_signal(uint64_t value) {
  {
    const std::lock_guard lock(timelines().mutex);
    if (!failure_.ok()) return failure_;
    if (value <= value_) {
      return error(StatusCode::kInvalidArgument,
                   "Semaphore::signal is given a value ({}) that is not above the current one "
                   "({}). A timeline only grows.",
                   value, value_);
    }
    value_ = value;
  }
  timelines().changed.notify_all();
  return {};
}

Status HostMemorySemaphore::do_wait(uint64_t value, halyard::Deadline deadline) const {
  Status outcome;
  std::unique_lock lock(timelines().mutex);
  if (timelines().wait(lock, deadline, [&] { return settled(value, &outcome); })) return outcome;
  return error(StatusCode::kDeadlineExceeded,
               "The semaphore is at {} and has not reached {} before the deadline.", value_, value);
}

void HostMemorySemaphore::do_fail(const Status& cause) {
  {
    const std::lock_guard lock(timelines().mutex);
    if (failure_.ok()) failure_ = cause;
  }
  timelines().changed.notify_all();
}

}  // namespace host_memory
