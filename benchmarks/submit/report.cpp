#include "benchmarks/submit/report.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>

namespace halyard::bench {

namespace {

// A line of the summary: what was measured, against what it is compared with, and whether the goal
// is met.
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
    {"launch and wait", "bare HIP", "hip_and_wait", "driver hip", "hip_driver_and_wait", 1.1},
    {"… against an event that is asked for", "bare HIP", "hip_and_ask", "driver hip",
     "hip_driver_and_wait"},
    {"two queues, a round", "bare HIP", "hip_two_queues", "driver hip", "hip_driver_two_queues",
     1.1},
    {"a signal by the host, with a barrier that waits for 16,000 points", "amdgpu, for 16",
     "halyard_signals_of_16", "amdgpu", "halyard_signals_of_16000", 3},
    {"a signal by the host, with a barrier that waits for 16,000 points", "driver hip, for 16",
     "hip_driver_signals_of_16", "driver hip", "hip_driver_signals_of_16000", 3},
};

void compare(const Reporter& reporter, const Comparison& c) {
  const double base = reporter.median(c.base);
  const double measured = reporter.median(c.measured);
  if (base <= 0 || measured <= 0) return;
  const double ratio = measured / base;
  std::printf("%s: %s %.1f ns, %s %.1f ns, ratio %.3f", c.what, c.base_name, base, c.name, measured,
              ratio);
  if (c.most > 0) std::printf(" (goal <= %.1f: %s)", c.most, ratio <= c.most ? "met" : "MISSED");
  if (c.least > 0) {
    std::printf(" (goal: %.0f times as fast, is %.1f: %s)", c.least, 1 / ratio,
                1 / ratio >= c.least ? "met" : "MISSED");
  }
  std::printf("\n");
}

// What a small container has: all of the process's threads share one processor.
void judge_on_one_processor(const Reporter& reporter) {
  constexpr double kMost = 50000;  // ns
  cpu_set_t set;
  const double measured = reporter.median("hip_and_wait");
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1 || measured <= 0) return;
  std::printf("launch and wait, on one processor: bare HIP %.1f ns (goal <= %.0f: %s)\n", measured,
              kMost, measured <= kMost ? "met" : "MISSED");
}

}  // namespace

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> shown;
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) {
      if (run.aggregate_name == "median") shown.push_back(run);
      continue;
    }
    if (!run.error_occurred) {
      times_[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
    }
  }
  ConsoleReporter::ReportRuns(shown);
}

double Reporter::median(const std::string& name) const {
  const auto found = times_.find(name);
  if (found == times_.end()) return 0;
  std::vector<double> times = found->second;
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[times.size() / 2];
}

void summarise(const Reporter& reporter) {
  for (const Comparison& comparison : kComparisons) compare(reporter, comparison);
  judge_on_one_processor(reporter);
}

}  // namespace halyard::bench
