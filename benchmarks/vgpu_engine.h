// The virtual GPU's engine as benchmarks use it: by itself, without queues, and without failures.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "vgpu/isa/tests/machine.h"

namespace halyard::bench {

// Ends the program.
[[noreturn]] inline void fail(const char* name, const std::string& what) {
  std::fprintf(stderr, "halyard-bench-vgpu: %s: %s\n", name, what.c_str());
  std::exit(1);
}

// `workers` threads; 0: one for each core.
inline vgpu::isa::EngineOptions engine_options(const char* processor, uint32_t workers) {
  vgpu::isa::EngineOptions options;
  options.processor = processor;
  options.workers = workers;
  return options;
}

// Runs a dispatch of the benchmark `name` to its end.
inline void run_dispatch(vgpu::isa::testing::Machine& machine, const vgpu::isa::Dispatch& dispatch,
                         const char* name) {
  const volatile bool cancel = false;
  const vgpu::isa::DispatchResult result = machine.engine().run(dispatch, cancel);
  if (result.fault.kind != vgpu::isa::Fault::Kind::kNone) fail(name, result.report);
}

}  // namespace halyard::bench
