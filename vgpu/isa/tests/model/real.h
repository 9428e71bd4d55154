// The floats of the model: exact values in MPFR, and one rounding by definition.
//
// Nothing here is shared with the engine. A value is decoded into an exact number, an operation is
// carried out exactly (or, for roots, quotients and transcendental functions, to many more bits
// than the result has), and the result is rounded once to its format, in the mode asked for.
#pragma once

#include <mpfr.h>

#include <cstdint>

namespace halyard::vgpu::isa::model {

enum class Float : uint8_t { kF16, kBF16, kF32, kF64 };

// What the MODE register says about one format (Vega ISA 3.4).
struct FloatRules {
  unsigned rounding = 0;    // 0 nearest even, 1 up, 2 down, 3 toward zero
  bool keep_inputs = true;  // denormals
  bool keep_outputs = true;
  bool saturate = false;  // FP16_OVFL: an overflow is the largest finite value (f16 only)
};

// Facts of a format, by IEEE 754's definitions.
struct Layout {
  int bits, precision, min_exponent, max_exponent;
};
constexpr Layout layout(Float f) {
  if (f == Float::kF16) return {16, 11, -14, 15};
  if (f == Float::kBF16) return {16, 8, -126, 127};
  if (f == Float::kF32) return {32, 24, -126, 127};
  return {64, 53, -1022, 1023};
}
constexpr uint64_t sign_bit(Float f) {
  return uint64_t{1} << (layout(f).bits - 1);
}
constexpr uint64_t infinity_bits(Float f) {
  return sign_bit(f) - (uint64_t{1} << (layout(f).precision - 1));
}
constexpr uint64_t quiet_bit(Float f) {
  return uint64_t{1} << (layout(f).precision - 2);
}
constexpr uint64_t default_nan(Float f) {
  return infinity_bits(f) | quiet_bit(f);
}
constexpr uint64_t one_bits(Float f) {
  return static_cast<uint64_t>(layout(f).max_exponent) << (layout(f).precision - 1);
}
constexpr uint64_t magnitude(Float f, uint64_t x) {
  return x & (sign_bit(f) - 1);
}
constexpr bool negative(Float f, uint64_t x) {
  return (x & sign_bit(f)) != 0;
}
constexpr bool nan(Float f, uint64_t x) {
  return magnitude(f, x) > infinity_bits(f);
}
constexpr bool signaling(Float f, uint64_t x) {
  return nan(f, x) && (x & quiet_bit(f)) == 0;
}
constexpr bool infinite(Float f, uint64_t x) {
  return magnitude(f, x) == infinity_bits(f);
}
constexpr bool zero(Float f, uint64_t x) {
  return magnitude(f, x) == 0;
}
constexpr bool denormal(Float f, uint64_t x) {
  return !zero(f, x) && (x & infinity_bits(f)) == 0;
}
constexpr uint64_t flushed(Float f, uint64_t x, bool keep) {
  return !keep && denormal(f, x) ? x & sign_bit(f) : x;
}

// An exact number, an infinity (of either sign), a zero of either sign or MPFR's NaN.
class Exact {
 public:
  // `precision` is in bits; the default holds sums and products of f16 and f32.
  explicit Exact(mpfr_prec_t precision = 700);
  Exact(Float f, uint64_t bits);
  explicit Exact(double x);
  static Exact integer(int64_t x);
  Exact(const Exact& other);
  Exact& operator=(const Exact& other);
  ~Exact();

  mpfr_prec_t precision() const { return mpfr_get_prec(value_); }
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
};

// IEEE's operations on exact values. `rounding` only chooses the sign of an exact zero sum.
Exact add(const Exact& a, const Exact& b, unsigned rounding);
Exact subtract(const Exact& a, const Exact& b, unsigned rounding);
Exact multiply(const Exact& a, const Exact& b);
Exact scale(const Exact& a, long power);  // a * 2^power
bool less(const Exact& a, const Exact& b);
bool equal(const Exact& a, const Exact& b);

// The integer that `x` rounds to, with x's sign if it is zero.
Exact integral(const Exact& x, unsigned rounding);

// Rounded to the format; denormals are kept and infinities and zeros keep their sign. MPFR's NaN
// becomes the default NaN.
uint64_t round_to(Float f, const Exact& x, unsigned rounding, bool saturate = false);

// As MODE's fields code it: nearest even, up, down, toward zero.
mpfr_rnd_t mpfr_rounding(unsigned rounding);

// How many values of the format lie between two results of one sign; NaNs count as one value, and
// a huge number is the answer for results that cannot be compared.
uint64_t ulps_between(Float f, uint64_t a, uint64_t b);

}  // namespace halyard::vgpu::isa::model
