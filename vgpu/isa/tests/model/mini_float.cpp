#include "vgpu/isa/tests/model/mini_float.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace halyard::vgpu::isa::model {

bool MiniFloat::is_nan(uint32_t code) const {
  const uint32_t magnitude = code & (sign() - 1);
  switch (top) {
    case Top::kNumber:
      return false;
    case Top::kNan:
      return magnitude == sign() - 1;
    case Top::kInfinityAndNans:
      return magnitude >> mantissa_bits == (1u << exponent_bits) - 1 && !is_infinite(code);
    case Top::kNumberAndNoMinusZero:
      return code == sign();
  }
  return false;
}

bool MiniFloat::is_infinite(uint32_t code) const {
  return top == Top::kInfinityAndNans && (code & (sign() - 1)) == ((1u << exponent_bits) - 1)
                                                                      << mantissa_bits;
}

double MiniFloat::value(uint32_t code) const {
  const uint32_t exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1);
  const double fraction = std::ldexp(static_cast<double>(code & ((1u << mantissa_bits) - 1)),
                                     -static_cast<int>(mantissa_bits));
  const double x = exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                 : std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
  return (code & sign()) != 0 ? -x : x;
}

// The sign is kept, where there is one; of IEEE's NaNs, the one with the highest bit alone.
uint32_t MiniFloat::nan(bool negative) const {
  if (top == Top::kNumberAndNoMinusZero) return sign();
  const uint32_t most = sign() - 1;
  return (negative ? sign() : 0) | (top == Top::kInfinityAndNans ? most & ~1u : most);
}

uint32_t MiniFloat::overflow(bool negative, bool saturate) const {
  const uint32_t minus = negative ? sign() : 0;
  const auto largest = static_cast<uint32_t>(scale().size() - 2);
  if (saturate || top == Top::kNumber) return minus | largest;
  return top == Top::kInfinityAndNans ? minus | (largest + 1) : nan(negative);
}

const std::vector<double>& MiniFloat::scale() const {
  static std::map<std::tuple<unsigned, unsigned, int, Top>, std::vector<double>> known;
  std::vector<double>& values = known[{exponent_bits, mantissa_bits, bias, top}];
  if (!values.empty()) return values;
  for (uint32_t code = 0; code < sign() && !is_nan(code) && !is_infinite(code); ++code)
    values.push_back(value(code));
  values.push_back(2 * values.back() - values[values.size() - 2]);
  return values;
}

uint32_t MiniFloat::signed_code(size_t index, bool negative, bool saturate) const {
  if (index == scale().size() - 1) return overflow(negative, saturate);
  if (index == 0 && top == Top::kNumberAndNoMinusZero) return 0;
  return static_cast<uint32_t>(index) | (negative ? sign() : 0);
}

uint32_t MiniFloat::nearest(double x, bool saturate) const {
  const std::vector<double>& values = scale();
  const double magnitude = std::fabs(x);
  size_t index = 0;
  while (index + 1 < values.size()) {
    const double halfway = (values[index] + values[index + 1]) / 2;
    if (magnitude < halfway || (magnitude == halfway && index % 2 == 0)) break;
    ++index;
  }
  return signed_code(index, std::signbit(x), saturate);
}

uint32_t MiniFloat::stochastic(double x, uint32_t seed, unsigned random_bits, bool saturate) const {
  const std::vector<double>& values = scale();
  const double magnitude = std::fabs(x);
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  if (above == values.end()) return overflow(std::signbit(x), saturate);
  auto index = static_cast<size_t>(above - values.begin()) - 1;
  const double rest = (magnitude - values[index]) / (values[index + 1] - values[index]);
  const double steps = std::ldexp(1, static_cast<int>(random_bits));
  if (std::floor(rest * steps) + (seed >> (32 - random_bits)) >= steps) ++index;
  return signed_code(index, std::signbit(x), saturate);
}

double stochastic_units(double x, unsigned mantissa_bits, int least_exponent, uint32_t seed,
                        unsigned random_bits, double& unit) {
  const double magnitude = std::fabs(x);
  const int exponent = magnitude == 0 ? least_exponent : std::ilogb(magnitude);
  unit = std::ldexp(1, std::max(exponent, least_exponent) - static_cast<int>(mantissa_bits));
  const double whole = std::floor(magnitude / unit), rest = magnitude / unit - whole;
  const double steps = std::ldexp(1, static_cast<int>(random_bits));
  return whole + (std::floor(rest * steps) + (seed >> (32 - random_bits)) >= steps ? 1 : 0);
}

}  // namespace halyard::vgpu::isa::model
