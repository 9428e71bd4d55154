// The host's clock.
#pragma once

#include <cstdint>

#include "hal/types.h"

namespace halyard {

// CLOCK_MONOTONIC, in nanoseconds.
inline uint64_t now_ns() {
  return Deadline::after_ns(0).monotonic_ns;
}

}  // namespace halyard
