// The value types of lane operations, and the float rules that all of them share.
//
// A lane operation is a function over these types, for one lane: f32 is float, f64 double, f16
// F16 (its bit pattern), integers are the fixed-width types. What an operation does with NaNs,
// denormals and rounding is spelled out in it, with the helpers below, because the host's rules
// differ from the GPU's (x86 picks another NaN operand, and knows no per-type modes).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::valu {

struct F16 {
  uint16_t bits;
};
struct PkF16 {
  F16 lo, hi;
};
struct BF16 {
  uint16_t bits;
};
struct PkBF16 {
  BF16 lo, hi;
};
struct PkU16 {
  uint16_t lo, hi;
};
struct PkI16 {
  int16_t lo, hi;
};
struct PkF32 {
  float lo, hi;
};
struct B128 {
  uint32_t dword[4];
};

// A parameter of this type receives the number of the lane.
struct Lane {
  unsigned index;
};

// A result with one more bit: a carry, or v_div_scale's "scaled".
template <class T>
struct Flagged {
  constexpr Flagged(T v, bool f) : value(v), flag(f ? 1 : 0) {}
  T value;
  uint32_t flag;  // 0 or 1; not bool, which keeps gcc from vectorising
};

// The mode that kernels start in unless they ask for another one. Loops are compiled once with it
// as a constant, so that its tests fold away, and once for all the rest.
inline constexpr FloatMode kDefaultMode{};

// DX10_CLAMP may be either: it is no part of the arithmetic.
inline bool is_default(const FloatMode& m) {
  static_assert(offsetof(FloatMode, denorm_f16_f64) == 3);
  uint32_t fields = 0, usual = 0;  // rounding and denormals, at once
  std::memcpy(&fields, &m, sizeof fields);
  std::memcpy(&usual, &kDefaultMode, sizeof usual);
  return fields == usual && m.ieee && !m.fp16_overflow;
}

// v_mad_f32 and its kin, and the transcendental unit, flush f32 denormals in every mode.
constexpr FloatMode flushing_f32(FloatMode m) {
  m.denorm_f32 = 0;
  return m;
}
// v_mad_f16 and its kin flush f16 denormals in every mode.
constexpr FloatMode flushing_f16(FloatMode m) {
  m.denorm_f16_f64 = 0;
  return m;
}

template <class T>
struct Real;

template <>
struct Real<float> {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x80000000, kExponent = 0x7f800000, kQuiet = 0x00400000;
  static constexpr int kMantissaBits = 23, kBias = 127;
  static constexpr unsigned denorm(const FloatMode& m) { return m.denorm_f32; }
  static constexpr unsigned round(const FloatMode& m) { return m.round_f32; }
};
template <>
struct Real<double> {
  using Bits = uint64_t;
  static constexpr Bits kSign = 0x8000000000000000, kExponent = 0x7ff0000000000000,
                        kQuiet = 0x0008000000000000;
  static constexpr int kMantissaBits = 52, kBias = 1023;
  static constexpr unsigned denorm(const FloatMode& m) { return m.denorm_f16_f64; }
  static constexpr unsigned round(const FloatMode& m) { return m.round_f16_f64; }
};
template <>
struct Real<F16> {
  using Bits = uint16_t;
  static constexpr Bits kSign = 0x8000, kExponent = 0x7c00, kQuiet = 0x0200;
  static constexpr int kMantissaBits = 10, kBias = 15;
  static constexpr unsigned denorm(const FloatMode& m) { return m.denorm_f16_f64; }
  static constexpr unsigned round(const FloatMode& m) { return m.round_f16_f64; }
};

template <>
struct Real<BF16> {
  using Bits = uint16_t;
  static constexpr Bits kSign = 0x8000, kExponent = 0x7f80, kQuiet = 0x0040;
  static constexpr int kMantissaBits = 7, kBias = 127;
};

template <class T>
using BitsOf = typename Real<T>::Bits;

template <class T>
constexpr BitsOf<T> to_bits(T x) {
  return std::bit_cast<BitsOf<T>>(x);
}
template <class T>
constexpr T from_bits(BitsOf<T> bits) {
  return std::bit_cast<T>(bits);
}

// A bf16 is the upper half of an f32.
constexpr float to_f32(BF16 x) {
  return std::bit_cast<float>(uint32_t{x.bits} << 16);
}

// `&&` and `||` that evaluate both sides: a branch would keep a loop from being vectorised.
constexpr bool both(bool a, bool b) {
  return (unsigned{a} & unsigned{b}) != 0;
}
constexpr bool either(bool a, bool b) {
  return (unsigned{a} | unsigned{b}) != 0;
}

template <class T>
constexpr BitsOf<T> magnitude_bits(T x) {
  return static_cast<BitsOf<T>>(to_bits(x) & ~Real<T>::kSign);
}
template <class T>
constexpr bool is_nan(T x) {
  return magnitude_bits(x) > Real<T>::kExponent;
}
template <class T>
constexpr bool is_signaling(T x) {
  return both(is_nan(x), (to_bits(x) & Real<T>::kQuiet) == 0);
}
template <class T>
constexpr bool is_infinite(T x) {
  return magnitude_bits(x) == Real<T>::kExponent;
}
template <class T>
constexpr bool is_zero(T x) {
  return magnitude_bits(x) == 0;
}
template <class T>
constexpr bool is_negative(T x) {
  return (to_bits(x) & Real<T>::kSign) != 0;
}
// A zero counts as one, because the caller replaces it by a zero.
template <class T>
constexpr bool is_denormal_or_zero(T x) {
  return (to_bits(x) & Real<T>::kExponent) == 0;
}
template <class T>
constexpr int biased_exponent(T x) {
  return static_cast<int>(magnitude_bits(x) >> Real<T>::kMantissaBits);
}
template <class T>
constexpr T negate(T x) {
  return from_bits<T>(static_cast<BitsOf<T>>(to_bits(x) ^ Real<T>::kSign));
}
template <class T>
constexpr T absolute(T x) {
  return from_bits<T>(magnitude_bits(x));
}
template <class T>
constexpr T with_sign(T x, bool negative) {
  return from_bits<T>(static_cast<BitsOf<T>>(magnitude_bits(x) | (negative ? Real<T>::kSign : 0)));
}
template <class T>
constexpr T infinity(bool negative) {
  return from_bits<T>(static_cast<BitsOf<T>>(Real<T>::kExponent | (negative ? Real<T>::kSign : 0)));
}
template <class T>
constexpr T zero(bool negative) {
  return from_bits<T>(static_cast<BitsOf<T>>(negative ? Real<T>::kSign : 0));
}
template <class T>
constexpr T quieted(T x) {
  return from_bits<T>(static_cast<BitsOf<T>>(to_bits(x) | Real<T>::kQuiet));
}
// The result of an invalid operation (inf - inf, 0 * inf, sqrt(-1)). AMD documents neither sign nor
// payload; LLVM's constant folder uses the positive quiet NaN with an empty payload.
template <class T>
constexpr T default_nan() {
  return from_bits<T>(static_cast<BitsOf<T>>(Real<T>::kExponent | Real<T>::kQuiet));
}

// Flushes denormals by mode: bit 0 of the mode's field keeps inputs, bit 1 outputs. A flushed value
// keeps its sign.
template <class T>
constexpr T flush(T x) {
  return from_bits<T>(is_denormal_or_zero(x) ? static_cast<BitsOf<T>>(to_bits(x) & Real<T>::kSign)
                                             : to_bits(x));
}
template <class T>
constexpr T flush_input(T x, const FloatMode& m) {
  return (Real<T>::denorm(m) & 1) != 0 ? x : flush(x);
}
template <class T>
constexpr T flush_output(T x, const FloatMode& m) {
  return (Real<T>::denorm(m) & 2) != 0 ? x : flush(x);
}

// The NaN that an arithmetic operation returns: its first NaN operand, quieted, or the default one.
template <class T>
constexpr T nan_result(T a) {
  return is_nan(a) ? quieted(a) : default_nan<T>();
}
template <class T, class... Rest>
constexpr T nan_result(T a, Rest... rest) {
  return is_nan(a) ? quieted(a) : nan_result(rest...);
}

// Completes an arithmetic operation whose host result is `r`: NaNs by the GPU's rule, denormal
// results by the mode.
template <class T, class... Operands>
constexpr T arithmetic(T r, const FloatMode& m, Operands... operands) {
  return is_nan(r) ? nan_result(operands...) : flush_output(r, m);
}

}  // namespace halyard::vgpu::isa::valu
