// What a process pays for the virtual GPU when it starts: the time until programs under `halyard
// vgpu exec` have ended that do nothing, open the HSA runtime, or have done HIP's first work.
//
// Each iteration is a process of its own. "cpu_ms" is the process's CPU time (wait4), which a busy
// machine changes little; the time is the wall clock's.

#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/run_failed.h"
#include "hal/base/process.h"

namespace {

constexpr std::string_view kHelp =
    "halyard-bench-startup [--smoke] [--profile=PROFILE] [google-benchmark's options]\n"
    "  --smoke    only show that everything runs: one iteration\n"
    "  --profile  of the virtual GPU (default: gfx900)\n";

// --- What the processes do. Each function is the whole of one; it returns the exit code.

void* open_first(const char* const* names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (void* const library = dlopen(names[i], RTLD_NOW)) return library;
  }
  std::fprintf(stderr, "halyard-bench-startup: %s cannot be loaded (%s).\n", names[0], dlerror());
  return nullptr;
}

template <typename Function>
Function* find(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) std::fprintf(stderr, "halyard-bench-startup: there is no %s.\n", name);
  return found;
}

int start_hsa() {
  constexpr const char* kNames[] = {"libhsa-runtime64.so.1"};
  void* const library = open_first(kNames, std::size(kNames));
  if (library == nullptr) return 1;
  auto* const init = find<int()>(library, "hsa_init");
  auto* const shut_down = find<int()>(library, "hsa_shut_down");
  return init != nullptr && shut_down != nullptr && init() == 0 && shut_down() == 0 ? 0 : 1;
}

int start_hip() {
  constexpr const char* kNames[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
  constexpr size_t kBytes = 4096;
  void* const library = open_first(kNames, std::size(kNames));
  if (library == nullptr) return 1;
  auto* const allocate = find<int(void**, size_t)>(library, "hipMalloc");
  auto* const fill = find<int(void*, int, size_t)>(library, "hipMemset");
  auto* const copy = find<int(void*, const void*, size_t, int)>(library, "hipMemcpy");
  if (allocate == nullptr || fill == nullptr || copy == nullptr) return 1;
  void* memory = nullptr;
  unsigned char bytes[kBytes] = {};
  constexpr int kDeviceToHost = 2, kValue = 0x5a;
  if (allocate(&memory, kBytes) != 0 || fill(memory, kValue, kBytes) != 0 ||
      copy(bytes, memory, kBytes, kDeviceToHost) != 0) {
    std::fprintf(stderr, "halyard-bench-startup: HIP's first work fails.\n");
    return 1;
  }
  return bytes[0] == kValue && bytes[kBytes - 1] == kValue ? 0 : 1;
}

// --- The processes.

void run_process(benchmark::State& state, const std::vector<std::string>& command) {
  double cpu_ms = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    pid_t child = 0;
    const int error = halyard::base::start({.words = command}, &child);
    if (error != 0) {
      state.SkipWithError(("It cannot be started: " + std::string(std::strerror(error))).c_str());
      return;
    }
    int status = 0;
    rusage usage = {};
    wait4(child, &status, 0, &usage);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      state.SkipWithError(("It fails (status " + std::to_string(status) + ").").c_str());
      return;
    }
    state.SetIterationTime(took.count());
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      cpu_ms += 1e3 * static_cast<double>(part.tv_sec) + 1e-3 * static_cast<double>(part.tv_usec);
    }
  }
  state.counters["cpu_ms"] = benchmark::Counter(cpu_ms, benchmark::Counter::kAvgIterations);
}

// Whether all that was measured came to its end.
class Reporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) all_good = all_good && !halyard::bench::run_failed(run);
    any = any || !runs.empty();
    ConsoleReporter::ReportRuns(runs);
  }
  bool all_good = true;
  bool any = false;
};

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  std::string profile = "gfx900";
  std::vector<char*> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--run-nothing") return 0;
    if (argument == "--run-hsa") return start_hsa();
    if (argument == "--run-hip") return start_hip();
    if (argument == "--help") {
      std::fwrite(kHelp.data(), 1, kHelp.size(), stdout);
      return 0;
    }
    if (argument == "--smoke") {
      smoke = true;
    } else if (argument.starts_with("--profile=")) {
      profile = argument.substr(std::strlen("--profile="));
    } else {
      arguments.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;

  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const std::vector<std::string> exec = {HALYARD_PROGRAM, "vgpu", "exec", "--profile=" + profile,
                                         "--"};
  const auto add = [&](const char* name, std::vector<std::string> command, const char* what) {
    command.insert(command.end(), {self, what});
    auto* const added = benchmark::RegisterBenchmark(
        name, [command](benchmark::State& state) { run_process(state, command); });
    added->UseManualTime()->Unit(benchmark::kMillisecond);
    if (smoke) added->Iterations(1);
  };
  add("startup/nothing", {}, "--run-nothing");
  add("startup/exec_nothing", exec, "--run-nothing");
  add("startup/exec_hsa_init", exec, "--run-hsa");
  add("startup/exec_hip_first_work", exec, "--run-hip");
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.all_good && reporter.any ? 0 : 1;
}
