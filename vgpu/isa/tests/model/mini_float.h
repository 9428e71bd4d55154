// Floats of 4, 6 and 8 bits by the tables of CDNA 4 ISA 7.3 (and CDNA 3's, whose bytes have no -0):
// every code's value, and what a value becomes, found by comparing with all of them.
//
// Values are doubles: those of the formats, and an f32 times a power of two between 2^-127 and
// 2^128, fit exactly, and so do the points halfway between two codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halyard::vgpu::isa::model {

struct MiniFloat {
  enum class Top : uint8_t { kNumber, kNan, kInfinityAndNans, kNumberAndNoMinusZero };
  unsigned exponent_bits, mantissa_bits;
  int bias;
  Top top;

  unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
  uint32_t sign() const { return 1u << (bits() - 1); }
  bool is_nan(uint32_t code) const;
  bool is_infinite(uint32_t code) const;
  double value(uint32_t code) const;  // of a number
  uint32_t nan(bool negative) const;
  uint32_t overflow(bool negative, bool saturate) const;

  // The numbers that are not negative, and the one that would follow the largest.
  const std::vector<double>& scale() const;
  // `x` is a number. Ties go to the even code.
  uint32_t nearest(double x, bool saturate) const;
  // Up if the upper bits of `seed` and those of the rest make a carry: `random_bits` of both.
  uint32_t stochastic(double x, uint32_t seed, unsigned random_bits, bool saturate) const;

 private:
  uint32_t signed_code(size_t index, bool negative, bool saturate) const;
};

constexpr MiniFloat kFp4{2, 1, 1, MiniFloat::Top::kNumber};
constexpr MiniFloat kFp6{2, 3, 1, MiniFloat::Top::kNumber};
constexpr MiniFloat kBf6{3, 2, 3, MiniFloat::Top::kNumber};
constexpr MiniFloat kFp8{4, 3, 7, MiniFloat::Top::kNan};
constexpr MiniFloat kBf8{5, 2, 15, MiniFloat::Top::kInfinityAndNans};
constexpr MiniFloat kFp8Fnuz{4, 3, 8, MiniFloat::Top::kNumberAndNoMinusZero};
constexpr MiniFloat kBf8Fnuz{5, 2, 16, MiniFloat::Top::kNumberAndNoMinusZero};

// |x| in units of the last place of a binary format with that precision and least exponent, and
// rounded as stochastic() does.
double stochastic_units(double x, unsigned mantissa_bits, int least_exponent, uint32_t seed,
                        unsigned random_bits, double& unit);

}  // namespace halyard::vgpu::isa::model
