// Global variables, for Executable::global: one that the kernel reads, one that it writes.
#include "amdgpu.h"

__attribute__((visibility("protected"))) GLOBAL u32 global_input[4] = {10, 20, 30, 40};
__attribute__((visibility("protected"))) GLOBAL u32 global_output[4];
static const GLOBAL u32 kSquares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

KERNEL void use_globals(GLOBAL u32* out, u32 which) {
  const u32 i = local_id();
  if (i >= 4) return;
  global_output[i] = global_input[i] + kSquares[(which + i) & 7];
  out[i] = global_output[i];
}

// Without arguments.
KERNEL void step_globals(void) {
  const u32 i = local_id();
  if (i < 4) global_input[i] += i + 1;
}
