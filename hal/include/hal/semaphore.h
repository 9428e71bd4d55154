// Semaphore: a timeline, a 64-bit value that only grows.
//
// Work waits until a semaphore reaches a value, and sets it to a value when it is done. So does the
// host. A semaphore fails permanently when work that was to signal it fails: every wait for a value
// that was not reached before then returns the first failure, with its message.
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
  // Signals from the host. `value` is above the current one, and below every value that queued work
  // will signal: INVALID_ARGUMENT otherwise. Returns the failure if the semaphore has failed.
  Status signal(uint64_t value);
  // Returns as soon as `value` is reached, even if other signals are pending. DEADLINE_EXCEEDED if
  // the deadline passes first; the failure if the value can no longer be reached. The work
  // continues after the deadline; fail() gives up the semaphore, and Queue::abandon the work.
  Status wait(uint64_t value, Deadline deadline = Deadline::infinite()) const;
  // Fails the semaphore with `cause`, which is not OK. Only the first failure counts.
  void fail(const Status& cause);

 protected:
  Semaphore() noexcept = default;  // by the driver SDK
  ~Semaphore() = default;
};

}  // namespace halyard
