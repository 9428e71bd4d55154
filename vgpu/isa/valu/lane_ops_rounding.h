// Rounding to integers, and taking floats apart, in the default mode without the rules for rare
// cases (core() in loops.h says when these run; lane_ops_float.h has the rules). No branches, calls
// or conversions to integers, which would keep a loop over lanes from being vectorised.
#pragma once

#include <cmath>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/lane_ops_float.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

template <class F>
F trunc_fast(F x) {
  const F magnitude = std::fabs(x);
  const F nearest = nearest_even_integer_fast(magnitude);
  return std::copysign(nearest - (nearest > magnitude ? F{1} : F{0}), x);
}
template <class F>
F floor_fast(F x) {
  const F nearest = nearest_even_integer_fast(x);
  return std::copysign(nearest - (nearest > x ? F{1} : F{0}), x);
}
template <class F>
F ceil_fast(F x) {
  const F nearest = nearest_even_integer_fast(x);
  return std::copysign(nearest + (nearest < x ? F{1} : F{0}), x);
}
template <class F>
F rndne_fast(F x) {
  return nearest_even_integer_fast(x);
}
// An infinity gives a NaN, which is rare.
template <class F>
F fract_fast(F x) {
  constexpr F kBelowOne = std::is_same_v<F, float> ? F{0x1.fffffep-1f} : F{0x1.fffffffffffffp-1};
  const F rest = x - floor_fast(x);
  return rest > kBelowOne ? kBelowOne : rest;
}

// f16 through f32. A NaN stays one.
template <auto kFunction>
F16 through_f32(F16 x) {
  return nearest_f16(kFunction(to_f32(x)));
}
// What rounds to 1, or lies between, becomes the largest f16 below it.
inline float fract_of_f16(float x) {
  constexpr float kBelowOne = 0x1.ffcp-1f;
  const float rest = x - floor_fast(x);
  return rest > kBelowOne ? kBelowOne : rest;
}

// Denormals, which have to be normalised, are rare.
template <class F>
Flagged<int> frexp_exp_fast(F x) {
  const BitsOf<F> magnitude = magnitude_bits(x);
  const bool plain = either(magnitude >= Real<F>::kExponent, magnitude == 0);
  const int exponent = static_cast<int>(magnitude >> Real<F>::kMantissaBits) - Real<F>::kBias + 1;
  return {plain ? 0 : exponent, both(is_denormal_or_zero(x), magnitude != 0)};
}
template <class F>
Flagged<F> frexp_mant_fast(F x) {
  constexpr BitsOf<F> kHalf = static_cast<BitsOf<F>>(Real<F>::kBias - 1) << Real<F>::kMantissaBits;
  const BitsOf<F> magnitude = magnitude_bits(x);
  const bool keeps = either(magnitude >= Real<F>::kExponent, magnitude == 0);
  const BitsOf<F> significand = (to_bits(x) & ~Real<F>::kExponent) | kHalf;
  return {from_bits<F>(keeps ? to_bits(x) : significand),
          both(is_denormal_or_zero(x), magnitude != 0)};
}
// Every f16 is a normal f32.
inline int16_t frexp_exp_f16_fast(F16 x) {
  return static_cast<int16_t>(frexp_exp_fast(to_f32(x)).value);
}
inline F16 frexp_mant_f16_fast(F16 x) {
  return nearest_f16(frexp_mant_fast(to_f32(x)).value);
}

}  // namespace halyard::vgpu::isa::valu
