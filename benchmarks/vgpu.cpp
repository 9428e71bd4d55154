// How fast the virtual GPU's engine is: wave-instructions per second by class, and whole kernels
// against the same kernels compiled for the host.
//
// CPU time is measured, so that a busy machine matters little, but for what a second core is worth,
// which is of wall-clock time and wants an idle machine. A ratio is of medians of one run.

#include "benchmarks/vgpu.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/run_failed.h"
#include "vgpu/isa/simd.h"

namespace {

// The console's output, and the times of whole kernels for the summary.
class Reporter : public benchmark::ConsoleReporter {
 public:
  Reporter() : ConsoleReporter(isatty(STDOUT_FILENO) != 0 ? OO_Defaults : OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || halyard::bench::run_failed(run)) continue;
      times_[run.run_name.function_name].push_back(
          {run.GetAdjustedCPUTime(), run.GetAdjustedRealTime()});
    }
    ConsoleReporter::ReportRuns(runs);
  }

  void summarise() const {
    constexpr std::string_view kSuffix = "/vgpu";
    for (const auto& [name, times] : times_) {
      if (!name.ends_with(kSuffix)) continue;
      const std::string kernel = name.substr(0, name.size() - kSuffix.size());
      const auto host = times_.find(kernel + "/host");
      if (host == times_.end()) continue;
      std::printf("%-24s %8.1f times the host's CPU time", kernel.c_str(),
                  median(times, &Times::cpu) / median(host->second, &Times::cpu));
      const auto every_core = times_.find(name + "_every_core");
      if (every_core != times_.end()) {
        std::printf("; %.2f times as fast on every core",
                    median(times, &Times::real) / median(every_core->second, &Times::real));
      }
      std::printf("\n");
    }
  }

 private:
  struct Times {
    double cpu, real;
  };
  static double median(std::vector<Times> values, double Times::* which) {
    std::sort(values.begin(), values.end(),
              [&](const Times& a, const Times& b) { return a.*which < b.*which; });
    return values[values.size() / 2].*which;
  }
  std::map<std::string, std::vector<Times>> times_;
};

constexpr std::string_view kHelp =
    "halyard-bench-vgpu [--smoke] [google-benchmark's options]\n"
    "  --smoke   only show that everything runs: tiny sizes, one iteration, results checked\n"
    "  --benchmark_filter=REGEX   e.g. class/valu or kernel/\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace halyard::bench;
  VgpuOptions options;
  std::vector<char*> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      std::fwrite(kHelp.data(), 1, kHelp.size(), stdout);
      return 0;
    }
    if (argument == "--smoke") {
      options.smoke = true;
    } else {
      arguments.push_back(argv[i]);
    }
  }
  std::string once = "--benchmark_min_time=0";
  std::string repetitions = "--benchmark_repetitions=1";
  if (options.smoke) {
    arguments.push_back(once.data());
    arguments.push_back(repetitions.data());
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  std::printf("build of the handlers: %s\n", halyard::vgpu::isa::simd_build().name);
  add_class_benchmarks(options);
  add_kernel_benchmarks(options);
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (!options.smoke) reporter.summarise();
  return 0;
}
