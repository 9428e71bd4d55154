// The clocks of a GPU and of the host at one moment (Device::read_clocks), as the HSA runtime tells
// them. Pure but for the functions that it is given.
#pragma once

#include <cstdint>
#include <functional>

#include "hal/device.h"
#include "hal/status.h"

namespace halyard {

// What the runtime has to say. The system's clock is HSA_SYSTEM_INFO_TIMESTAMP (HSA Runtime
// Programmer's Reference 2.3.2, hsa_system_info_t).
struct ClockSource {
  std::function<bool(uint64_t* ticks)> system_now;
  uint64_t system_hz = 0;
  // hsa_amd_profiling_convert_tick_to_system_domain of the GPU.
  std::function<bool(uint64_t device_ticks, uint64_t* system_ticks)> to_system;
  std::function<uint64_t()> host_now_ns;
};

// The runtime converts only from the device's clock, so that the device's time is searched for that
// it converts to the system's. INTERNAL if the runtime does not tell its clocks, or there is no
// such time.
Status read_clocks(const ClockSource& source, ClockReading* reading);

// From the system's clock to CLOCK_MONOTONIC, as the two stand to each other when this is made.
class SystemClock {
 public:
  explicit SystemClock(const ClockSource& source);
  uint64_t to_host_ns(uint64_t system_ticks) const {
    return static_cast<uint64_t>(in_ns(system_ticks) + offset_ns_);
  }

 private:
  int64_t in_ns(uint64_t ticks) const {
    return static_cast<int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

  double ns_per_tick_ = 1;
  int64_t offset_ns_ = 0;
};

}  // namespace halyard
