// What a dispatch costs on the host: bare HSA and HIP loops against Halyard, in one process on one
// device.
//
// The bare loop writes an AQL packet, whose three arguments are in place already, and rings the
// doorbell, through the HSA runtime's own functions. Halyard's dispatch goes through the plugin
// that the registry has loaded, packs its three arguments, and comes with validation and without.
// Both use a queue of the same size, the same kernel, the same fences, and wait in the same way
// when the queue is full.
//
// A replay is a command buffer of 1,000 dispatches that is executed again and again, with the same
// buffers ("static") or with two sets of three in turn ("rebind"); its time is that of one
// dispatch. A graph is HIP's of 1,000 captured launches.
//
// "Sustained" is wall-clock time with the queue full most of the time, as the device takes packets.
// "Burst" is the calling thread's own CPU time for half a queue of dispatches into an empty queue,
// so neither the device nor a busy machine has a part in it.
//
// A signal by the host is timed with a barrier in the queue that waits for it, and for 15 others or
// for 15,999.
//
// On the virtual GPU the profiles gfx900-noexec and gfx906-noexec complete packets without
// executing them. On the first a queue waits for another one with a barrier-value packet, on the
// second for an edge (drivers/amdgpu/edges.h). The summary compares medians over interleaved
// repetitions, with the goals; what a filter has left out it does not name.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/submit/bare_hip.h"
#include "benchmarks/submit/bare_hsa.h"
#include "benchmarks/submit/halyard_loops.h"
#include "benchmarks/submit/kernel.h"
#include "benchmarks/submit/report.h"
#include "benchmarks/submit/require.h"
#include "hal/presentation.h"
#include "hal/target_id.h"
#include "registry/registry.h"
#include "registry/vgpu.h"

namespace halyard::bench {

void die(const Status& status) {
  std::fprintf(stderr, "halyard-bench-submit: %s\n", status.to_string().c_str());
  std::exit(1);
}

namespace {

// The value of `--name=value`, which is taken out of the arguments.
const char* option(int* argc, char** argv, const char* name, const char* otherwise) {
  const char* value = otherwise;
  const size_t length = std::strlen(name);
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const bool ours = std::strncmp(argv[i], name, length) == 0 && argv[i][length] == '=';
    if (ours) {
      value = argv[i] + length + 1;
    } else {
      argv[kept++] = argv[i];
    }
  }
  *argc = kept;
  return value;
}

std::string library_of(Registry& registry, const char* driver) {
  const LoadedDriver loaded = require(registry.driver(driver));
  return std::string(loaded.driver->info().library_path.view());
}

void add_loops_of_hip(Registry& registry, Device& device) {
  // HIP 5.2 takes no newer version; for this kernel they differ in the file's header alone.
  constexpr uint32_t kVersion = 4;
  const std::string_view file = kernel_file(device.info().target.view());
  const TargetId target = require(parse_target_id(device.info().target));
  const std::vector<std::byte> image =
      require(present_code_object(file.data(), file.size(), kVersion, target));
  add_bare_hip(library_of(registry, "hip").c_str(), image.data());
}

int run(int argc, char** argv) {
  // --vgpu=none measures on a real GPU.
  const std::string profile = option(&argc, argv, "--vgpu", "gfx900-noexec");
  const std::string uri = option(&argc, argv, "--device", "amdgpu");
  // --hip=no leaves HIP's loops out, bare and the driver's.
  const std::string hip = option(&argc, argv, "--hip", "yes");
  std::vector<char*> arguments(argv, argv + argc);
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  arguments.push_back(interleave.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;

  if (profile != "none") require(load_virtual_gpu(profile));
  const std::unique_ptr<Registry> registry = Registry::create();
  HalyardLoops halyard(*registry, uri);
  BareHsa bare(library_of(*registry, "amdgpu").c_str(), halyard.device());
  std::unique_ptr<HalyardLoops> hip_driver;
  bare.add_benchmarks();
  halyard.add_benchmarks();
  if (hip == "yes") {
    hip_driver = std::make_unique<HalyardLoops>(*registry, "hip");
    add_loops_of_hip(*registry, hip_driver->device());
    hip_driver->add_benchmarks_of_hip();
  }

  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  summarise(reporter);
  return 0;
}

}  // namespace

}  // namespace halyard::bench

int main(int argc, char** argv) {
  return halyard::bench::run(argc, argv);
}
