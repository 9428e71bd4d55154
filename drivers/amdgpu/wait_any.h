// Waiting for one of several signals, on every release of the HSA runtime.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/amdgpu/hsa.h"

namespace halyard::amdgpu {

// As many of each, at least one.
struct SignalConditions {
  std::vector<hsa_signal_t>& signals;
  std::vector<hsa_signal_condition_t>& conditions;
  std::vector<hsa_signal_value_t>& values;
};

// Sleeps until a condition holds, or so many ticks of the HSA clock have passed (UINT64_MAX: for
// ever). It may return earlier, so that the caller looks again.
void wait_any(const Hsa& hsa, const SignalConditions& of, uint64_t timeout_ticks,
              uint64_t ticks_per_ms);

}  // namespace halyard::amdgpu
