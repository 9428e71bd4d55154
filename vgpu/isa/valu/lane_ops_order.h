// Minimum, maximum and median of floats, one lane each, for f32, f64 and f16 alike.
//
// The `_fast` versions are for the default mode, and flag what they do not obey the rules for.
#pragma once

#include <cstdint>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// Order. A comparison with a NaN is false; -0 equals +0.
inline float comparable(float x) {
  return x;
}
inline double comparable(double x) {
  return x;
}
inline float comparable(F16 x) {
  return to_f32(x);
}

template <class T>
bool less(T a, T b) {
  return comparable(a) < comparable(b);
}

// Minimum and maximum: a signalling NaN wins in IEEE mode (and comes out quiet), any other NaN
// loses, and -0 is less than +0.
template <bool kHigher, class T>
T choose_num(T x, T y, const FloatMode& m) {
  const T a = flush_input(x, m);
  const T b = flush_input(y, m);
  T r = (kHigher ? less(b, a) : less(a, b)) ? a : b;
  // Equal zeros: of the lower one the sign is set if any is, of the higher one if both are.
  const auto zeros =
      static_cast<BitsOf<T>>(kHigher ? to_bits(a) & to_bits(b) : to_bits(a) | to_bits(b));
  r = both(is_zero(a), is_zero(b)) ? from_bits<T>(zeros) : r;
  r = is_nan(b) ? a : r;
  r = is_nan(a) ? b : r;
  if (m.ieee) {
    r = is_signaling(b) ? quieted(b) : r;
    r = is_signaling(a) ? quieted(a) : r;
  }
  return r;
}
template <class T>
T min_num(T x, T y, const FloatMode& m) {
  return choose_num<false>(x, y, m);
}
template <class T>
T max_num(T x, T y, const FloatMode& m) {
  return choose_num<true>(x, y, m);
}
// Without the rules for NaNs and for two zeros of different sign, which the flag reports.
template <class T>
bool is_unusual_order(T a, T b) {
  return either(either(a != a, b != b), both(a == b, to_bits(a) != to_bits(b)));
}
template <class T>
T lower_of(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T higher_of(T a, T b) {
  return b < a ? a : b;
}
template <class T>
Flagged<T> min_fast(T a, T b) {
  return {lower_of(a, b), is_unusual_order(a, b)};
}
template <class T>
Flagged<T> max_fast(T a, T b) {
  return {higher_of(a, b), is_unusual_order(a, b)};
}
// f16 as integers that are ordered like them, -0 below +0; and back. NaNs are at both ends.
inline int32_t to_ordered(F16 x) {
  const int32_t bits = static_cast<int16_t>(x.bits);
  return bits ^ (bits >> 31 & 0x7fff);
}
inline F16 from_ordered(int32_t x) {
  return F16{static_cast<uint16_t>(x ^ (x >> 31 & 0x7fff))};
}
inline bool is_ordered_nan(int32_t x) {
  return either(x > 0x7c00, x < ~0x7c00);
}
template <>
inline Flagged<F16> min_fast(F16 x, F16 y) {
  const int32_t a = to_ordered(x), b = to_ordered(y);
  return {from_ordered(lower_of(a, b)), either(is_ordered_nan(a), is_ordered_nan(b))};
}
template <>
inline Flagged<F16> max_fast(F16 x, F16 y) {
  const int32_t a = to_ordered(x), b = to_ordered(y);
  return {from_ordered(higher_of(a, b)), either(is_ordered_nan(a), is_ordered_nan(b))};
}
template <class T>
T min3(T a, T b, T c, const FloatMode& m) {
  return min_num(min_num(a, b, m), c, m);
}
template <class T>
T max3(T a, T b, T c, const FloatMode& m) {
  return max_num(max_num(a, b, m), c, m);
}
template <class T>
T med3(T a, T b, T c, const FloatMode& m) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return min3(a, b, c, m);
  const auto top = comparable(max3(a, b, c, m));
  if (top == comparable(flush_input(a, m))) return max_num(b, c, m);
  if (top == comparable(flush_input(b, m))) return max_num(a, c, m);
  return max_num(a, b, m);
}

// IEEE 754-2019's minimum and maximum: a NaN comes out, quiet, a signalling one before others (RDNA
// 4 ISA, V_MINIMUM_F32; CDNA 4's document names the function only), and -0 is less than +0.
template <bool kHigher, class T>
T choose_ieee(T x, T y, const FloatMode& m) {
  const T a = flush_input(x, m);
  const T b = flush_input(y, m);
  T r = (kHigher ? less(b, a) : less(a, b)) ? a : b;
  const auto zeros =
      static_cast<BitsOf<T>>(kHigher ? to_bits(a) & to_bits(b) : to_bits(a) | to_bits(b));
  r = both(is_zero(a), is_zero(b)) ? from_bits<T>(zeros) : r;
  r = is_nan(b) ? quieted(b) : r;
  r = is_nan(a) ? quieted(a) : r;
  r = is_signaling(b) ? quieted(b) : r;
  return is_signaling(a) ? quieted(a) : r;
}
template <class T>
T minimum3(T a, T b, T c, const FloatMode& m) {
  return choose_ieee<false>(choose_ieee<false>(a, b, m), c, m);
}
template <class T>
T maximum3(T a, T b, T c, const FloatMode& m) {
  return choose_ieee<true>(choose_ieee<true>(a, b, m), c, m);
}

template <class T>
bool is_unusual_order(T a, T b, T c) {
  return either(either(is_unusual_order(a, b), is_unusual_order(b, c)), is_unusual_order(a, c));
}
template <class T>
T middle_of(T a, T b, T c) {
  return higher_of(lower_of(a, b), lower_of(higher_of(a, b), c));
}
inline Flagged<float> min3_f32_fast(float a, float b, float c) {
  return {lower_of(lower_of(a, b), c), is_unusual_order(a, b, c)};
}
inline Flagged<float> max3_f32_fast(float a, float b, float c) {
  return {higher_of(higher_of(a, b), c), is_unusual_order(a, b, c)};
}
inline Flagged<float> med3_f32_fast(float a, float b, float c) {
  return {middle_of(a, b, c), is_unusual_order(a, b, c)};
}
inline bool is_any_nan(int32_t a, int32_t b, int32_t c) {
  return either(is_ordered_nan(a), either(is_ordered_nan(b), is_ordered_nan(c)));
}
inline Flagged<F16> min3_f16_fast(F16 x, F16 y, F16 z) {
  const int32_t a = to_ordered(x), b = to_ordered(y), c = to_ordered(z);
  return {from_ordered(lower_of(lower_of(a, b), c)), is_any_nan(a, b, c)};
}
inline Flagged<F16> max3_f16_fast(F16 x, F16 y, F16 z) {
  const int32_t a = to_ordered(x), b = to_ordered(y), c = to_ordered(z);
  return {from_ordered(higher_of(higher_of(a, b), c)), is_any_nan(a, b, c)};
}
// med3() takes zeros of either sign for the same; the flag reports a -0 (-1 in this order).
inline Flagged<F16> med3_f16_fast(F16 x, F16 y, F16 z) {
  const int32_t a = to_ordered(x), b = to_ordered(y), c = to_ordered(z);
  const bool negative_zero = either(a == -1, either(b == -1, c == -1));
  return {from_ordered(middle_of(a, b, c)), either(is_any_nan(a, b, c), negative_zero)};
}

}  // namespace halyard::vgpu::isa::valu
