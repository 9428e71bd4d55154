#include "hal/semaphore.h"

namespace halyard {

Result<uint64_t> Semaphore::query() const {
  uint64_t value = 0;
  HALYARD_RETURN_IF_ERROR(do_query(&value));
  return value;
}

// Whether `value` is above the current one only the driver can say without a race.
Status Semaphore::signal(uint64_t value) {
  return do_signal(value);
}

Status Semaphore::wait(uint64_t value, Deadline deadline) const {
  return do_wait(value, deadline);
}

void Semaphore::fail(const Status& cause) {
  if (cause.ok()) {
    do_fail(Status(StatusCode::kInternal,
                   "A semaphore is failed with a status that is OK; its cause is not known."));
    return;
  }
  do_fail(cause);
}

}  // namespace halyard
