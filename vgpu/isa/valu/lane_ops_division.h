// The three steps around a division's Newton iterations, one lane each: v_div_scale brings
// numerator and denominator into a range where the iterations neither overflow nor lose bits to
// denormals, v_div_fmas undoes that in its last step, v_div_fixup handles the special operands.
//
// The ISA document's text for scale and fmas contradicts itself (fmas scales one way only, and a
// huge denominator is scaled up); what follows is the reading under which the sequence that LLVM
// emits is correctly rounded for all operands, as the tests check.
#pragma once

#include <cmath>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

template <class T>
struct DivisionLimits;
template <>
struct DivisionLimits<float> {
  static constexpr int kScale = 64;              // by which operands are scaled, as a power of two
  static constexpr int kLargeQuotient = 96;      // difference of exponents
  static constexpr int kSmallQuotient = -126;    // from here down the quotient may be denormal
  static constexpr int kLargeDenominator = 253;  // biased: its reciprocal may be denormal
  static constexpr int kSmallNumerator = 23;     // biased
  static constexpr int kUnderflow = -150;
};
template <>
struct DivisionLimits<double> {
  static constexpr int kScale = 128;
  static constexpr int kLargeQuotient = 768;
  static constexpr int kSmallQuotient = -1022;
  static constexpr int kLargeDenominator = 2045;
  static constexpr int kSmallNumerator = 53;
  static constexpr int kUnderflow = -1075;
};

// For exponents, all at once: the top bit is set if `x` is not from `low` to `high`.
constexpr uint32_t outside(int x, int low, int high) {
  return static_cast<uint32_t>((x - low) | (high - x));
}
// The top bit is set unless v_div_scale lets operands of these biased exponents alone.
template <class T>
constexpr uint32_t may_be_scaled(int denominator, int numerator) {
  using Limits = DivisionLimits<T>;
  constexpr int kLargest = static_cast<int>(Real<T>::kExponent >> Real<T>::kMantissaBits) - 1;
  return outside(denominator, 1, Limits::kLargeDenominator - 1) |
         outside(numerator, Limits::kSmallNumerator + 1, kLargest) |
         outside(numerator - denominator, Limits::kSmallQuotient + 1, Limits::kLargeQuotient - 1);
}
// The top bit is set unless v_div_fixup gives nothing but its sign to the quotient of operands of
// these biased exponents, or it is NaN.
template <class T>
constexpr uint32_t may_be_fixed(int denominator, int numerator) {
  constexpr int kLargest = static_cast<int>(Real<T>::kExponent >> Real<T>::kMantissaBits) - 1;
  return outside(denominator, 1, kLargest) | outside(numerator, 1, kLargest) |
         outside(numerator - denominator, DivisionLimits<T>::kUnderflow, kLargest);
}

// `x` is the value to scale, either the numerator or the denominator. The flag says that only one
// of the two is scaled, so that the quotient is off by the scale.
template <class T>
Flagged<T> div_scale(T x, T denominator, T numerator, const FloatMode& m) {
  using Limits = DivisionLimits<T>;
  const T v = flush_input(x, m);
  const T d = flush_input(denominator, m);
  const T n = flush_input(numerator, m);
  if (is_zero(n) || is_zero(d)) return {default_nan<T>(), false};
  const bool is_denominator = to_bits(v) == to_bits(d);
  const bool is_numerator = to_bits(v) == to_bits(n);
  const int difference = biased_exponent(n) - biased_exponent(d);
  const bool small_quotient = difference <= Limits::kSmallQuotient;
  const bool large_denominator = biased_exponent(d) >= Limits::kLargeDenominator;
  const auto scaled = [&](bool applies, int power) {
    return applies ? static_cast<T>(std::ldexp(v, power)) : v;
  };
  if (is_nan(n) || is_nan(d) || is_infinite(n) || is_infinite(d)) return {v, false};
  if (difference >= Limits::kLargeQuotient) return {scaled(is_denominator, Limits::kScale), true};
  if (is_denormal_or_zero(d)) return {scaled(true, Limits::kScale), false};
  if (large_denominator && small_quotient) return {scaled(is_denominator, -Limits::kScale), true};
  if (large_denominator) return {scaled(true, -Limits::kScale), false};
  if (small_quotient) return {scaled(is_numerator, Limits::kScale), true};
  if (biased_exponent(n) <= Limits::kSmallNumerator) return {scaled(true, Limits::kScale), false};
  return {v, false};
}

// The flag is that of rare cases, in which something may be scaled; else div_scale's is not set.
template <class T>
Flagged<T> div_scale_fast(T x, T denominator, T numerator) {
  const uint32_t rare = may_be_scaled<T>(biased_exponent(denominator), biased_exponent(numerator));
  return {x, rare >> 31 != 0};
}

// fma times a power of two, rounded once although std::ldexp rounds a denormal result again.
// Rounding twice the same way does no harm in the directed modes.
inline float scaled_fma(float a, float b, float c, int power, const FloatMode& m) {
  const double product = double{a} * b;  // exact
  const double r = m.round_f32 == kNearestEven ? add_to_odd(product, c) : product + c;
  return static_cast<float>(std::ldexp(r, power));
}
inline double scaled_fma(double a, double b, double c, int power, const FloatMode& m) {
  const double r = std::fma(a, b, c);
  const bool overflows = magnitude_bits(r) >= Real<double>::kExponent - 1;
  if (power < 0 && overflows && !is_infinite(a) && !is_infinite(b)) {
    // The product is out of range before it is scaled; `c`, which is below 2 then, only says how to
    // round, so it must not become 0.
    const double rest = std::ldexp(c, power);
    return std::fma(std::ldexp(a, power), b,
                    is_zero(rest) && !is_zero(c) ? std::copysign(0x1p-1074, c) : rest);
  }
  const double result = std::ldexp(r, power);
  if (m.round_f16_f64 != kNearestEven || !is_denormal_or_zero(result) || is_zero(r)) return result;
  // Only where r lies halfway between two denormals can its own rounding error have misled the
  // second rounding.
  const double rest = r - std::ldexp(result, -power);  // exact
  if (std::fabs(rest) != std::ldexp(1.0, -1075 - power)) return result;
  // That error, exactly (Boldo and Muller, "Some functions computable with a fused-mac").
  const double product = a * b;
  const double product_error = std::fma(a, b, -product);
  const double s = product_error + c;
  const double s_shadow = s - product_error;
  const double s_error = (product_error - (s - s_shadow)) + (c - s_shadow);
  const double t = product + s;
  const double t_shadow = t - product;
  const double t_error = (product - (t - t_shadow)) + (s - t_shadow);
  const double error = ((t - r) + t_error) + s_error;
  if (error == 0 || std::signbit(error) != std::signbit(rest)) return result;
  return result + std::copysign(0x1p-1074, rest);
}

// fma, and with v_div_scale's flag (in VCC) the scale undone: a large quotient was made smaller, a
// small one larger. Denormals that come in are kept in every mode: what is left of the numerator
// may be one, and LLVM's division is in the program's mode again here.
template <class T>
T div_fmas(T a, T b, T c, bool unscale, const FloatMode& m) {
  if (!unscale) return arithmetic(fused(a, b, c, m), m, a, b, c);
  const int scale = DivisionLimits<T>::kScale;
  const int power = biased_exponent(c) > Real<T>::kBias ? scale : -scale;
  return arithmetic(scaled_fma(a, b, c, power, m), m, a, b, c);
}

// No unscaling is needed. The f32 fma handles its own rare cases.
inline Flagged<float> div_fmas_f32_fast(float a, float b, float c, bool unscale) {
  const Flagged<float> r = fma_f32_fast(a, b, c);
  return {r.value, either(r.flag != 0, unscale)};
}
inline Flagged<double> div_fmas_f64_fast(double a, double b, double c, bool unscale) {
  return {fma_fast(a, b, c), unscale};
}

// The result of numerator / denominator, given the iterations' quotient. Beyond the ISA's text: a
// quotient that is NaN although both operands are finite is an overflow of the iterations.
template <class T>
T div_fixup_special(T quotient, T d, T n) {
  const bool negative = is_negative(d) != is_negative(n);
  if (is_nan(n)) return quieted(n);
  if (is_nan(d)) return quieted(d);
  if ((is_zero(d) && is_zero(n)) || (is_infinite(d) && is_infinite(n))) {
    return negate(default_nan<T>());
  }
  if (is_zero(d) || is_infinite(n)) return infinity<T>(negative);
  if (is_infinite(d) || is_zero(n)) return zero<T>(negative);
  if (is_nan(quotient)) return infinity<T>(negative);
  return with_sign(quotient, negative);
}
template <class T>
T div_fixup(T quotient, T denominator, T numerator, const FloatMode& m) {
  const T q = flush_input(quotient, m);
  const T d = flush_input(denominator, m);
  const T n = flush_input(numerator, m);
  if constexpr (!std::is_same_v<T, F16>) {
    const bool finite = !is_nan(n) && !is_nan(d) && !is_infinite(n) && !is_infinite(d);
    const bool underflow = biased_exponent(n) - biased_exponent(d) < DivisionLimits<T>::kUnderflow;
    if (finite && !is_zero(n) && !is_zero(d) && underflow) {
      return zero<T>(is_negative(d) != is_negative(n));
    }
  }
  return div_fixup_special(q, d, n);
}
template <class T>
Flagged<T> div_fixup_fast(T quotient, T denominator, T numerator) {
  const uint32_t rare = may_be_fixed<T>(biased_exponent(denominator), biased_exponent(numerator));
  const BitsOf<T> sign = (to_bits(denominator) ^ to_bits(numerator)) & Real<T>::kSign;
  return {from_bits<T>(magnitude_bits(quotient) | sign), rare >> 31 != 0};
}

// Zeros, infinities and NaNs are rare.
inline Flagged<F16> div_fixup_f16_fast(F16 quotient, F16 denominator, F16 numerator) {
  const uint32_t d = magnitude_bits(denominator), n = magnitude_bits(numerator);
  constexpr uint32_t kUsual = Real<F16>::kExponent - 1;
  const F16 result = with_sign(quotient, is_negative(denominator) != is_negative(numerator));
  return {result, either(d - 1 >= kUsual, n - 1 >= kUsual)};
}

}  // namespace halyard::vgpu::isa::valu
