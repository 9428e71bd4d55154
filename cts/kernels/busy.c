// Work that takes a while and leaves a trace, for tests of order.
#include "amdgpu.h"

// After `rounds` dependent steps, one work-item appends `mark` to a log: log[0] counts.
KERNEL void append(GLOBAL u32* log, u32 mark, u32 rounds) {
  if (global_id() != 0) return;
  u32 value = mark;
  for (u32 i = 0; i < rounds; ++i) {
    value = value * 1664525u + 1013904223u;
    __asm__ volatile("" : "+v"(value));
  }
  const u32 at = __scoped_atomic_fetch_add(log, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  log[1 + at] = mark;
}

// data[i] = data[i] * multiplier + addend; runs in order give another result than out of order.
KERNEL void affine(GLOBAL u32* data, u32 n, u32 multiplier, u32 addend) {
  const u32 i = global_id();
  if (i < n) data[i] = data[i] * multiplier + addend;
}

// Generic pointers (flat instructions) instead of global ones; `which` picks LDS or global memory.
static LDS u32 scratchpad[64];

KERNEL void flat(u32* data, u32 which) {
  const u32 i = local_id() & 63;
  scratchpad[i] = 7 * i;
  u32* source = (which >> (i & 31)) & 1 ? data + i : (u32*)&scratchpad[i];
  const u32 value = *(volatile u32*)source;
  *(volatile u32*)source = value + 1;
  data[64 + i] = *(volatile u32*)source;
}
