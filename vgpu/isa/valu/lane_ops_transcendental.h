// Reciprocals, roots, exponentials, logarithms and trigonometry, one lane each.
//
// If the ISA gives a bound (1 ulp for f32, about 2^-28 for v_rcp_f64 and similar), the result is
// the correctly rounded value, or f64 libm's rounded once more; hardware may differ in the last
// bits. The f32 instructions flush denormals, in and out, in every mode: LLVM's lowering of
// division, sqrt, exp and log relies only on that. Sines and cosines, f16 and f64 follow the mode
// (docs/virtual-gpu.md, "Open readings").
#pragma once

#include <cmath>
#include <cstdint>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// sin and cos of an angle in turns. Reduction to a quarter turn is exact, so that the zeros and the
// extremes come out exact.
inline double sine_of_turns(double turns) {
  if (turns == 0) return turns;
  const double r = turns - nearest_even_integer(turns);
  const double quarter = std::fabs(r) > 0.25 ? std::copysign(0.5, r) - r : r;
  return std::sin(quarter * 6.283185307179586476925);
}
inline double cosine_of_turns(double turns) {
  const double r = std::fabs(turns - nearest_even_integer(turns));
  return std::sin((0.25 - r) * 6.283185307179586476925);
}

// A function of one f32 by way of f64, denormals flushed.
template <double (*kFunction)(double)>
float by_f64(float x, const FloatMode& m) {
  const float a = flush(x);
  return arithmetic(static_cast<float>(kFunction(a)), flushing_f32(m), a);
}
// The same, but that denormals follow the mode.
template <double (*kFunction)(double)>
float by_f64_in_mode(float x, const FloatMode& m) {
  const float a = flush_input(x, m);
  return arithmetic(static_cast<float>(kFunction(a)), m, a);
}
// Of one f16: the f64 value is rounded once.
template <double (*kFunction)(double)>
F16 by_f64(F16 x, const FloatMode& m) {
  const F16 a = flush_input(x, m);
  return arithmetic(to_f16(kFunction(to_f64(a)), m), m, a);
}
template <double (*kFunction)(double)>
double in_f64(double x, const FloatMode& m) {
  const double a = flush_input(x, m);
  return arithmetic(kFunction(a), m, a);
}

// The overloads of by_f64, by name.
template <double (*kFunction)(double)>
constexpr float (*kF32)(float, const FloatMode&) = by_f64<kFunction>;
template <double (*kFunction)(double)>
constexpr float (*kF32InMode)(float, const FloatMode&) = by_f64_in_mode<kFunction>;
template <double (*kFunction)(double)>
constexpr F16 (*kF16)(F16, const FloatMode&) = by_f64<kFunction>;

inline double reciprocal(double x) {
  return 1.0 / x;
}
inline double root(double x) {
  return std::sqrt(x);
}
// rsq(-0) is -inf.
inline double reciprocal_root(double x) {
  return 1.0 / std::sqrt(x);
}
inline double power_of_two(double x) {
  return std::exp2(x);
}
inline double log_base_two(double x) {
  return std::log2(x);
}
// Angles beyond 256 turns are out of the domain: the result is that of angle 0.
inline double sine_in_domain(double x) {
  if (std::isinf(x)) return x - x;
  return std::fabs(x) > 256 ? std::copysign(0.0, x) : sine_of_turns(x);
}
inline double cosine_in_domain(double x) {
  if (std::isinf(x)) return x - x;
  return std::fabs(x) > 256 ? 1.0 : cosine_of_turns(x);
}

inline float rcp_f32(float x, const FloatMode& m) {
  const float a = flush(x);
  return arithmetic(1.0f / a, flushing_f32(m), a);
}
inline float sqrt_f32(float x, const FloatMode& m) {
  const float a = flush(x);
  return arithmetic(std::sqrt(a), flushing_f32(m), a);
}

// 2/pi, 1201 bits of its fraction, the first one topmost.
inline constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};

// 53 bits of 2/pi, as an f64 in place, for the argument reduction of sin and cos: the segment `s`
// of those that matter for an argument as large as `x`.
inline double trig_preop_f64(double x, uint32_t s) {
  const int exponent = biased_exponent(x);
  unsigned shift = (s & 31) * 53;
  if (exponent > 1077) shift += static_cast<unsigned>(exponent - 1077);
  constexpr unsigned kWords = sizeof kTwoOverPi / sizeof kTwoOverPi[0];
  const unsigned word = shift / 64;
  const unsigned bit = shift % 64;
  const uint64_t high = word < kWords ? kTwoOverPi[word] : 0;
  const uint64_t low = word + 1 < kWords ? kTwoOverPi[word + 1] : 0;
  const uint64_t window = bit == 0 ? high : high << bit | low >> (64 - bit);
  const double segment = static_cast<double>(window >> 11);
  const int scale = -53 - static_cast<int>(shift) + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(segment, scale);
}

}  // namespace halyard::vgpu::isa::valu
