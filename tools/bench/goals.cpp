#include "tools/bench/goals.h"

#include <fmt/format.h>
#include <sched.h>

#include <string_view>

namespace halyard::bench {

namespace {

// A line of the summary: the measurement, the base of its comparison, and whether the goal is
// met.
struct Comparison {
  const char* what;
  const char* base_name;
  const char* base;
  const char* name;
  const char* measured;
  double most = 0;   // the goal: at most this ratio; 0: none
  double least = 0;  // the goal: at least so many times as fast; 0: none
};

constexpr Comparison kComparisons[] = {
    {"dispatch, burst", "bare HSA", "bare_burst", "amdgpu", "halyard_burst", 1.3},
    {"… described anew each time", "bare HSA", "bare_burst", "amdgpu", "halyard_built_burst", 1.3},
    {"… without validation", "bare HSA", "bare_burst", "amdgpu", "halyard_unvalidated_burst"},
    {"… against a loop that remembers the read index", "bare HSA", "bare_remembering_burst",
     "amdgpu", "halyard_burst"},
    {"dispatch, sustained", "bare HSA", "bare", "amdgpu", "halyard", 1.3},
    {"… without validation", "bare HSA", "bare", "amdgpu", "halyard_unvalidated"},
    {"… that signals a semaphore", "bare HSA", "bare", "amdgpu", "halyard_signalling"},
    {"replay of 1,000, burst, a dispatch", "bare HSA", "bare_burst", "amdgpu", "replay_burst", 0.5},
    {"… with other bindings", "bare HSA", "bare_burst", "amdgpu", "replay_rebind_burst", 0.5},
    {"replay of 1,000, sustained, a dispatch", "bare HSA", "bare", "amdgpu", "replay", 0.5},
    {"… with other bindings", "bare HSA", "bare", "amdgpu", "replay_rebind", 0.5},
    {"… with other bindings, and wait", "bare HSA", "bare", "amdgpu", "replay_and_wait"},
    {"launch and wait", "bare HSA", "bare_and_wait", "amdgpu", "halyard_and_wait"},
    {"two queues, a round", "bare HSA", "bare_two_queues", "amdgpu", "halyard_two_queues"},
    {"a dispatch, and one on another queue that waits for it", "one that signals",
     "halyard_signalling", "amdgpu", "halyard_edges"},
    {"launch, burst", "bare HIP", "hip_burst", "amdgpu", "halyard_burst", 0, 7},
    {"launch, sustained", "bare HIP", "hip", "amdgpu", "halyard", 0, 7},
    {"launch and wait", "bare HIP", "hip_and_wait", "amdgpu", "halyard_and_wait", 0.5},
    {"two queues, a round", "bare HIP", "hip_two_queues", "amdgpu", "halyard_two_queues"},
    {"default stream alternating with two blocking ones, a round", "non-blocking streams",
     "hip_non_blocking_rounds", "bare HIP", "hip_default_stream_rounds", 3},
    {"graph of 1,000, burst, a kernel", "bare HIP launch", "hip_burst", "bare HIP graph",
     "hip_graph"},
    {"graph or replay of 1,000, burst", "bare HIP graph", "hip_graph", "amdgpu", "replay_burst"},
    {"launch, burst", "bare HIP", "hip_burst", "driver hip", "hip_driver_burst", 1.1},
    {"… against bursts that end with an event that is asked for", "bare HIP", "hip_asking_burst",
     "driver hip", "hip_driver_burst"},
    {"… and wait, a launch", "bare HIP", "hip_burst_and_wait", "driver hip",
     "hip_driver_burst_and_wait", 1.1},
    {"launch, sustained", "bare HIP", "hip", "driver hip", "hip_driver", 1.1},
    {"… against launches with an event behind every 256", "bare HIP", "hip_recording", "driver hip",
     "hip_driver"},
    {"replay of 1,000, burst, a launch", "bare HIP", "hip_burst", "driver hip", "hip_driver_replay",
     1.1},
    {"… with other bindings", "bare HIP", "hip_burst", "driver hip", "hip_driver_replay_rebind",
     1.1},
    {"… against a graph", "bare HIP graph", "hip_graph", "driver hip", "hip_driver_replay"},
    {"launch and wait", "bare HIP", "hip_and_wait", "driver hip", "hip_driver_and_wait", 1.5},
    {"… against an event that is asked for", "bare HIP", "hip_and_ask", "driver hip",
     "hip_driver_and_wait"},
    {"two queues, a round", "bare HIP", "hip_two_queues", "driver hip", "hip_driver_two_queues",
     1.1},
    {"a signal by the host, with a barrier that waits for 16,000 points", "amdgpu, for 16",
     "halyard_signals_of_16", "amdgpu", "halyard_signals_of_16000", 3},
    {"a signal by the host, with a barrier that waits for 16,000 points", "driver hip, for 16",
     "hip_driver_signals_of_16", "driver hip", "hip_driver_signals_of_16000", 3},
};

// Nanoseconds; 0 if it has not run.
double median_of(const std::vector<Measurement>& measurements, std::string_view name) {
  for (const Measurement& one : measurements) {
    if (one.name == name) return one.median();
  }
  return 0;
}

std::string to_text(const std::vector<Measurement>& measurements, const Comparison& c) {
  const double base = median_of(measurements, c.base);
  const double measured = median_of(measurements, c.measured);
  if (base <= 0 || measured <= 0) return {};
  const double ratio = measured / base;
  std::string text = fmt::format("{}: {} {:.1f} ns, {} {:.1f} ns, ratio {:.3f}", c.what,
                                 c.base_name, base, c.name, measured, ratio);
  if (c.most > 0)
    text += fmt::format(" (goal <= {:.1f}: {})", c.most, ratio <= c.most ? "met" : "MISSED");
  if (c.least > 0) {
    text += fmt::format(" (goal: {:.0f} times as fast, is {:.1f}: {})", c.least, 1 / ratio,
                        1 / ratio >= c.least ? "met" : "MISSED");
  }
  return text + "\n";
}

// What a small container has: all of the process's threads share one processor.
std::string on_one_processor(const std::vector<Measurement>& measurements) {
  constexpr double kMost = 50000;  // ns
  cpu_set_t set;
  const double measured = median_of(measurements, "hip_and_wait");
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1 || measured <= 0)
    return {};
  return fmt::format("launch and wait, on one processor: bare HIP {:.1f} ns (goal <= {:.0f}: {})\n",
                     measured, kMost, measured <= kMost ? "met" : "MISSED");
}

}  // namespace

std::string compare_with_goals(const std::vector<Measurement>& measurements) {
  std::string text;
  for (const Comparison& comparison : kComparisons) text += to_text(measurements, comparison);
  return text + on_one_processor(measurements);
}

}  // namespace halyard::bench
