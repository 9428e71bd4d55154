// f16 arithmetic: scalars, pairs (packed instructions) and conversions. `n` counts pairs.
#include "amdgpu.h"

#pragma STDC FP_CONTRACT OFF

typedef _Float16 half2 __attribute__((ext_vector_type(2)));

// 6 pairs out for each pair in.
KERNEL void float16(GLOBAL const half2* a, GLOBAL const half2* b, GLOBAL half2* out, u32 n) {
  const u32 i = global_id();
  if (i >= n) return;
  const half2 x = a[i];
  const half2 y = b[i];
  GLOBAL half2* o = out + 6 * (u64)i;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = __builtin_elementwise_fma(x, y, -x);
  o[3] = __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, y);
  const float wide = (float)x.x * (float)y.y;
  half2 mixed;
  mixed.x = (_Float16)wide;
  mixed.y = (_Float16)((i32)x.y) + y.x;
  o[4] = mixed;
  half2 divided;
  divided.x = x.x / y.x;
  divided.y = (_Float16)__builtin_fmaf((float)x.x, (float)x.y, (float)y.x);
  o[5] = divided;
}
