// Packed pairs, dot products and mixed-precision multiply-add, one lane each (VOP3P).
#pragma once

#include <cstdint>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// An operation on both halves.
template <class Pair, auto kHalf>
Pair packed2(Pair a, Pair b) {
  return {kHalf(a.lo, b.lo), kHalf(a.hi, b.hi)};
}
template <class Pair, auto kHalf>
Pair packed3(Pair a, Pair b, Pair c) {
  return {kHalf(a.lo, b.lo, c.lo), kHalf(a.hi, b.hi, c.hi)};
}
template <class Pair, auto kHalf>
Pair packed_float2(Pair a, Pair b, const FloatMode& m) {
  return {kHalf(a.lo, b.lo, m), kHalf(a.hi, b.hi, m)};
}
template <class Pair, auto kHalf>
Pair packed_float3(Pair a, Pair b, Pair c, const FloatMode& m) {
  return {kHalf(a.lo, b.lo, c.lo, m), kHalf(a.hi, b.hi, c.hi, m)};
}
inline Flagged<PkF16> pk_fma_f16_fast(PkF16 a, PkF16 b, PkF16 c) {
  const Flagged<F16> low = fma_f16_fast(a.lo, b.lo, c.lo);
  const Flagged<F16> high = fma_f16_fast(a.hi, b.hi, c.hi);
  return {{low.value, high.value}, (low.flag | high.flag) != 0};
}
inline Flagged<PkF32> pk_fma_f32_fast(PkF32 a, PkF32 b, PkF32 c) {
  const Flagged<float> low = fma_f32_fast(a.lo, b.lo, c.lo);
  const Flagged<float> high = fma_f32_fast(a.hi, b.hi, c.hi);
  return {{low.value, high.value}, (low.flag | high.flag) != 0};
}
inline Flagged<PkF16> pk_min_f16_fast(PkF16 a, PkF16 b) {
  const Flagged<F16> low = min_fast(a.lo, b.lo), high = min_fast(a.hi, b.hi);
  return {{low.value, high.value}, (low.flag | high.flag) != 0};
}
inline Flagged<PkF16> pk_max_f16_fast(PkF16 a, PkF16 b) {
  const Flagged<F16> low = max_fast(a.lo, b.lo), high = max_fast(a.hi, b.hi);
  return {{low.value, high.value}, (low.flag | high.flag) != 0};
}
inline PkI16 pk_ashrrev_i16(PkU16 a, PkI16 b) {
  return {ashrrev_i16(a.lo, b.lo), ashrrev_i16(a.hi, b.hi)};
}
// op_sel has already brought the dword wanted of each source into its low half.
inline PkF32 pk_mov_b32(PkF32 a, PkF32 b) {
  return {a.lo, b.lo};
}

// Dot products. Integers are summed exactly; CLAMP saturates the sum, otherwise it wraps.
template <class Int, unsigned kBits>
constexpr int64_t field(uint32_t x, unsigned i) {
  const uint32_t top = x << (32 - kBits * (i + 1));
  if constexpr (std::is_signed_v<Int>) return static_cast<int32_t>(top) >> (32 - kBits);
  return top >> (32 - kBits);
}
template <class Int, unsigned kBits, bool kClamp>
Int dot(uint32_t a, uint32_t b, Int c) {
  // A sum that wraps needs no more than 32 bits.
  using Sum = std::conditional_t<kClamp, int64_t, uint32_t>;
  Sum sum = static_cast<Sum>(c);
  for (unsigned i = 0; i < 32 / kBits; ++i) {
    sum += static_cast<Sum>(field<Int, kBits>(a, i)) * static_cast<Sum>(field<Int, kBits>(b, i));
  }
  if constexpr (kClamp) return saturate<Int>(sum);
  return static_cast<Int>(sum);
}
// 16-bit fields come as pairs, for op_sel.
template <bool kClamp>
int32_t dot2_i32_i16(PkI16 a, PkI16 b, int32_t c) {
  return dot<int32_t, 16, kClamp>(std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b), c);
}
template <bool kClamp>
uint32_t dot2_u32_u16(PkU16 a, PkU16 b, uint32_t c) {
  return dot<uint32_t, 16, kClamp>(std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b), c);
}
// The products of f16 are exact in f32; each addition rounds, low half first. f32 denormals are
// flushed in every mode (LLVM's selection of this instruction relies on no more).
inline float dot2_f32_f16(PkF16 a, PkF16 b, float c, const FloatMode& m) {
  const FloatMode flushing = flushing_f32(m);
  const auto f32 = [&](F16 x) { return to_f32(flush_input(x, m)); };
  const float low = mad(f32(a.lo), f32(b.lo), c, flushing);
  return mad(f32(a.hi), f32(b.hi), low, flushing);
}
// v_mad_f32 of factors that have been f16. Only the addend can be denormal: the product is zero or
// a multiple of 2^-48, and a sum of it and a normal addend zero or at least 2^-95.
inline float mad_of_halves_fast(float a, float b, float c) {
  return a * b + flush(c);
}
inline float dot2_f32_f16_fast(PkF16 a, PkF16 b, float c) {
  const float low = mad_of_halves_fast(to_f32(a.lo), to_f32(b.lo), c);
  return to_f32(a.hi) * to_f32(b.hi) + low;
}

// Of bf16, which are f32: rounded step by step, as the document's pseudocode has it (CDNA 4 ISA,
// V_DOT2_F32_BF16 and V_DOT2C_F32_BF16, which begin at different ends).
inline float dot2_f32_bf16(PkBF16 a, PkBF16 b, float c, const FloatMode& m) {
  const float low = mul(to_f32(a.lo), to_f32(b.lo), m), high = mul(to_f32(a.hi), to_f32(b.hi), m);
  return add(add(low, high, m), c, m);
}
inline float dot2c_f32_bf16(PkBF16 a, PkBF16 b, float c, const FloatMode& m) {
  const float low = mul(to_f32(a.lo), to_f32(b.lo), m), high = mul(to_f32(a.hi), to_f32(b.hi), m);
  return add(add(c, low, m), high, m);
}

// v_mad_mix and v_fma_mix: every source is an f32 by now (mix_sources()). The f16 result of the lo
// and hi forms is the f32 result, rounded again.
inline float mad_mix(float a, float b, float c, const FloatMode& m) {
  return mad_f32(a, b, c, m);
}
inline float fma_mix(float a, float b, float c, const FloatMode& m) {
  return fma(a, b, c, m);
}
inline float mad_mix_fast(float a, float b, float c) {
  return mad_f32_fast(a, b, c);
}
inline Flagged<float> fma_mix_fast(float a, float b, float c) {
  return fma_f32_fast(a, b, c);
}
inline F16 mad_mix_f16(float a, float b, float c, const FloatMode& m) {
  return flush_output(to_f16(mad_f32(a, b, c, m), m), m);
}
// kHigh: of the hi form, for RowLoop.
template <bool kHigh>
F16 mad_mix_f16_fast(float a, float b, float c) {
  return nearest_f16(mad_f32_fast(a, b, c));
}
template <bool kHigh>
Flagged<F16> fma_mix_f16_fast(float a, float b, float c) {
  const Flagged<float> r = fma_f32_fast(a, b, c);
  return {nearest_f16(r.value), r.flag != 0};
}
inline F16 fma_mix_f16(float a, float b, float c, const FloatMode& m) {
  return flush_output(to_f16(fma(a, b, c, m), m), m);
}

}  // namespace halyard::vgpu::isa::valu
