// f64 arithmetic: in, per element, a and b; out, per element, 8 results.
#include "amdgpu.h"

#pragma STDC FP_CONTRACT OFF

KERNEL void float64(GLOBAL const double* a, GLOBAL const double* b, GLOBAL double* out, u32 n) {
  const u32 i = global_id();
  if (i >= n) return;
  const double x = a[i];
  const double y = b[i];
  GLOBAL double* o = out + 8 * (u64)i;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = __builtin_fma(x, y, -x);
  o[3] = x / y;
  o[4] = __builtin_sqrt(__builtin_fabs(x));
  o[5] = __builtin_fmin(x, y) - __builtin_fmax(x, -y);
  o[6] = (double)(float)x + __builtin_floor(y);
  o[7] = (double)((i32)x) + __builtin_ldexp(y, 3) + (x < y ? 1.0 : -1.0);
}
