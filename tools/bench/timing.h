// Clocks, and what all loops on submission have in common.
#pragma once

#include <time.h>

#include <cstdint>

namespace halyard::bench {

inline constexpr uint32_t kQueueSize = 1024;  // packets
inline constexpr uint32_t kWorkgroup = 64;
inline constexpr uint32_t kRecorded = 1000;  // dispatches in a command buffer or graph
inline constexpr uint32_t kBurst = kQueueSize / 2;

inline double nanoseconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}
// That this thread has run.
inline double thread_ns() {
  return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}
inline double wall_ns() {
  return nanoseconds(CLOCK_MONOTONIC);
}

// Each of these gives the time of one operation, in nanoseconds.

template <typename One>
double each(uint64_t iterations, One one) {
  const double begin = wall_ns();
  for (uint64_t i = 0; i < iterations; ++i) one();
  return (wall_ns() - begin) / static_cast<double>(iterations);
}

// At the rate of the queue; the rest is waited for and not measured.
template <typename One, typename Drain>
double sustained(uint64_t iterations, One one, Drain drain) {
  const double time = each(iterations, one);
  drain();
  return time;
}

// Of this thread's own CPU time, in which the device has no part. `parts`: operations in one.
template <typename One, typename Drain>
double cpu_of_each(uint64_t iterations, uint32_t parts, One one, Drain drain) {
  double time = 0;
  for (uint64_t i = 0; i < iterations; ++i) {
    const double begin = thread_ns();
    one();
    time += thread_ns() - begin;
    drain();
  }
  return time / static_cast<double>(iterations) / parts;
}

// An iteration is half a queue of operations into an empty queue.
template <typename One, typename Drain>
double burst(uint64_t iterations, One one, Drain drain) {
  const auto many = [&] {
    for (uint32_t i = 0; i < kBurst; ++i) one();
  };
  return cpu_of_each(iterations, kBurst, many, drain);
}

// The same with the wait, which includes the release of the launches' resources.
template <typename One, typename Drain>
double burst_and_wait(uint64_t iterations, One one, Drain drain) {
  const auto many = [&] {
    for (uint32_t i = 0; i < kBurst; ++i) one();
    drain();
  };
  return each(iterations, many) / kBurst;
}

}  // namespace halyard::bench
