// Conversions between f32 and floats of 8 and 16 bits, one lane each (CDNA 3 ISA and CDNA 4 ISA,
// V_CVT_*FP8*, V_CVT_*BF8*, V_CVT_*BF16*, V_CVT_SR_*). All round to nearest even or stochastically,
// whatever MODE says.
#pragma once

#include <cstdint>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/small_floats.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// From bytes: exact. The byte, or the pair of them, is in the low bits.
template <FloatFormat kFormat>
float cvt_f32_byte(uint32_t x) {
  return from_bits<float>(kF32OfByte<kFormat>[x & 0xff]);
}
template <FloatFormat kFormat>
PkF32 cvt_pk_f32_bytes(uint32_t x) {
  return {cvt_f32_byte<kFormat>(x), cvt_f32_byte<kFormat>(x >> 8)};
}

// To bytes. Denormals of f32 are too small for either format, flushed or not.
template <FloatFormat kFormat>
uint16_t cvt_pk_bytes_f32(float a, float b, const FloatMode& m) {
  const uint32_t low = nearest_byte<kFormat>(a, m.fp16_overflow);
  const uint32_t high = nearest_byte<kFormat>(b, m.fp16_overflow);
  return static_cast<uint16_t>(low | high << 8);
}
// Into byte `kByte` of `old`.
template <FloatFormat kFormat, unsigned kByte>
uint32_t cvt_sr_byte_f32(float a, uint32_t seed, uint32_t old, const FloatMode& m) {
  const PackRounding rounding = stochastic(kBinary32, kFormat, seed);
  const uint32_t byte = pack(kFormat, unpack(kBinary32, to_bits(a)), rounding, m.fp16_overflow);
  return (old & ~(0xffu << (8 * kByte))) | byte << (8 * kByte);
}

// bf16 is the upper half of an f32: it has the same NaNs, infinities and denormals.
inline float cvt_f32_bf16(BF16 x) {
  return to_f32(x);
}

// FP16_OVFL is for f16 results (CDNA 4 ISA 3.5): an overflow is an infinity here.
inline PkBF16 cvt_pk_bf16_f32(float a, float b, const FloatMode& m) {
  return {nearest_bf16(flush_input(a, m)), nearest_bf16(flush_input(b, m))};
}
inline PkF16 cvt_pk_f16_f32(float a, float b, const FloatMode& m) {
  const auto half = [&](float x) {
    return flush_output(round_f16(flush_input(x, m), kNearestEven, m.fp16_overflow), m);
  };
  return {half(a), half(b)};
}

// The results are bits: CLAMP and OMOD do nothing to them.
inline uint16_t cvt_sr_bf16_f32(float a, uint32_t seed, const FloatMode& m) {
  const float x = flush_input(a, m);
  if (is_nan(x)) return bf16_nan(to_bits(x));
  const PackRounding rounding = stochastic(kBinary32, kBrain16, seed);
  return static_cast<uint16_t>(pack(kBrain16, unpack(kBinary32, to_bits(x)), rounding, false));
}
inline uint16_t cvt_sr_f16_f32(float a, uint32_t seed, const FloatMode& m) {
  const float x = flush_input(a, m);
  if (is_nan(x)) return nearest_f16(x).bits;
  const PackRounding rounding = stochastic(kBinary32, kBinary16, seed);
  const uint32_t half = pack(kBinary16, unpack(kBinary32, to_bits(x)), rounding, m.fp16_overflow);
  return flush_output(F16{static_cast<uint16_t>(half)}, m).bits;
}

}  // namespace halyard::vgpu::isa::valu
