// Conversions, one lane each (Vega ISA chapter 12, V_CVT_*).
//
// To an integer: truncated, saturated, NaN becomes 0. To a float: rounded in the mode of the
// result's type.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/lane_ops_integer.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// Truncation to an integer type whose range the float type holds exactly.
template <class Int, class F>
Int truncate_to(F x) {
  static_assert(std::numeric_limits<Int>::digits <= std::numeric_limits<F>::digits);
  constexpr F kLow = std::numeric_limits<Int>::min();
  constexpr F kHigh = std::numeric_limits<Int>::max();
  F bounded = x > kLow ? x : kLow;
  bounded = bounded < kHigh ? bounded : kHigh;
  bounded = x == x ? bounded : F{0};
  // Through 32 bits, which is what hosts convert in vectors.
  if constexpr (sizeof(Int) < sizeof(int32_t)) {
    return static_cast<Int>(static_cast<int32_t>(bounded));
  } else {
    return static_cast<Int>(bounded);
  }
}
inline int32_t cvt_i32_f32(float x) {
  // 2^31 - 128 is the largest f32 below 2^31.
  const float bounded = x >= -0x1p31f ? (x <= 0x1.fffffep30f ? x : 0x1.fffffep30f) : -0x1p31f;
  const int32_t whole = static_cast<int32_t>(x == x ? bounded : 0.0f);
  return x >= 0x1p31f ? std::numeric_limits<int32_t>::max() : whole;
}
inline uint32_t cvt_u32_f32(float x) {
  // The upper half of the range as what it is beyond 2^31; both halves are those of an i32.
  const bool upper = x >= 0x1p31f;
  const float rest = x - (upper ? 0x1p31f : 0.0f);
  const float positive = rest > 0.0f ? rest : 0.0f;
  const float bounded = positive < 0x1.fffffep30f ? positive : 0x1.fffffep30f;
  const uint32_t whole = static_cast<uint32_t>(static_cast<int32_t>(bounded));
  return x >= 0x1p32f ? ~0u : whole | uint32_t{upper} << 31;
}
inline int32_t cvt_i32_f64(double x) {
  return truncate_to<int32_t>(x);
}
inline uint32_t cvt_u32_f64(double x) {
  return truncate_to<uint32_t>(x);
}
inline int16_t cvt_i16_f16(F16 x) {
  return truncate_to<int16_t>(to_f32(x));
}
inline uint16_t cvt_u16_f16(F16 x) {
  return truncate_to<uint16_t>(to_f32(x));
}

// `const FloatMode&` although unused: with it, the loop runs in the wave's rounding mode.
inline float cvt_f32_i32(int32_t x, const FloatMode&) {
  return static_cast<float>(x);
}
inline float cvt_f32_u32(uint32_t x, const FloatMode&) {
  return static_cast<float>(x);
}
inline double cvt_f64_i32(int32_t x) {
  return x;
}
inline double cvt_f64_u32(uint32_t x) {
  return x;
}
inline F16 cvt_f16_i16(int16_t x, const FloatMode& m) {
  return to_f16(static_cast<float>(x), m);
}
inline F16 cvt_f16_u16(uint16_t x, const FloatMode& m) {
  return to_f16(static_cast<float>(x), m);
}
template <unsigned kByte>
float cvt_f32_ubyte(uint32_t x) {
  return static_cast<float>(static_cast<int32_t>(x >> (8 * kByte) & 0xff));
}

// Between float types a NaN keeps sign and the payload's upper bits, and becomes quiet.
inline float cvt_f32_f16(F16 x, const FloatMode& m) {
  const float r = to_f32(flush_input(x, m));
  return is_nan(r) ? quieted(r) : r;
}
inline F16 cvt_f16_f32(float x, const FloatMode& m) {
  return flush_output(to_f16(flush_input(x, m), m), m);
}
inline float cvt_f32_f64(double x, const FloatMode& m) {
  const double a = flush_input(x, m);
  const uint64_t bits = to_bits(a);
  const uint32_t nan = static_cast<uint32_t>(bits >> 63) << 31 | 0x7fc00000u |
                       static_cast<uint32_t>(bits >> 29 & 0x3fffff);
  return is_nan(a) ? from_bits<float>(nan) : flush_output(static_cast<float>(a), m);
}
inline double cvt_f64_f32(float x, const FloatMode& m) {
  const float a = flush_input(x, m);
  const uint64_t bits = to_bits(a);
  const uint64_t nan = (bits >> 31) << 63 | 0x7ff8000000000000ull | (bits & 0x3fffff) << 29;
  return is_nan(a) ? from_bits<double>(nan) : static_cast<double>(a);
}

// DX9's conversions: round half up, and floor.
inline int32_t cvt_rpi_i32_f32(float x, const FloatMode& m) {
  return cvt_i32_f32(std::floor(flush_input(x, m) + 0.5f));
}
inline int32_t cvt_flr_i32_f32(float x) {
  return cvt_i32_f32(std::floor(x));
}
// A signed 4-bit count of sixteenths.
inline float cvt_off_f32_i4(uint32_t x) {
  return static_cast<float>(static_cast<int32_t>(x << 28) >> 28) * 0.0625f;
}

inline double wide(float x) {
  return x;
}
inline double wide(F16 x) {
  return to_f64(x);
}
// Normalised integers: [-1, 1] or [0, 1] scaled to the type's range, rounded as MODE says for the
// source's type (docs/virtual-gpu.md, "Open readings").
template <class Int, class T>
Int normalized(T source, const FloatMode& m) {
  constexpr double kScale = std::numeric_limits<Int>::max();
  constexpr double kLow = std::numeric_limits<Int>::is_signed ? -1.0 : 0.0;
  const double x = wide(flush_input(source, m));
  if (x != x) return 0;
  const double scaled = std::clamp(x, kLow, 1.0) * kScale;  // exact
  switch (Real<T>::round(m)) {
    case kUpward:
      return static_cast<Int>(std::ceil(scaled));
    case kDownward:
      return static_cast<Int>(std::floor(scaled));
    case kTowardZero:
      return static_cast<Int>(std::trunc(scaled));
    default:
      return static_cast<Int>(nearest_even_integer(scaled));
  }
}
inline int16_t cvt_norm_i16_f16(F16 x, const FloatMode& m) {
  return normalized<int16_t>(x, m);
}
inline uint16_t cvt_norm_u16_f16(F16 x, const FloatMode& m) {
  return normalized<uint16_t>(x, m);
}
inline PkI16 cvt_pknorm_i16_f16(F16 a, F16 b, const FloatMode& m) {
  return {normalized<int16_t>(a, m), normalized<int16_t>(b, m)};
}
inline PkU16 cvt_pknorm_u16_f16(F16 a, F16 b, const FloatMode& m) {
  return {normalized<uint16_t>(a, m), normalized<uint16_t>(b, m)};
}
inline PkI16 cvt_pknorm_i16_f32(float a, float b, const FloatMode& m) {
  return {normalized<int16_t>(a, m), normalized<int16_t>(b, m)};
}
inline PkU16 cvt_pknorm_u16_f32(float a, float b, const FloatMode& m) {
  return {normalized<uint16_t>(a, m), normalized<uint16_t>(b, m)};
}

// Packing.
inline PkU16 cvt_pk_u16_u32(uint32_t a, uint32_t b) {
  return {saturate<uint16_t>(a), saturate<uint16_t>(b)};
}
inline PkI16 cvt_pk_i16_i32(int32_t a, int32_t b) {
  return {saturate<int16_t>(a), saturate<int16_t>(b)};
}
// Toward zero in every mode: an overflow becomes the largest finite value.
inline PkF16 cvt_pkrtz_f16_f32(float a, float b, const FloatMode& m) {
  const auto half = [&](float x) {
    return flush_output(round_f16(flush_input(x, m), kTowardZero, m.fp16_overflow), m);
  };
  return {half(a), half(b)};
}
// The same in the default mode. A NaN is rare.
inline F16 f16_toward_zero(float x) {
  const uint32_t sign = to_bits(x) >> 16 & 0x8000;
  const uint32_t magnitude = magnitude_bits(x);
  const uint32_t normal = (magnitude - (112u << 23)) >> 13;
  // Below 2^-14 the unit in the last place is 2^-24, which is what 0.5f has.
  const float nearest = from_bits<float>(magnitude) + 0.5f;
  const uint32_t above = nearest - 0.5f > from_bits<float>(magnitude) ? 1 : 0;
  const uint32_t denormal = to_bits(nearest) - 0x3f000000u - above;
  const uint32_t bounded = normal < 0x7bff ? normal : 0x7bff;
  const uint32_t finite = magnitude < 0x38800000 ? denormal : bounded;
  // After the largest f16 come infinity and the first NaN.
  const uint32_t beyond =
      uint32_t{magnitude >= Real<float>::kExponent} + uint32_t{magnitude > Real<float>::kExponent};
  return F16{static_cast<uint16_t>(sign | (finite + beyond))};
}
inline PkF16 cvt_pkrtz_f16_f32_fast(float a, float b) {
  return {f16_toward_zero(a), f16_toward_zero(b)};
}
inline PkU16 pack_b32_f16(F16 a, F16 b) {
  return {a.bits, b.bits};
}
inline uint16_t sat_pk_u8_i16(PkI16 a) {
  return static_cast<uint16_t>(saturate<uint8_t>(int{a.lo}) | saturate<uint8_t>(int{a.hi}) << 8);
}
// Byte `b & 3` of `c` replaced by the u8 that `a` truncates to.
inline uint32_t cvt_pk_u8_f32(float a, uint32_t b, uint32_t c) {
  const unsigned shift = 8 * (b & 3);
  return (c & ~(0xffu << shift)) | uint32_t{truncate_to<uint8_t>(a)} << shift;
}

}  // namespace halyard::vgpu::isa::valu
