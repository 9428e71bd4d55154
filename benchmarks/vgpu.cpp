// How fast the virtual GPU's engine is: wave-instructions per second by class, and whole kernels
// against the same kernels compiled for the host.
//
// Whatever is measured is compared first with what it is to compute: a class with a second model of
// the instructions, a kernel with the host's results.
//
// CPU time is measured, so that a busy machine matters little, but for what a second core is worth,
// which is of wall-clock time and wants an idle machine. A ratio is of medians of one run.

#include "benchmarks/vgpu.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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
    "halyard-bench-vgpu [--smoke] [--against=PATH [--rounds=N]] [google-benchmark's options]\n"
    "  --smoke   only show that everything runs: tiny sizes, one iteration\n"
    "  --against=PATH   measure this build and another one's halyard-bench-vgpu in turn, and "
    "print\n"
    "            CPU time of both for each class (for one wave-instruction) and kernel (for a "
    "run),\n"
    "            medians and their ratio; exits with 1 if a result differs\n"
    "  --rounds=N   of --against: how often each is measured, by processes of its own; 9\n"
    "  --benchmark_filter=REGEX   e.g. class/valu, /chain or kernel/\n"
    "  --serve   what --against starts: measure what standard input names, a name on a line\n"
    "Whatever is measured is compared first: classes with a second model of the instructions,\n"
    "kernels with the host's.\n";

// The value of "--name=value", if `argument` is that.
bool has_value(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name)) return false;
  value = argument.substr(name.size());
  return true;
}

void register_one(const halyard::bench::Benchmark& one) {
  auto* const added =
      benchmark::RegisterBenchmark(one.name.c_str(), [&one](benchmark::State& state) {
        const auto subject = one.make();
        for (auto _ : state) subject->run();
        if (subject->instructions() == 0) return;
        state.counters["inst"] =
            benchmark::Counter(subject->instructions() * static_cast<double>(state.iterations()),
                               benchmark::Counter::kIsRate);
      });
  added->Unit(benchmark::kMillisecond);
  // What all threads use; iterations by the clock on the wall, which is to be compared.
  if (one.every_core) added->MeasureProcessCPUTime()->UseRealTime();
}

}  // namespace

uint64_t halyard::bench::digest_of(const void* bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t n = 0; n < count; ++n)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[n]) * 0x100000001b3;
  return hash;
}

int main(int argc, char** argv) {
  using namespace halyard::bench;
  VgpuOptions options;
  Comparison comparison;
  bool serves = false;
  std::vector<char*> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      std::fwrite(kHelp.data(), 1, kHelp.size(), stdout);
      return 0;
    }
    std::string rounds;
    if (has_value(argument, "--rounds=", rounds)) {
      char* end = nullptr;
      const unsigned long count = std::strtoul(rounds.c_str(), &end, 10);
      if (count == 0 || count > 1000 || *end != 0) {
        std::fprintf(stderr, "halyard-bench-vgpu: --rounds (%s) is no number from 1 to 1000.\n",
                     rounds.c_str());
        return 1;
      }
      comparison.rounds = static_cast<unsigned>(count);
      continue;
    }
    if (has_value(argument, "--against=", comparison.other)) continue;
    if (argument == "--serve") {
      serves = true;
    } else if (argument == "--smoke") {
      options.smoke = true;
    } else {
      has_value(argument, "--benchmark_filter=", comparison.filter);
      arguments.push_back(argv[i]);
    }
  }
  std::vector<Benchmark> benchmarks;
  add_class_benchmarks(benchmarks, options);
  add_kernel_benchmarks(benchmarks, options);
  if (serves) return serve(benchmarks);
  if (!comparison.other.empty()) return compare_builds(comparison);
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
  for (const Benchmark& one : benchmarks) register_one(one);
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (!options.smoke) reporter.summarise();
  return 0;
}
