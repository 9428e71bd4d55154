// What the parts of halyard-bench-vgpu share.
#pragma once

#include <cstdint>

namespace halyard::bench {

// A run that only shows that everything still works: tiny sizes, one iteration.
struct VgpuOptions {
  bool smoke = false;
};

// Registers benchmarks of loops of one instruction class each. Their figure "inst" is
// wave-instructions per second of CPU time on one core.
void add_class_benchmarks(const VgpuOptions& options);

// Registers whole kernels, each on the host and on the virtual GPU.
void add_kernel_benchmarks(const VgpuOptions& options);

}  // namespace halyard::bench
