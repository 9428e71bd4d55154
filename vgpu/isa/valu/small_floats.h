// Floats of 4, 6, 8 and 16 bits, and how values go from one format to another: unpacked exactly,
// scaled by a power of two, and packed with one rounding.
//
// CDNA 4 ISA 7.3 ("BF8 / FP8 and smaller formats and conversions") has the formats and what becomes
// of values that are too large; CDNA 3's bytes have one zero and one NaN and no infinities. What
// the document leaves open is as AMD's own conversions for the host do it (HIP's
// amd_hip_ocp_host.hpp); docs/virtual-gpu.md, "Open readings", lists it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace halyard::vgpu::isa::valu {

// What the codes with the largest magnitudes, or -0, mean instead of numbers.
enum class Specials : uint8_t {
  kNone,       // nothing: all codes are numbers
  kNan,        // the largest magnitude is NaN; there are no infinities
  kIeee,       // the largest exponent has infinity and NaNs
  kMinusZero,  // -0 is the only NaN; there are no infinities (FNUZ)
};

struct FloatFormat {
  unsigned exponent_bits, mantissa_bits;
  int bias;
  Specials specials;

  constexpr unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr uint32_t sign() const { return 1u << (bits() - 1); }
  // Of magnitudes.
  constexpr uint32_t all_ones() const { return sign() - 1; }
  constexpr uint32_t infinity() const { return all_ones() & ~((1u << mantissa_bits) - 1); }
  constexpr uint32_t largest() const {
    if (specials == Specials::kIeee) return infinity() - 1;
    return specials == Specials::kNan ? all_ones() - 1 : all_ones();
  }
  constexpr int least_exponent() const { return 1 - bias; }
  constexpr bool operator==(const FloatFormat&) const = default;
};

inline constexpr FloatFormat kE2M1{2, 1, 1, Specials::kNone};            // fp4
inline constexpr FloatFormat kE2M3{2, 3, 1, Specials::kNone};            // fp6
inline constexpr FloatFormat kE3M2{3, 2, 3, Specials::kNone};            // bf6
inline constexpr FloatFormat kE4M3{4, 3, 7, Specials::kNan};             // fp8 of gfx950
inline constexpr FloatFormat kE5M2{5, 2, 15, Specials::kIeee};           // bf8 of gfx950
inline constexpr FloatFormat kE4M3Fnuz{4, 3, 8, Specials::kMinusZero};   // fp8 of gfx942
inline constexpr FloatFormat kE5M2Fnuz{5, 2, 16, Specials::kMinusZero};  // bf8 of gfx942
inline constexpr FloatFormat kBinary16{5, 10, 15, Specials::kIeee};
inline constexpr FloatFormat kBrain16{8, 7, 127, Specials::kIeee};
inline constexpr FloatFormat kBinary32{8, 23, 127, Specials::kIeee};

// significand * 2^exponent, unless it is infinite or a NaN.
struct Unpacked {
  bool negative = false, nan = false, infinite = false;
  uint32_t significand = 0;
  int exponent = 0;
};

constexpr Unpacked unpack(const FloatFormat& f, uint32_t code) {
  Unpacked value;
  value.negative = (code & f.sign()) != 0;
  const uint32_t magnitude = code & f.all_ones();
  if (f.specials == Specials::kMinusZero) value.nan = value.negative && magnitude == 0;
  if (f.specials == Specials::kNan) value.nan = magnitude == f.all_ones();
  if (f.specials == Specials::kIeee) {
    value.nan = magnitude > f.infinity();
    value.infinite = magnitude == f.infinity();
  }
  const uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  value.significand = exponent == 0 ? mantissa : mantissa | 1u << f.mantissa_bits;
  value.exponent = (exponent == 0 ? 1 : exponent) - f.bias - static_cast<int>(f.mantissa_bits);
  return value;
}

// How pack() rounds: to nearest even, or by adding the upper `random_bits` bits of `seed` right
// below the last bit that stays, to a value that was cut off where those bits end.
struct PackRounding {
  unsigned random_bits = 0;  // 0: nearest even
  uint32_t seed = 0;
};

// Stochastic rounding of a format's values: as many random bits as there are bits to go.
constexpr PackRounding stochastic(const FloatFormat& from, const FloatFormat& to, uint32_t seed) {
  return {from.mantissa_bits - to.mantissa_bits, seed};
}

// A NaN: with the value's sign where the format has one.
constexpr uint32_t packed_nan(const FloatFormat& f, bool negative) {
  const uint32_t sign = negative ? f.sign() : 0;
  if (f.specials == Specials::kMinusZero) return f.sign();
  if (f.specials != Specials::kIeee || f.bits() == 16) return sign | f.all_ones();
  return sign | f.infinity() | 1u << (f.mantissa_bits - 1);
}

// What stands for a value that is too large. `saturate`: MODE.FP16_OVFL.
constexpr uint32_t packed_overflow(const FloatFormat& f, bool negative, bool saturate) {
  const uint32_t sign = negative ? f.sign() : 0;
  if (f.specials == Specials::kNone || saturate) return sign | f.largest();
  return f.specials == Specials::kIeee ? sign | f.infinity() : packed_nan(f, negative);
}

// `value` rounded to the format. Bytes saturate infinities as well as large numbers; the formats of
// 16 and 32 bits keep them.
constexpr uint32_t pack(const FloatFormat& f, const Unpacked& value, PackRounding rounding,
                        bool saturate) {
  if (value.nan) return packed_nan(f, value.negative);
  if (value.infinite) return packed_overflow(f, value.negative, saturate && f.bits() <= 8);
  const uint32_t sign = value.negative ? f.sign() : 0;
  const uint32_t zero = f.specials == Specials::kMinusZero ? 0 : sign;
  if (value.significand == 0) return zero;
  const int mantissa_bits = static_cast<int>(f.mantissa_bits);
  const int top = value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1;
  // Of the result's last bit.
  const int unit = (top < f.least_exponent() ? f.least_exponent() : top) - mantissa_bits;
  const auto shifted = [&](int to) -> uint64_t {  // the value in units of 2^to, cut off
    const int down = to - value.exponent;
    if (down >= 32) return 0;
    return down >= 0 ? uint64_t{value.significand} >> down : uint64_t{value.significand} << -down;
  };
  uint64_t kept = 0;
  if (rounding.random_bits != 0) {
    const uint64_t fine = shifted(unit - static_cast<int>(rounding.random_bits));
    kept = (fine + (rounding.seed >> (32 - rounding.random_bits))) >> rounding.random_bits;
  } else {
    kept = shifted(unit);
    const int dropped = unit - value.exponent;
    if (dropped > 0 && dropped <= 32) {
      const uint64_t rest = value.significand & ((uint64_t{1} << dropped) - 1);
      const uint64_t half = uint64_t{1} << (dropped - 1);
      if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    }
  }
  if (kept == 0) return zero;
  // A carry out of the mantissa moves into the exponent by itself; a denormal has none.
  const auto exponent = static_cast<uint64_t>(unit + mantissa_bits + f.bias - 1);
  const uint64_t code = (exponent << f.mantissa_bits) + kept;
  if (code > f.largest()) return packed_overflow(f, value.negative, saturate);
  return sign | static_cast<uint32_t>(code);
}

// The f32 that each byte of a format stands for, exactly.
template <FloatFormat kFormat>
inline constexpr auto kF32OfByte = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t code = 0; code < 256; ++code)
    table[code] = pack(kBinary32, unpack(kFormat, code), {}, false);
  return table;
}();

// Nearest even, without branches: pack() of an f32 to a byte. The host must round to nearest.
template <FloatFormat kFormat>
uint32_t nearest_byte(float x, bool saturate) {
  constexpr unsigned kDropped = 23 - kFormat.mantissa_bits;
  constexpr auto kRebias = static_cast<uint32_t>(127 - kFormat.bias) << 23;
  constexpr auto kLeastNormal = static_cast<uint32_t>(127 + kFormat.least_exponent()) << 23;
  // Its unit in the last place is the format's least number.
  constexpr uint32_t kMagic = kLeastNormal + (kDropped << 23);
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
  const uint32_t odd = magnitude >> kDropped & 1;
  const uint32_t normal = (magnitude - kRebias + ((1u << (kDropped - 1)) - 1) + odd) >> kDropped;
  const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic);
  const uint32_t denormal = std::bit_cast<uint32_t>(shifted) - kMagic;
  const uint32_t code = magnitude < kLeastNormal ? denormal : normal;
  const uint32_t overflow =
      saturate ? kFormat.largest() : packed_overflow(kFormat, false, false) & kFormat.all_ones();
  uint32_t result = sign | (magnitude >= 0x7f800000 || code > kFormat.largest() ? overflow : code);
  const uint32_t nan = packed_nan(kFormat, false) | sign;
  if constexpr (kFormat.specials == Specials::kMinusZero) {
    // -0 is NaN: a zero has no sign, and what overflows to NaN has one.
    result = (result & 0x7f) == 0 ? 0 : result;
    const bool too_large = magnitude >= 0x7f800000 || code > kFormat.largest();
    result = too_large && !saturate ? 0x80 : result;
  }
  return magnitude > 0x7f800000 ? nan : result;
}

}  // namespace halyard::vgpu::isa::valu
