// A sum of products of floats without any rounding, and its rounding to f32: the readable model
// that matrix instructions of gfx908 are checked against. Fixed point, wide enough for all of f32's
// and bf16's range.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace halyard::vgpu::isa::testing {

class ExactSum {
 public:
  // Adds a * b, both finite, whose significands have at most 24 bits.
  void add(float a, float b) {
    int ea = 0, eb = 0;
    const auto ma = static_cast<int64_t>(std::ldexp(std::frexp(a, &ea), 24));
    const auto mb = static_cast<int64_t>(std::ldexp(std::frexp(b, &eb), 24));
    const int64_t product = ma * mb;  // times 2^(ea + eb - 48)
    if (product == 0) return;
    const unsigned shift = static_cast<unsigned>(ea + eb - 48 + kPoint);
    const uint64_t magnitude = static_cast<uint64_t>(product < 0 ? -product : product);
    const unsigned __int128 placed = static_cast<unsigned __int128>(magnitude) << (shift % 32);
    Limbs term{};
    for (unsigned k = 0; k < 3; ++k)
      term[shift / 32 + k] = static_cast<uint32_t>(placed >> (32 * k));
    if (product < 0) negate(term);
    uint64_t carry = 0;
    for (unsigned k = 0; k < kLimbs; ++k) {
      carry += uint64_t{limbs_[k]} + term[k];
      limbs_[k] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }

  // Nearest even; an exact zero is +0.
  float rounded() const {
    Limbs m = limbs_;
    const bool negative = m[kLimbs - 1] >> 31;
    if (negative) negate(m);
    int top = kLimbs * 32 - 1;
    while (top >= 0 && !bit(m, top)) --top;
    if (top < 0) return 0;
    // The result's last place: 24 bits from the top one, and not below 2^-149.
    const int last = std::max(top - 23, kPoint - 149);
    uint64_t significand = 0;
    for (int b = top; b >= last; --b) significand = significand << 1 | bit(m, b);
    bool rest = false;
    for (int b = 0; b < last - 1; ++b) rest = rest || bit(m, b);
    const bool half = bit(m, last - 1);
    if (half && (rest || (significand & 1))) ++significand;
    const double value = std::ldexp(static_cast<double>(significand), last - kPoint);
    const float result = value > 0x1.fffffep127 ? INFINITY : static_cast<float>(value);
    return negative ? -result : result;
  }

 private:
  static constexpr int kPoint = 448;  // the position of 2^0
  static constexpr unsigned kLimbs = 30;
  using Limbs = std::array<uint32_t, kLimbs>;
  static bool bit(const Limbs& m, int b) { return b >= 0 && (m[b / 32] >> (b % 32) & 1); }
  static void negate(Limbs& m) {
    uint64_t carry = 1;
    for (uint32_t& limb : m) {
      carry += static_cast<uint32_t>(~limb);
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  Limbs limbs_{};
};

}  // namespace halyard::vgpu::isa::testing
