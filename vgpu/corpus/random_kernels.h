// What random_kernels.py's kernels call.
#pragma once

#include "vgpu/corpus/corpus.h"

typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef f16 f16x2 __attribute__((ext_vector_type(2)));

SHARED u32 words[256];
SHARED u64 wide_words[256];
SHARED u32 cells[64];

// clang does not look through the asm: it knows nothing of the variable's bits behind it.
#ifdef __AMDGCN__
#define HIDE_FROM_CLANG(variable) __asm__("" : "+v"(variable))
#else
#define HIDE_FROM_CLANG(variable) (void)(variable)
#endif

// Which NaN an operation gives is not the same on the host and on the GPU.
FUNCTION u32 bits_of_single(f32 v) {
  return v == v ? f32_bits(v) : 0x7fc00000;
}
FUNCTION u64 bits_of_double(f64 v) {
  return v == v ? __builtin_bit_cast(u64, v) : 0x7ff8000000000000;
}
// clang 22.1 reads a sign-extended 16-bit integer that is used as a float without its sign: the
// conversion to SDWA (SIPeepholeSDWA) drops the extension.
FUNCTION f32 word_as_single(u32 v) {
  HIDE_FROM_CLANG(v);
  return as_f32(v);
}
// clang 22.1's StructurizeCFG hoists what costs nothing (a truncation, an insertelement) out of a
// switch's arm that is reached in two ways, and loses its value on one of them (LLVM pull request
// 183792). It does so where the arm's block has one successor: a branch that no pass may remove,
// as it does not know the condition and what is behind it is volatile, makes that two.
#ifdef __AMDGCN__
FUNCTION u32 unknown_bit(void) {
  u32 v = local_id();
  HIDE_FROM_CLANG(v);
  return v & 1;
}
#define END_OF_ARM() \
  if (unknown_bit()) __asm__ volatile("")
#else
#define END_OF_ARM() (void)0
#endif
// In C a float that the integer cannot hold is undefined.
FUNCTION u32 single_to_word(f32 v) {
  if (!(v > -2147483648.0f)) return v == v ? 0x80000000 : 0;
  return v < 2147483648.0f ? (u32)(i32)v : v < 4294967296.0f ? (u32)v : ~0u;
}
FUNCTION u32 double_to_word(f64 v) {
  if (!(v > -2147483648.0)) return v == v ? 0x80000000 : 0;
  return v <= 2147483647.0 ? (u32)(i32)v : v <= 4294967295.0 ? (u32)v : ~0u;
}
// clang 22.1's SIFoldOperands makes x, not ~0, of x | ~0, where it is the first to see the
// constant: in one half of 64 bits, mostly (LLVM pull request 189655).
FUNCTION u64 wide_or(u64 a, u64 b) {
  HIDE_FROM_CLANG(a);
  HIDE_FROM_CLANG(b);
  return a | b;
}
FUNCTION f64 smaller(f64 a, f64 b) {
  return a < b ? a : b;
}
// clang divides unsigned numbers of 32 bits by way of f32, which is exact for 24, where both have
// eight equal bits on top, also if these are ones (LLVM, AMDGPUTargetLowering::LowerDIVREM24). So
// it must not know dividends' bits. It makes 32 bits of 64 where it knows that they are enough.
FUNCTION u32 unsigned_quotient(u32 a, u32 b) {
  HIDE_FROM_CLANG(a);
  return a / (b | 1);
}
FUNCTION u32 unsigned_remainder(u32 a, u32 b) {
  HIDE_FROM_CLANG(a);
  return a % (b | 1);
}
FUNCTION u64 wide_quotient(u64 a, u64 b) {
  HIDE_FROM_CLANG(a);
  return a / (b | 1);
}
FUNCTION u64 wide_remainder(u64 a, u64 b) {
  HIDE_FROM_CLANG(a);
  return a % (b | 1);
}
FUNCTION u32 signed_quotient(u32 a, u32 b) {
  return b + 1 < 2 ? a : (u32)((i32)a / (i32)b);
}
FUNCTION u32 signed_remainder(u32 a, u32 b) {
  return b + 1 < 2 ? a : (u32)((i32)a % (i32)b);
}
FUNCTION u32 leading_zeros(u32 v) {
  return v ? (u32)__builtin_clz(v) : 32;
}
FUNCTION u32 trailing_zeros(u32 v) {
  return v ? (u32)__builtin_ctz(v) : 32;
}
FUNCTION u32 saturate_add(u32 a, u32 b) {
  return (u32)__builtin_elementwise_add_sat((i32)a, (i32)b);
}
FUNCTION u32 saturate_sub(u32 a, u32 b) {
  return __builtin_elementwise_sub_sat(a, b);
}

// Where all lanes read the same one, clang makes v_readlane_b32 of ds_bpermute_b32: that gives an
// inactive lane's old value, not 0.
FUNCTION u32 from_active_lane(u32 first_key, u32 second_key, u32 value, u32 lane) {
  const u64 active = ballot_at(first_key, 1);
  const u32 result = bpermute_at(second_key, value, lane);
  return active >> (lane & 63) & 1 ? result : 0;
}

#define PACKED(name, type, expression)                                           \
  FUNCTION u32 packed_##name(u32 x, u32 y) {                                     \
    const type a = __builtin_bit_cast(type, x), b = __builtin_bit_cast(type, y); \
    return __builtin_bit_cast(u32, (type)(expression));                          \
  }
PACKED(add, u16x2, a + b)
PACKED(sub, u16x2, a - b)
PACKED(mul, u16x2, a* b.yx)
PACKED(min, i16x2, __builtin_elementwise_min(a, b))
PACKED(max, u16x2, __builtin_elementwise_max(a, b))
PACKED(shift, u16x2, a << (b & (u16)15))

#define HALF(name, expression)                                                                    \
  FUNCTION u32 half_##name(u32 x, u32 y) {                                                        \
    const f16x2 a = __builtin_bit_cast(f16x2, x), b = __builtin_bit_cast(f16x2, y);               \
    const f16x2 r = expression;                                                                   \
    const u32 bits = __builtin_bit_cast(u32, r);                                                  \
    return (r.x == r.x ? bits & 0xffff : 0x7e00) | (r.y == r.y ? bits & 0xffff0000 : 0x7e000000); \
  }
HALF(add, a + b)
HALF(sub, a - b)
HALF(mul, a* b)
HALF(div, a / b)

#define cells_add(p, v) (void)atomic_add(p, v)
#define cells_sub(p, v) (void)atomic_sub(p, v)
#define cells_xor(p, v) (void)atomic_xor(p, v)
#define cells_or(p, v) (void)atomic_or(p, v)
#define cells_and(p, v) (void)atomic_and(p, v)
#define cells_min(p, v) (void)atomic_min(p, v)
#define cells_max(p, v) (void)atomic_max(p, v)
#define cells_signed_min(p, v) (void)atomic_min((LOCAL i32*)(p), (i32)(v))
#define cells_signed_max(p, v) (void)atomic_max((LOCAL i32*)(p), (i32)(v))
#define totals_add cells_add
#define totals_sub cells_sub
#define totals_xor cells_xor
#define totals_or cells_or
#define totals_and cells_and
#define totals_min cells_min
#define totals_max cells_max
#define totals_signed_min(p, v) (void)atomic_min((GLOBAL i32*)(p), (i32)(v))
#define totals_signed_max(p, v) (void)atomic_max((GLOBAL i32*)(p), (i32)(v))
