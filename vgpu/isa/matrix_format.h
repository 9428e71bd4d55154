// The floats of 4 to 32 bits that matrix instructions multiply, and their values.
//
// gfx942's 8-bit floats are FNUZ (one zero, one NaN, no infinity), gfx950's are those of the Open
// Compute Project, as are its floats of 6 and 4 bits ("OCP Microscaling Formats", 5.3), which have
// neither infinities nor NaNs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace halyard::vgpu::isa::matrix {

enum class ElementFormat : uint8_t {
  kF16,
  kBf16,
  kXf32,  // f32 whose low 13 bits are ignored
  kFp8Fnuz,
  kBf8Fnuz,
  kFp8,
  kBf8,
  kFp6,  // E2M3
  kBf6,  // E3M2
  kFp4,  // E2M1
};

// Which bit patterns are no finite numbers.
enum class Specials : uint8_t {
  kIeee,          // the highest exponent: infinities and NaNs
  kNegativeZero,  // the bits of -0: the only NaN
  kAllOnes,       // all bits but the sign set: NaN
  kNone,
};

struct ElementInfo {
  unsigned bits;
  unsigned mantissa;
  int bias;
  Specials specials;

  // Of the smallest normal number and of all denormals.
  constexpr int least_exponent() const { return 1 - bias; }
};

constexpr ElementInfo info(ElementFormat format) {
  switch (format) {
    case ElementFormat::kF16:
      return {16, 10, 15, Specials::kIeee};
    case ElementFormat::kBf16:
      return {16, 7, 127, Specials::kIeee};
    case ElementFormat::kXf32:
      return {32, 10, 127, Specials::kIeee};
    case ElementFormat::kFp8Fnuz:
      return {8, 3, 8, Specials::kNegativeZero};
    case ElementFormat::kBf8Fnuz:
      return {8, 2, 16, Specials::kNegativeZero};
    case ElementFormat::kFp8:
      return {8, 3, 7, Specials::kAllOnes};
    case ElementFormat::kBf8:
      return {8, 2, 15, Specials::kIeee};
    case ElementFormat::kFp6:
      return {6, 3, 1, Specials::kNone};
    case ElementFormat::kBf6:
      return {6, 2, 3, Specials::kNone};
    case ElementFormat::kFp4:
      return {4, 1, 1, Specials::kNone};
  }
  return {};
}

// A value of at most 8 bits.
constexpr float small_value(const ElementInfo& f, uint32_t code) {
  const uint32_t ones = (1u << (f.bits - 1)) - 1;
  const uint32_t magnitude = code & ones;
  const uint32_t fraction = magnitude & ((1u << f.mantissa) - 1);
  const uint32_t exponent = magnitude >> f.mantissa;
  const bool negative = code > ones;
  constexpr uint32_t kNan = 0x7fc00000, kInfinity = 0x7f800000;
  if (f.specials == Specials::kNegativeZero && negative && magnitude == 0)
    return std::bit_cast<float>(kNan);
  if (f.specials == Specials::kAllOnes && magnitude == ones) return std::bit_cast<float>(kNan);
  if (f.specials == Specials::kIeee && exponent == ones >> f.mantissa) {
    if (fraction != 0) return std::bit_cast<float>(kNan);
    return std::bit_cast<float>(kInfinity | (negative ? 0x80000000u : 0));
  }
  const int power =
      (exponent == 0 ? 1 : static_cast<int>(exponent)) - f.bias - static_cast<int>(f.mantissa);
  const uint32_t significand = fraction | (exponent == 0 ? 0 : 1u << f.mantissa);
  const float value = static_cast<float>(significand) *
                      std::bit_cast<float>(static_cast<uint32_t>(127 + power) << 23);
  return negative ? -value : value;
}

template <ElementFormat kFormat>
constexpr std::array<float, 256> small_values() {
  std::array<float, 256> values{};
  for (uint32_t code = 0; code < 1u << info(kFormat).bits; ++code)
    values[code] = small_value(info(kFormat), code);
  return values;
}

}  // namespace halyard::vgpu::isa::matrix
