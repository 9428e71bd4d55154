// Float arithmetic, one lane each, for f32, f64 and f16 alike.
//
// f32 and f64 round as the host is set (core() in loops.h sets it to the wave's mode); f16 is
// computed in a wider type and rounded once. Denormals and NaNs follow values.h. The `_fast`
// versions lack the rules for NaN and for modes other than the default; core() says when they run.
#pragma once

#include <cmath>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/lane_ops_order.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// The bare operations, rounded once.
inline float sum(float a, float b, const FloatMode&) {
  return a + b;
}
inline double sum(double a, double b, const FloatMode&) {
  return a + b;
}
// The sum that f64 arithmetic in nearest-even mode found, rounded. x - x is -0 when rounding down.
inline F16 rounded_sum(double sum, bool signs_differ, const FloatMode& m) {
  if (sum == 0 && signs_differ && m.round_f16_f64 == kDownward) return zero<F16>(true);
  return to_f16(sum, m);
}
inline F16 sum(F16 a, F16 b, const FloatMode& m) {
  if (rounds_to_nearest(m)) return nearest_f16(to_f32(a) + to_f32(b));
  return rounded_sum(to_f64(a) + to_f64(b), is_negative(a) != is_negative(b), m);  // exact in f64
}
inline float product(float a, float b, const FloatMode&) {
  return a * b;
}
inline double product(double a, double b, const FloatMode&) {
  return a * b;
}
inline F16 product(F16 a, F16 b, const FloatMode& m) {
  return to_f16(to_f32(a) * to_f32(b), m);  // exact in f32
}
inline float fused(float a, float b, float c, const FloatMode& m) {
#if !defined(__FMA__)
  // The product of two f32 is exact in f64. Vectorisable, unlike a call of fmaf.
  if (m.round_f32 == kNearestEven) return static_cast<float>(add_to_odd(double{a} * b, c));
#endif
  static_cast<void>(m);
  return std::fma(a, b, c);
}
inline double fused(double a, double b, double c, const FloatMode&) {
  return std::fma(a, b, c);
}
inline F16 fused(F16 a, F16 b, F16 c, const FloatMode& m) {
  const double product = to_f64(a) * to_f64(b);  // exact
  if (rounds_to_nearest(m)) {
    return nearest_f16(narrow_to_odd(add_to_odd(product, to_f64(c))));
  }
  const bool signs_differ = is_negative(product) != is_negative(c);
  return rounded_sum(add_to_odd(product, to_f64(c)), signs_differ, m);
}

template <class T>
T add(T a, T b, const FloatMode& m) {
  a = flush_input(a, m);
  b = flush_input(b, m);
  return arithmetic(sum(a, b, m), m, a, b);
}
template <class T>
T sub(T a, T b, const FloatMode& m) {
  a = flush_input(a, m);
  b = flush_input(b, m);
  // The NaN that comes out is the operand itself, not its negative.
  return arithmetic(sum(a, negate(b), m), m, a, b);
}
template <class T>
T subrev(T a, T b, const FloatMode& m) {
  a = flush_input(a, m);
  b = flush_input(b, m);
  return arithmetic(sum(b, negate(a), m), m, a, b);
}
template <class T>
T mul(T a, T b, const FloatMode& m) {
  a = flush_input(a, m);
  b = flush_input(b, m);
  return arithmetic(product(a, b, m), m, a, b);
}
template <class T>
T fma(T a, T b, T c, const FloatMode& m) {
  a = flush_input(a, m);
  b = flush_input(b, m);
  c = flush_input(c, m);
  return arithmetic(fused(a, b, c, m), m, a, b, c);
}
// Unfused: the product is rounded, and flushed, on its own.
template <class T>
T mad(T a, T b, T c, const FloatMode& m) {
  a = flush_input(a, m);
  b = flush_input(b, m);
  c = flush_input(c, m);
  return arithmetic(sum(flush_output(product(a, b, m), m), c, m), m, a, b, c);
}

template <class T>
T add_fast(T a, T b) {
  return sum(a, b, kDefaultMode);
}
template <class T>
T sub_fast(T a, T b) {
  return sum(a, negate(b), kDefaultMode);
}
template <class T>
T subrev_fast(T a, T b) {
  return sum(b, negate(a), kDefaultMode);
}
template <class T>
T mul_fast(T a, T b) {
  return product(a, b, kDefaultMode);
}
template <class T>
T fma_fast(T a, T b, T c) {
  return fused(a, b, c, kDefaultMode);
}
// The product is exact in f64, and the sum rounded twice: wrong only if the f64 sum happens to lie
// halfway between two f32, or where f32 gets denormal. The flag says that it might be.
inline Flagged<float> fma_f32_fast(float a, float b, float c) {
#if defined(__FMA__)
  return {std::fma(a, b, c), false};
#else
  const double sum = double{a} * b + c;
  const float r = static_cast<float>(sum);
  const bool halfway = (static_cast<uint32_t>(to_bits(sum)) & 0x1fffffff) == 0x10000000;
  const bool exact_zero = both(either(a == 0, b == 0), c == 0);
  return {r, either(halfway, both(is_denormal_or_zero(r), !exact_zero))};
#endif
}

// v_mad_f16, v_mac_f16, v_madmk_f16, v_madak_f16, v_mad_legacy_f16: f16 denormals are flushed in
// every mode (docs/virtual-gpu.md, "Open readings").
inline F16 mad_f16(F16 a, F16 b, F16 c, const FloatMode& m) {
  return mad(a, b, c, flushing_f16(m));
}
inline F16 mad_f16_fast(F16 a, F16 b, F16 c) {
  const F16 rounded_product = flush(product(flush(a), flush(b), kDefaultMode));
  return flush(sum(rounded_product, flush(c), kDefaultMode));
}

// The product of two f16 is exact in f32, and the sum rounded twice; the flag as above, but that a
// sum halfway between two f16 is well rounded if it is exact (Knuth's two-sum tells).
inline Flagged<F16> fma_f16_fast(F16 a, F16 b, F16 c) {
  const float product = to_f32(a) * to_f32(b);
  const float addend = to_f32(c);
  const float sum = product + addend;
  const float shadow = sum - product;
  const float error = (product - (sum - shadow)) + (addend - shadow);
  const uint32_t magnitude = magnitude_bits(sum);
  const bool halfway = both((magnitude & 0x1fff) == 0x1000, error != 0);
  const bool denormal = both(magnitude < 0x38800000, magnitude != 0);
  return {nearest_f16(sum), either(halfway, denormal)};
}

// v_mad_f32, v_mac_f32, v_madmk_f32, v_madak_f32: f32 denormals are flushed in every mode.
inline float mad_f32(float a, float b, float c, const FloatMode& m) {
  return mad(a, b, c, flushing_f32(m));
}
inline float mad_f32_fast(float a, float b, float c) {
  return flush(flush(flush(a) * flush(b)) + flush(c));
}

// Legacy multiplication: zero times anything is +0, NaN and infinity included.
inline float mul_legacy_f32(float a, float b, const FloatMode& m) {
  const float x = flush_input(a, m);
  const float y = flush_input(b, m);
  return is_zero(x) || is_zero(y) ? 0.0f : mul(x, y, m);
}
inline float mad_legacy_f32(float a, float b, float c, const FloatMode& m) {
  const FloatMode flushing = flushing_f32(m);
  return add(mul_legacy_f32(a, b, flushing), c, flushing);
}
inline float mul_legacy_f32_fast(float a, float b) {
  return either(is_zero(a), is_zero(b)) ? 0.0f : a * b;
}
inline float mad_legacy_f32_fast(float a, float b, float c) {
  return flush(flush(mul_legacy_f32_fast(flush(a), flush(b))) + flush(c));
}

// Rounding to integers: exact, so the mode's rounding does not matter. A zero has the sign of x,
// also where the compiler's inline floor, in a directed mode, would think otherwise.
template <class T, class F32, class F64>
T to_integral(T x, const FloatMode& m, F32 f32, F64 f64) {
  x = flush_input(x, m);
  T r;
  if constexpr (std::is_same_v<T, double>) {
    r = std::copysign(f64(x), x);
  } else if constexpr (std::is_same_v<T, float>) {
    r = std::copysign(f32(x), x);
  } else {
    r = with_sign(nearest_f16(f32(to_f32(x))), is_negative(x));
  }
  return is_nan(x) ? quieted(x) : r;
}
// std::nearbyint would follow the host's mode.
template <class F>
F nearest_even_integer(F x) {
  const F whole = std::trunc(x);
  const F rest = std::fabs(x - whole);
  const bool odd = std::trunc(whole * F{0.5}) != whole * F{0.5};
  const F away = std::copysign(F{1}, x);
  return std::copysign(rest > F{0.5} || (rest == F{0.5} && odd) ? whole + away : whole, x);
}
// For a host in nearest-even mode: adding and taking away 2^23 (2^52) leaves an integer.
template <class F>
F nearest_even_integer_fast(F x) {
  constexpr F kUnit = std::is_same_v<F, float> ? F{0x1p23f} : F{0x1p52};
  const F magnitude = std::fabs(x);
  const F rounded = (magnitude + kUnit) - kUnit;
  return std::copysign(magnitude < kUnit ? rounded : magnitude, x);
}
// Baseline x86-64 has no instruction for these, and a call could not be vectorised.
inline float trunc_f32(float x) {
  const bool has_fraction = std::fabs(x) < 0x1p23f;
  const float whole = static_cast<float>(static_cast<int32_t>(has_fraction ? x : 0.0f));
  return has_fraction ? whole : x;
}
inline float floor_f32(float x) {
  const float whole = trunc_f32(x);
  return whole > x ? whole - 1.0f : whole;
}
inline float ceil_f32(float x) {
  const float whole = trunc_f32(x);
  return whole < x ? whole + 1.0f : whole;
}
template <class T>
T trunc(T x, const FloatMode& m) {
  return to_integral(x, m, trunc_f32, [](double y) { return std::trunc(y); });
}
template <class T>
T floor(T x, const FloatMode& m) {
  return to_integral(x, m, floor_f32, [](double y) { return std::floor(y); });
}
template <class T>
T ceil(T x, const FloatMode& m) {
  return to_integral(x, m, ceil_f32, [](double y) { return std::ceil(y); });
}
template <class T>
T rndne(T x, const FloatMode& m) {
  if (rounds_to_nearest(m)) {
    return to_integral(x, m, nearest_even_integer_fast<float>, nearest_even_integer_fast<double>);
  }
  return to_integral(x, m, nearest_even_integer<float>, nearest_even_integer<double>);
}
// x - floor(x), and always below 1.
template <class T>
T fract(T x, const FloatMode& m) {
  constexpr BitsOf<T> kBelowOne =
      (static_cast<BitsOf<T>>(Real<T>::kBias) << Real<T>::kMantissaBits) - 1;
  x = flush_input(x, m);
  if (is_nan(x)) return quieted(x);
  if (is_infinite(x)) return default_nan<T>();
  const T r = flush_output(sum(x, negate(floor(x, m)), m), m);
  return magnitude_bits(r) > kBelowOne ? from_bits<T>(kBelowOne) : r;
}

// x * 2^n.
inline float ldexp_f32(float x, int32_t n, const FloatMode& m) {
  const float a = flush_input(x, m);
  return arithmetic(std::ldexp(a, n), m, a);
}
inline double ldexp_f64(double x, int32_t n, const FloatMode& m) {
  const double a = flush_input(x, m);
  return arithmetic(std::ldexp(a, n), m, a);
}
// As a product, rounded once, while 2^n is a normal number.
inline Flagged<float> ldexp_f32_fast(float x, int32_t n) {
  const uint32_t power = (static_cast<uint32_t>(n) + 127) << 23;
  return {x * from_bits<float>(power), either(n < -126, n > 127)};
}
inline Flagged<double> ldexp_f64_fast(double x, int32_t n) {
  const uint64_t power = (uint64_t{static_cast<uint32_t>(n)} + 1023) << 52;
  return {x * from_bits<double>(power), either(n < -1022, n > 1023)};
}
inline F16 ldexp_f16(F16 x, int16_t n, const FloatMode& m) {
  const F16 a = flush_input(x, m);
  // Beyond ±60, the result over- or underflows for every x.
  const int bounded = n < -60 ? -60 : (n > 60 ? 60 : n);
  return arithmetic(to_f16(std::ldexp(to_f64(a), bounded), m), m, a);
}

// An f32 can represent the product for every bounded power.
inline F16 ldexp_f16_fast(F16 x, int16_t n) {
  const int bounded = n < -60 ? -60 : (n > 60 ? 60 : n);
  return nearest_f16(to_f32(x) * from_bits<float>(static_cast<uint32_t>(bounded + 127) << 23));
}

// Significand in [0.5, 1) and exponent; infinities and NaNs keep their value and have exponent 0.
template <class T>
int frexp_exp(T x, const FloatMode& m) {
  x = flush_input(x, m);
  if (is_nan(x) || is_infinite(x)) return 0;
  int exponent = 0;
  std::frexp(comparable(x), &exponent);
  return exponent;
}
template <class T>
T frexp_mant(T x, const FloatMode& m) {
  x = flush_input(x, m);
  if (is_nan(x)) return quieted(x);
  if (is_infinite(x)) return x;
  int exponent = 0;
  const auto significand = std::frexp(comparable(x), &exponent);
  if constexpr (std::is_same_v<T, F16>) {
    return nearest_f16(significand);
  } else {
    return significand;
  }
}
inline int16_t frexp_exp_i16_f16(F16 x, const FloatMode& m) {
  return static_cast<int16_t>(frexp_exp(x, m));
}

}  // namespace halyard::vgpu::isa::valu
