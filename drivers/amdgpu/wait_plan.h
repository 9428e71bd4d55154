// How a submission waits for one semaphore point. A pure function over what is known of the point.
#pragma once

#include <cstdint>
#include <string_view>

namespace halyard::amdgpu {

enum class WaitAction : uint8_t {
  kNone,    // nothing to do: it is reached, or the queue's order sees to it
  kDevice,  // a packet in front of the operation waits
  kHost,    // the operation is held back until the host has seen the point reached
  kFail,    // the point can no more be reached: the operation fails
};

struct WaitFacts {
  bool reached = false;
  bool failed = false;
  // A packet that will reach the point, and not a later one, is in some queue's ring.
  bool submitted = false;
  // … or one that will reach a later point, in the ring of the queue that the operation goes to.
  bool same_queue = false;
  // The packet processor can wait for it: it has the barrier-value packet, or there is an edge.
  bool on_device = false;
  // The operation cannot go into the ring now anyway: something before it is held back.
  bool behind_held_back = false;
};

constexpr WaitAction plan_wait(const WaitFacts& facts) {
  if (facts.reached) return WaitAction::kNone;
  if (facts.failed) return WaitAction::kFail;
  if (!facts.submitted) return WaitAction::kHost;
  // Packets of a queue complete in order, so whatever is in the ring is done before what follows.
  if (facts.same_queue) return WaitAction::kNone;
  if (facts.behind_held_back) return WaitAction::kHost;
  if (facts.on_device) return WaitAction::kDevice;
  return WaitAction::kHost;
}

// Whether the packet processor of a GPU takes AMD's barrier-value packet (hsa_ext_amd.h). What the
// vendor's own runtime relies on (ROCclr 5.2.3, aqlBarrierValue_): gfx900, gfx904, gfx908, gfx90a.
// `processor` without features.
constexpr bool has_barrier_value(std::string_view processor) {
  return processor == "gfx900" || processor == "gfx904" || processor == "gfx908" ||
         processor == "gfx90a";
}

}  // namespace halyard::amdgpu
