#include "tools/values/float16.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halyard::values {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;

  constexpr int min_exponent() const { return 2 - (1 << (exponent_bits - 1)); }
  constexpr uint16_t infinity() const {
    return static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  }
};
constexpr Format kF16Format{5, 10};
constexpr Format kBf16Format{8, 7};

uint16_t narrow(double value, Format format) noexcept {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) {
    return sign | format.infinity() | static_cast<uint16_t>(1 << (format.mantissa_bits - 1));
  }
  if (std::isinf(value)) return sign | format.infinity();
  const double magnitude = std::fabs(value);
  // Denormals have the smallest normal number's quantum; ilogb(0) is far below it.
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent());
  // A power of two scales exactly, so nearbyint does the only rounding.
  const auto quanta =
      static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  // A normal number's quanta carry the implicit bit, which adds one to the exponent field; so does
  // a carry out of the mantissa.
  const int64_t bits = std::min<int64_t>(
      (int64_t{exponent - format.min_exponent()} << format.mantissa_bits) + quanta,
      format.infinity());
  return static_cast<uint16_t>(sign | bits);
}

float widen(uint16_t bits, Format format) noexcept {
  const int exponent = (bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return std::copysign(mantissa == 0 ? std::numeric_limits<float>::infinity()
                                       : std::numeric_limits<float>::quiet_NaN(),
                         sign);
  }
  const int significand = exponent == 0 ? mantissa : mantissa | (1 << format.mantissa_bits);
  return sign *
         std::ldexp(static_cast<float>(significand),
                    std::max(exponent, 1) - 1 + format.min_exponent() - format.mantissa_bits);
}

}  // namespace

uint16_t f16_from_double(double value) noexcept {
  return narrow(value, kF16Format);
}
uint16_t bf16_from_double(double value) noexcept {
  return narrow(value, kBf16Format);
}
float f16_to_float(uint16_t bits) noexcept {
  return widen(bits, kF16Format);
}
float bf16_to_float(uint16_t bits) noexcept {
  return widen(bits, kBf16Format);
}

}  // namespace halyard::values
