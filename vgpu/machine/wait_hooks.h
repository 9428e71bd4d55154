// HIP waits for a GPU by looking at a signal without a pause (hip_context.cpp: SetActiveWait(true)
// for every device), because the GPU does not need the core that it looks on. The virtual GPU does:
// half of a process's time would go into the looks. The hint of an HSA wait says no more than how
// long it is expected to take, so hooks in the runtime's tools interface (runtime_hooks.cpp) let
// waits sleep after a while: until the signal's event, or, of a signal without one, again and again
// for a part of the time that the wait has taken.
#pragma once

#include <cstdint>

#include "vgpu/machine/api_table.h"

namespace halyard::vgpu::machine {

// Puts functions into the runtime's table. Once for each table, before the runtime is used.
void let_waits_sleep(HsaApiTable& table);

// How long a wait that has taken so long sleeps before it looks again; 0: it looks on.
constexpr uint64_t nap_ns(uint64_t waited_ns) {
  constexpr uint64_t kLook = 200000;  // as long as the runtime looks before it sleeps
  constexpr uint64_t kShortest = 50000;
  constexpr uint64_t kLongest = 1000000;
  if (waited_ns < kLook) return 0;
  const uint64_t part = waited_ns / 16;
  return part < kShortest ? kShortest : part > kLongest ? kLongest : part;
}

}  // namespace halyard::vgpu::machine
