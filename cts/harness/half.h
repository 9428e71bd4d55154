// IEEE 754 binary16 on the host, for results to compare with: exact one way, rounded to nearest
// even the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

namespace halyard::cts {

struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(double value) : bits(round(value)) {}
  explicit operator double() const {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    double magnitude = 0;
    if (exponent == 31) {
      magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                : std::numeric_limits<double>::infinity();
    } else {
      magnitude =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    }
    return std::copysign(magnitude, (bits & 0x8000) != 0 ? -1.0 : 1.0);
  }
  friend std::ostream& operator<<(std::ostream& out, Half half) {
    return out << static_cast<double>(half);
  }

 private:
  static uint16_t round(double value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (std::isnan(value)) return sign | 0x7e00;
    // Half of the last place above the largest number, 65504, rounds away to infinity.
    if (magnitude >= 65520.0) return sign | 0x7c00;
    if (magnitude == 0) return sign;
    // Numbers below 2^-14 are all multiples of 2^-24.
    const int exponent = std::max(std::ilogb(magnitude), -14);
    const double in_units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
    // A carry out of the fraction goes into the exponent field, as intended.
    const int biased = exponent + 14;
    return static_cast<uint16_t>(
        sign | static_cast<uint16_t>((biased << 10) + static_cast<int>(in_units)));
  }
};

}  // namespace halyard::cts
