#include "tools/values/float8.h"

#include <cmath>
#include <limits>

namespace halyard::values {
namespace {

struct Format8 {
  int mantissa_bits;
  int bias;
  uint8_t largest;  // the code of the largest number
  uint8_t nan;      // a code of a NaN; with more than one, the sign is added
  bool has_sign;
  bool has_negative_zero;
};
constexpr Format8 kFormats[] = {
    {2, 15, 0x7b, 0x7e, true, true},    {3, 7, 0x7e, 0x7f, true, true},
    {2, 16, 0x7f, 0x80, true, false},   {3, 8, 0x7f, 0x80, true, false},
    {0, 127, 0xfe, 0xff, false, false},
};
constexpr uint8_t kInfinity = 0x7c;  // of E5M2
constexpr uint8_t kSign = 0x80;

const Format8& facts_of(Float8 format) noexcept {
  return kFormats[static_cast<size_t>(format)];
}

// Of a code that is neither NaN nor infinity, without its sign.
double magnitude_of(const Format8& format, uint8_t code) noexcept {
  if (!format.has_sign) return std::ldexp(1.0, code - format.bias);
  const int exponent = code >> format.mantissa_bits;
  const int mantissa = code & ((1 << format.mantissa_bits) - 1);
  const int significand = exponent == 0 ? mantissa : mantissa | (1 << format.mantissa_bits);
  return std::ldexp(significand,
                    (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
}

}  // namespace

std::optional<uint8_t> float8_from_double(Float8 format, double value) noexcept {
  const Format8& facts = facts_of(format);
  const bool negative = std::signbit(value);
  const uint8_t sign = negative && facts.has_sign ? kSign : 0;
  if (std::isnan(value)) return static_cast<uint8_t>(facts.nan | sign);
  if (negative && !facts.has_sign) return std::nullopt;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) {
    if (!float8_has_infinity(format)) return std::nullopt;
    return static_cast<uint8_t>(kInfinity | sign);
  }
  // Codes ascend with their numbers, and an even code has an even mantissa.
  uint8_t low = 0;
  uint8_t high = facts.largest;
  while (low < high) {
    const auto middle = static_cast<uint8_t>((low + high + 1) / 2);
    if (magnitude_of(facts, middle) <= magnitude) {
      low = middle;
    } else {
      high = static_cast<uint8_t>(middle - 1);
    }
  }
  const double below = magnitude_of(facts, low);
  if (magnitude < below) return std::nullopt;  // less than the least, where there is no zero
  // Above the largest number the next one is as far as if there were one.
  const double step = low == facts.largest && facts.has_sign
                          ? below - magnitude_of(facts, static_cast<uint8_t>(low - 1))
                      : low == facts.largest
                          ? below
                          : magnitude_of(facts, static_cast<uint8_t>(low + 1)) - below;
  const double rest = magnitude - below;
  const bool rounds_up = rest > step / 2 || (rest == step / 2 && low % 2 != 0);
  if (rounds_up && low == facts.largest) return std::nullopt;
  const auto code = static_cast<uint8_t>(rounds_up ? low + 1 : low);
  if (code == 0 && facts.has_sign && !facts.has_negative_zero) return 0;
  return static_cast<uint8_t>(code | sign);
}

float float8_to_float(Float8 format, uint8_t bits) noexcept {
  const Format8& facts = facts_of(format);
  const bool negative = facts.has_sign && (bits & kSign) != 0;
  const auto code = static_cast<uint8_t>(facts.has_sign ? bits & ~kSign : bits);
  const float sign = negative ? -1.0F : 1.0F;
  if (float8_has_infinity(format) && code == kInfinity)
    return sign * std::numeric_limits<float>::infinity();
  const bool is_nan = facts.nan == kSign ? bits == kSign : code > facts.largest;
  if (is_nan) return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
  return sign * static_cast<float>(magnitude_of(facts, code));
}

float float8_largest(Float8 format) noexcept {
  return static_cast<float>(magnitude_of(facts_of(format), facts_of(format).largest));
}

bool float8_has_infinity(Float8 format) noexcept {
  return format == Float8::kE5M2;
}

}  // namespace halyard::values
