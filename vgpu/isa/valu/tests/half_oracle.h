// f16 by definition rather than by bit tricks: every finite value as a number, and rounding by
// looking for the neighbours of the exact result.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace halyard::vgpu::isa::test {

using Exact = __float128;  // holds sums and products of f16 and f32 operands exactly

// Magnitudes 0x0000 … 0x7bff in order.
inline const std::vector<double>& half_magnitudes() {
  static const std::vector<double> values = [] {
    std::vector<double> v;
    for (int exponent = 0; exponent < 31; ++exponent) {
      for (int mantissa = 0; mantissa < 1024; ++mantissa) {
        v.push_back(exponent == 0 ? mantissa * 0x1p-24
                                  : std::ldexp(1024 + mantissa, exponent - 25));
      }
    }
    return v;
  }();
  return values;
}

inline double half_value(uint16_t h) {  // finite only
  const double magnitude = half_magnitudes()[h & 0x7fff];
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}
inline bool half_is_nan(uint16_t h) {
  return (h & 0x7fff) > 0x7c00;
}

// rounding: 0 nearest even, 1 up, 2 down, 3 toward zero. `negative_zero` is the sign of a zero.
inline uint16_t round_half(Exact x, unsigned rounding, bool negative_zero = false) {
  if (x == 0) return negative_zero ? 0x8000 : 0;
  const bool negative = x < 0;
  const Exact magnitude = negative ? -x : x;
  const auto& values = half_magnitudes();
  // The largest value that is not above.
  size_t low = 0, high = values.size();
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (static_cast<Exact>(values[middle]) <= magnitude ? low : high) = middle;
  }
  const Exact below = values[low];
  const Exact above = low + 1 < values.size() ? static_cast<Exact>(values[low + 1]) : 65536;
  uint16_t result = static_cast<uint16_t>(low);
  if (below != magnitude) {
    const bool away = (rounding == 1 && !negative) || (rounding == 2 && negative);
    const Exact middle = (below + above) / 2;
    const bool nearest_is_above = magnitude > middle || (magnitude == middle && low % 2 == 1);
    if (away || (rounding == 0 && nearest_is_above)) ++result;
    if (magnitude >= 65536) result = (rounding == 0 || away) ? 0x7c00 : 0x7bff;
  }
  return static_cast<uint16_t>(result | (negative ? 0x8000 : 0));
}

}  // namespace halyard::vgpu::isa::test
