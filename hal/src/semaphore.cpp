#include "hal/semaphore.h"

#include "driver_call.h"

namespace halyard {

Result<uint64_t> Semaphore::query() const {
  uint64_t value = 0;
  HALYARD_RETURN_IF_ERROR(internal::call(contract()->functions->query, *this, &value));
  return value;
}

// Whether `value` is above the current one only the driver can say without a race.
Status Semaphore::signal(uint64_t value) {
  return internal::call(contract()->functions->signal, *this, value);
}

Status Semaphore::wait(uint64_t value, Deadline deadline) const {
  return internal::call(contract()->functions->wait, *this, value, deadline);
}

void Semaphore::fail(const Status& cause) {
  if (cause.ok()) {
    fail(Status(StatusCode::kInternal,
                "A semaphore was failed with an OK status, so the cause is unknown."));
    return;
  }
  if (is_fork_of_user()) return;  // the parent's semaphore goes on
  contract()->functions->fail(contract(), cause.contract());
}

}  // namespace halyard
