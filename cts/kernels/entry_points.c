// Many kernels in one code object: entry_0_0 to entry_1_7, each with a mark of its own.
#include "amdgpu.h"

#define ENTRY(number, index)                               \
  KERNEL void entry_##number(GLOBAL u32* out, u32 add) {   \
    if (local_id() == 0) out[index] = 1000u * (index) + add; \
  }
// clang-format off
#define EIGHT(eight, base)                                  \
  ENTRY(eight##_0, base + 0) ENTRY(eight##_1, base + 1) \
  ENTRY(eight##_2, base + 2) ENTRY(eight##_3, base + 3) \
  ENTRY(eight##_4, base + 4) ENTRY(eight##_5, base + 5) \
  ENTRY(eight##_6, base + 6) ENTRY(eight##_7, base + 7)

EIGHT(0, 0u) EIGHT(1, 8u)
    // clang-format on
