// How a submission waits for one semaphore point. A pure function over what is known of the point.
#pragma once

#include <cstdint>

namespace halyard::hip {

enum class WaitAction : uint8_t {
  kNone,   // nothing to do: it is reached, or the stream's order sees to it
  kEvent,  // the stream waits for an event of another one
  kHold,   // the operation is held back until the point is submitted, or reached by the host
  kFail,   // the point can no more be reached: the operation fails
};

struct WaitFacts {
  bool reached = false;
  bool failed = false;
  // Work that will reach the point, and not a later one, is on some stream, with an event behind
  // it.
  bool submitted = false;
  // … or work that will reach a later point, on the stream that the operation goes to.
  bool same_stream = false;
};

constexpr WaitAction plan_wait(const WaitFacts& facts) {
  if (facts.reached) return WaitAction::kNone;
  if (facts.failed) return WaitAction::kFail;
  if (!facts.submitted) return WaitAction::kHold;
  return facts.same_stream ? WaitAction::kNone : WaitAction::kEvent;
}

}  // namespace halyard::hip
