// Function calls that stay calls: direct, through a table of pointers, and recursive. They use the
// stack, and with it scratch; the recursive one has no bound that the compiler knows.
#include "amdgpu.h"

#define NOINLINE static __attribute__((noinline))

NOINLINE u32 mix(u32 value, u32 rounds) {
  for (u32 i = 0; i < rounds; ++i) {
    value ^= value >> 15;
    value *= 0x2c1b3c6du;
    value ^= value >> 12;
    value += i;
  }
  return value;
}

// Writes through a pointer to the caller's stack.
NOINLINE void split(u32 value, u32* parts, u32 count) {
  for (u32 i = 0; i < count; ++i) parts[i] = (value >> (4 * i)) & 15;
}

KERNEL void call_direct(GLOBAL const u32* in, GLOBAL u32* out, u32 n) {
  const u32 i = global_id();
  if (i >= n) return;
  u32 parts[8];
  split(mix(in[i], 3), parts, 8);
  u32 sum = 0;
  for (u32 k = 0; k < 8; ++k) sum = sum * 17 + parts[(k + i) & 7];
  out[i] = mix(sum, 5);
}

NOINLINE u32 op_add(u32 a, u32 b) {
  return a + b;
}
NOINLINE u32 op_xor(u32 a, u32 b) {
  return a ^ (b << 7);
}
NOINLINE u32 op_mul(u32 a, u32 b) {
  return a * (b | 1);
}
NOINLINE u32 op_mix(u32 a, u32 b) {
  return mix(a + b, 2);
}

typedef u32 (*Operation)(u32, u32);
static const Operation kOperations[4] = {op_add, op_xor, op_mul, op_mix};

// The operation differs from lane to lane: a waterfall loop around the call.
KERNEL void call_indirect(GLOBAL const u32* in, GLOBAL u32* out, u32 n) {
  const u32 i = global_id();
  if (i >= n) return;
  out[i] = kOperations[in[i] & 3](in[i], i);
}

NOINLINE u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

// in[i] packs m (bits 4 to 7) and n (bits 0 to 3).
KERNEL void call_recursive(GLOBAL const u32* in, GLOBAL u32* out, u32 n) {
  const u32 i = global_id();
  if (i < n) out[i] = ackermann((in[i] >> 4) & 15, in[i] & 15);
}
