// The results: medians, and how they compare with the goals.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace halyard::bench {

// Shows the medians, and keeps each repetition's time.
class Reporter final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;
  // Nanoseconds; 0 if it has not run.
  double median(const std::string& name) const;

 private:
  std::map<std::string, std::vector<double>> times_;
};

// Prints a line for each comparison of which both sides have run.
void summarise(const Reporter& reporter);

}  // namespace halyard::bench
