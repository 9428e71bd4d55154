// Clocks, and what all loops have in common.
#pragma once

#include <benchmark/benchmark.h>
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

// One iteration is a burst; its time is that of one dispatch, which is what is compared.
template <typename One, typename Drain>
void burst(benchmark::State& state, One one, Drain drain) {
  for (auto _ : state) {
    const double begin = thread_ns();
    for (uint32_t i = 0; i < kBurst; ++i) one();
    state.SetIterationTime((thread_ns() - begin) / kBurst * 1e-9);
    drain();
  }
}

// The same, with the wait: what lets go of what the launches have left behind has a part in it.
template <typename One, typename Drain>
void burst_and_wait(benchmark::State& state, One one, Drain drain) {
  for (auto _ : state) {
    const double begin = wall_ns();
    for (uint32_t i = 0; i < kBurst; ++i) one();
    drain();
    state.SetIterationTime((wall_ns() - begin) / kBurst * 1e-9);
  }
}

// Many short repetitions, taken in random order: what disturbs the machine then disturbs all.
template <typename Function>
void add(const char* name, Function function) {
  benchmark::RegisterBenchmark(name, function)->UseRealTime()->Repetitions(15)->MinTime(0.03);
}
// For loops that set their own time.
template <typename Function>
void add_timed(const char* name, Function function) {
  benchmark::RegisterBenchmark(name, function)->UseManualTime()->Repetitions(15)->Iterations(100);
}

// The same, for those whose iterations take long.
template <typename Function>
void add_few(const char* name, Function function) {
  benchmark::RegisterBenchmark(name, function)->UseManualTime()->Repetitions(15)->Iterations(4);
}

}  // namespace halyard::bench
