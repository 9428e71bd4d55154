// Runs loops in many short repetitions, which are taken in random order: what disturbs the machine
// then disturbs all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/loop.h"

namespace halyard::bench {

struct MeasureOptions {
  uint32_t repetitions = 15;    // of each loop, at least 1
  double least_seconds = 0.03;  // that a repetition takes; 0: one iteration
  // Whether results are looked at: not on a device that executes nothing.
  bool checks = true;
  // Called before each repetition, with how many are done out of how many.
  std::function<void(size_t done, size_t all)> progress = {};
};

struct Measurement {
  std::string name, row, column;  // Loop's
  uint64_t bytes = 0;
  uint64_t iterations = 0;    // in a repetition
  std::vector<double> times;  // ns of one operation, one for each repetition, sorted
  bool checked = false;       // the results of each repetition were right
  std::string error;          // why the loop has ended early, or nothing

  double median() const;  // 0 if there is no time
};

// As many as loops, in their order.
std::vector<Measurement> measure(const Loops& loops, const MeasureOptions& options);

}  // namespace halyard::bench
