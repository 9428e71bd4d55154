// Sums of products of floats that are rounded once, to the nearest f32, even if two are as near:
// what gfx950's matrix instructions of 16-bit and smaller floats compute here. An exact zero is +0.
// No public source states how the hardware rounds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "vgpu/isa/matrix_arithmetic.h"

namespace halyard::vgpu::isa::matrix {

// A sum of doubles as the nearest double and a rest. Exact while the bits between the lowest one
// of any term and the highest one of the sum, and twice those that count the terms, are at most
// kExactSpan: then the rests are multiples of the lowest bit below 2^53 of them.
inline constexpr int kExactSpan = 106;

template <unsigned kWidth>
struct PairSum {
  double head[kWidth] = {};
  double rest[kWidth] = {};

  void add(double a, const double* b) {
    for (unsigned j = 0; j < kWidth; ++j) {
      const TwoSum next(head[j], a * b[j]);
      head[j] = next.sum;
      rest[j] += next.error;
    }
  }
  float rounded(unsigned j, float c) const {
    const double plain = head[j] + c;
    const TwoSum both(head[j], rest[j]);
    const float result = rounded_once(both.sum, both.error, c);
    return std::isfinite(plain) ? result : static_cast<float>(plain);
  }
};

// Fixed point, wide enough for products of any two elements with scales, and for c.
class WideSum {
 public:
  void add(double term) {
    const uint64_t bits = std::bit_cast<uint64_t>(term);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    if (exponent == 0) return;  // 0: no product is as small as a double's denormals
    uint64_t significand = (bits & 0xfffffffffffff) | uint64_t{1} << 52;
    int shift = exponent - 1075 + kPoint;
    if (shift < 0) {  // only zeros are lost
      significand >>= -shift;
      shift = 0;
    }
    const auto placed = static_cast<unsigned __int128>(significand) << (shift % 64);
    const size_t limb = static_cast<size_t>(shift / 64);
    const uint64_t parts[2] = {static_cast<uint64_t>(placed), static_cast<uint64_t>(placed >> 64)};
    const bool negative = bits >> 63 != 0;
    uint64_t carry = 0;
    for (size_t k = limb; k < kLimbs; ++k) {
      const unsigned __int128 part =
          (k - limb < 2 ? parts[k - limb] : 0) + static_cast<unsigned __int128>(carry);
      const unsigned __int128 next = negative ? limbs_[k] - part : limbs_[k] + part;
      limbs_[k] = static_cast<uint64_t>(next);
      carry = (next >> 64) != 0 ? 1 : 0;
    }
  }

  float rounded() const {
    std::array<uint64_t, kLimbs> m = limbs_;
    const bool negative = m.back() >> 63 != 0;
    if (negative) {
      uint64_t carry = 1;
      for (uint64_t& limb : m) {
        limb = ~limb + carry;
        carry = carry != 0 && limb == 0 ? 1 : 0;
      }
    }
    size_t top = kLimbs;
    while (top > 0 && m[top - 1] == 0) --top;
    if (top == 0) return 0;
    // The highest 64 bits, the lowest of them set if any below is.
    const unsigned free = static_cast<unsigned>(std::countl_zero(m[top - 1]));
    uint64_t high = m[top - 1] << free;
    if (top > 1 && free != 0) high |= m[top - 2] >> (64 - free);
    bool lower = top > 1 && m[top - 2] << free != 0;
    for (size_t k = 0; k + 2 < top; ++k) lower = lower || m[k] != 0;
    // Rounded to odd as a double first.
    uint64_t odd = high >> 11;
    if ((high & 0x7ff) != 0 || lower) odd |= 1;
    const int power = static_cast<int>(64 * top) - static_cast<int>(free) - 53 - kPoint;
    const double value = std::ldexp(static_cast<double>(odd), power);
    return static_cast<float>(negative ? -value : value);
  }

 private:
  static constexpr int kPoint = 320;  // the place of 2^0
  static constexpr size_t kLimbs = 10;
  std::array<uint64_t, kLimbs> limbs_{};
};

}  // namespace halyard::vgpu::isa::matrix
