// How fast the virtual GPU's engine is: wave-instructions per second by class, and whole kernels
// against the same kernels compiled for the host.
//
// CPU time is measured, not wall-clock time, so that a busy machine matters little; a ratio is of
// medians of one run.

#include "benchmarks/vgpu.h"

#include <benchmark/benchmark.h>

#include <string_view>
#include <vector>

namespace {

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
  add_class_benchmarks(options);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
