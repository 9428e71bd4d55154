// Semaphore: a timeline, a 64-bit value that only grows.
//
// Work waits until a semaphore has reached a value, and makes it reach one when it is done. So does
// the host. A semaphore fails for good when work that was to signal it fails: everybody who waits
// for a value that was not reached before gets the first failure, with its message.
#pragma once

#include <cstdint>

#include "hal/object.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class Device;
class Semaphore;

struct SemaphorePoint {
  Semaphore* semaphore = nullptr;
  uint64_t value = 0;
};

// Any thread may use any method.
class Semaphore : public Object<HalyardSemaphore> {
 public:
  Device& device() const noexcept;

  // The value reached so far, or the failure.
  Result<uint64_t> query() const;
  // From the host. `value` is above the current one, and below any that queued work will signal
  // later: INVALID_ARGUMENT otherwise. Returns the failure if the semaphore has failed.
  Status signal(uint64_t value);
  // Returns as soon as `value` is reached, whatever else is pending. DEADLINE_EXCEEDED if that is
  // not before the deadline; the failure if the value can no more be reached. What was waited for
  // goes on after the deadline; fail() gives the semaphore up, and Queue::abandon the work.
  Status wait(uint64_t value, Deadline deadline = Deadline::infinite()) const;
  // Fails the semaphore with `cause`, which is not OK. Only the first failure counts.
  void fail(const Status& cause);

 protected:
  Semaphore() noexcept = default;  // by the driver SDK
  ~Semaphore() = default;
};

}  // namespace halyard
