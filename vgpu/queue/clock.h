// The GPU's clock: time stamps of signals and SDMA, s_memrealtime, hsaKmtGetClockCounters.
#pragma once

#include <time.h>

#include <cstdint>

namespace halyard::vgpu::queue {

// CLOCK_MONOTONIC in units of 1/hz seconds. Copies of one rate agree everywhere in the process.
class Clock {
 public:
  explicit Clock(uint64_t hz = 100000000) : hz_(hz) {}

  uint64_t now() const {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const auto seconds = static_cast<uint64_t>(time.tv_sec);
    const auto nanoseconds = static_cast<uint64_t>(time.tv_nsec);
    return seconds * hz_ + nanoseconds * hz_ / 1000000000;
  }
  uint64_t hz() const { return hz_; }

 private:
  uint64_t hz_;
};

}  // namespace halyard::vgpu::queue
