// How a submission waits for one semaphore point. A pure function over what is known of the point.
#pragma once

#include <cstdint>

namespace halyard {

enum class WaitAction : uint8_t {
  kNone,    // nothing to do: it is reached, or the queue's order sees to it
  kDevice,  // the device waits in front of the operation
  kHost,    // the operation is held back until the device can wait, or the point is reached
  kFail,    // the point can no more be reached: the operation fails
};

struct WaitFacts {
  bool reached = false;
  bool failed = false;
  // Work that will reach the point, and not a later one, is on some queue of the device's.
  bool submitted = false;
  // … or work that will reach a later point, on the queue that the operation goes to.
  bool same_queue = false;
  // The queue can wait for that work on the device.
  bool on_device = false;
  // The operation cannot be submitted now anyway: something before it is held back.
  bool behind_held_back = false;
};

constexpr WaitAction plan_wait(const WaitFacts& facts) {
  if (facts.reached) return WaitAction::kNone;
  if (facts.failed) return WaitAction::kFail;
  if (!facts.submitted) return WaitAction::kHost;
  // The work of a queue completes in order.
  if (facts.same_queue) return WaitAction::kNone;
  if (facts.behind_held_back) return WaitAction::kHost;
  if (facts.on_device) return WaitAction::kDevice;
  return WaitAction::kHost;
}

}  // namespace halyard
