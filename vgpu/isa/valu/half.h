// Conversions between f16 and the host's types, rounded once and in any of the four modes.
//
// Baseline x86-64 has no f16 instructions; the nearest-even paths are branch-free integer code so
// that the compiler can turn a loop over lanes into vector code.
#pragma once

#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

enum Rounding : unsigned { kNearestEven = 0, kUpward = 1, kDownward = 2, kTowardZero = 3 };

// Exact. A NaN keeps its sign, quiet bit and payload.
inline float to_f32(F16 h) {
  const uint32_t sign = (h.bits & 0x8000u) << 16;
  const uint32_t magnitude = h.bits & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t special = (magnitude << 13) | 0x7f800000u;
  // A denormal is a multiple of 2^-24, and so is a normal f32.
  const uint32_t denormal = to_bits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t finite = magnitude < 0x400 ? denormal : normal;
  return from_bits<float>(sign | (magnitude >= 0x7c00 ? special : finite));
}

inline double to_f64(F16 h) {
  return to_f32(h);
}

// Nearest even; the host must be in nearest-even mode as well.
inline F16 nearest_f16(float x) {
  const uint32_t sign = to_bits(x) >> 16 & 0x8000u;
  const uint32_t magnitude = to_bits(x) & 0x7fffffffu;
  const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  // Below 2^-14 the unit in the last place is 2^-24, which is what 0.5f has.
  const uint32_t denormal = to_bits(from_bits<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t finite = magnitude < 0x38800000u ? denormal : normal;
  const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  const uint32_t special = magnitude > 0x7f800000u ? nan : 0x7c00u;
  const uint32_t bits = sign | (magnitude >= 0x477ff000u ? special : finite);
  return F16{static_cast<uint16_t>(bits)};
}

// A NaN keeps its sign and the upper bits of its payload, and becomes quiet.
constexpr uint16_t bf16_nan(uint32_t bits) {
  return static_cast<uint16_t>(bits >> 16 | 0x40);
}
// Nearest even.
inline BF16 nearest_bf16(float x) {
  const uint32_t bits = to_bits(x);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return BF16{is_nan(x) ? bf16_nan(bits) : static_cast<uint16_t>(rounded)};
}

// Any mode. With `saturate` (MODE.FP16_OVFL) a finite value that overflows becomes ±65504.
inline F16 round_f16(double x, unsigned rounding, bool saturate = false) {
  const uint64_t bits = to_bits(x);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  if (is_nan(x)) return F16{static_cast<uint16_t>(sign | 0x7e00 | (bits >> 42 & 0x3ff))};
  if (is_infinite(x)) return F16{static_cast<uint16_t>(sign | 0x7c00)};
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent < -1022) return F16{sign};  // zero (or an f64 denormal, which no caller makes)
  const uint64_t significand = (bits & 0xfffffffffffffull) | 1ull << 52;
  // The result's unit in the last place is 2^(exponent - 10), and never below 2^-24.
  const int unit = exponent < -14 ? -24 : exponent - 10;
  const int drop = unit - (exponent - 52);
  uint64_t kept = drop > 53 ? 0 : significand >> drop;
  const uint64_t rest = drop > 53 ? 1 : significand & ((1ull << drop) - 1);
  const uint64_t half = drop > 53 ? 2 : 1ull << (drop - 1);
  bool up = false;
  if (rounding == kNearestEven) up = rest > half || (rest == half && (kept & 1) != 0);
  if (rounding == kUpward) up = rest != 0 && sign == 0;
  if (rounding == kDownward) up = rest != 0 && sign != 0;
  kept += up;
  // A carry out of the significand moves into the exponent field by itself.
  const int64_t field =
      exponent < -14 ? 0 : static_cast<int64_t>(exponent + 15) << 10;  // biased, in place
  const uint64_t result = exponent < -14 ? kept : static_cast<uint64_t>(field) + kept - 0x400;
  if (result < 0x7c00) return F16{static_cast<uint16_t>(sign | result)};
  const bool to_largest = saturate || rounding == kTowardZero ||
                          (rounding == kUpward && sign != 0) ||
                          (rounding == kDownward && sign == 0);
  return F16{static_cast<uint16_t>(sign | (to_largest ? 0x7bff : 0x7c00))};
}

inline bool rounds_to_nearest(const FloatMode& m) {
  return m.round_f16_f64 == kNearestEven && m.round_f32 == kNearestEven && !m.fp16_overflow;
}

// `x` must be exact or, for nearest even, rounded to at least 24 bits from two f16 operands: then
// rounding twice gives the same as rounding once (24 >= 2 * 11 + 2).
inline F16 to_f16(float x, const FloatMode& m) {
  if (rounds_to_nearest(m)) return nearest_f16(x);
  return round_f16(x, m.round_f16_f64, m.fp16_overflow);
}
inline F16 to_f16(double x, const FloatMode& m) {
  return round_f16(x, m.round_f16_f64, m.fp16_overflow);
}

// x + y, rounded to odd: inexact results get an odd last bit, so that rounding them again to a
// shorter format gives what rounding the exact sum once would. Knuth's two-sum finds the error; the
// host must be in nearest-even mode.
inline double add_to_odd(double x, double y) {
  const double sum = x + y;
  const double shadow = sum - x;
  const double error = (x - (sum - shadow)) + (y - shadow);
  const uint64_t bits = to_bits(sum);
  // An error with the sum's sign means that the magnitude was rounded down.
  const uint64_t toward = (to_bits(error) ^ bits) >> 63 == 0 ? bits + 1 : bits - 1;
  const bool adjust = error != 0 && (bits & 1) == 0 && magnitude_bits(sum) < 0x7ff0000000000000ull;
  return from_bits<double>(adjust ? toward : bits);
}

// f64 to f32, rounded to odd; for values in the range of normal f32.
inline float narrow_to_odd(double x) {
  const float r = static_cast<float>(x);
  const uint32_t bits = to_bits(r);
  const uint32_t toward = std::fabs(static_cast<double>(r)) < std::fabs(x) ? bits + 1 : bits - 1;
  return from_bits<float>(static_cast<double>(r) != x && (bits & 1) == 0 ? toward : bits);
}

}  // namespace halyard::vgpu::isa::valu
