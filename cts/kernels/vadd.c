// Vector add, the smallest useful kernel: out[i] = a[i] + b[i].
#include "amdgpu.h"

KERNEL void vadd(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* out, u32 n) {
  const u32 i = global_id();
  if (i < n) out[i] = a[i] + b[i];
}
