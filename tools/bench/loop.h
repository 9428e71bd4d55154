// A loop: one operation on one API, again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halyard::bench {

// The columns of the table.
inline constexpr const char* kAmdgpu = "amdgpu";  // Halyard, by driver
inline constexpr const char* kHipDriver = "hip";
inline constexpr const char* kBareHsa = "HSA";
inline constexpr const char* kBareHip = "HIP";

// Rows with loops on several APIs, in separate files.
inline constexpr const char* kSubmit = "submission, burst";
inline constexpr const char* kSubmitSustained = "submission, sustained";
inline constexpr const char* kReplay = "replay of 1,000, a launch";
inline constexpr const char* kReplayRebind = "replay with other bindings";
inline constexpr const char* kLaunchAndWait = "launch and wait";
inline constexpr const char* kTwoQueues = "two queues, a round";
inline constexpr const char* kEdges = "launch that another queue waits for";
inline constexpr const char* kTwoGpus = "two GPUs, a round";
inline constexpr const char* kPool = "allocate and free in a queue";

struct Loop {
  std::string name;    // of this loop alone: "bare_burst"
  std::string row;     // what it measures, the same on each API; empty: only for the goals
  std::string column;  // the API
  uint64_t bytes = 0;  // that one operation moves; 0: none
  // Does so many operations; the time of one, in nanoseconds. This and the functions below throw
  // Failure.
  std::function<double(uint64_t iterations)> run;
  // Before and after each repetition: destroys old results, and looks at the new ones.
  std::function<void()> prepare = {};
  std::function<void()> check = {};
};
using Loops = std::vector<Loop>;

}  // namespace halyard::bench
