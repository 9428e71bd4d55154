#include "vgpu/isa/tests/model/real.h"

#include <algorithm>
#include <limits>

namespace halyard::vgpu::isa::model {
namespace {

// Enough for the exact sum of a value and the product of two: f64 from 2^2047 down to 2^-2148, f32
// from 2^255 down to 2^-298.
constexpr mpfr_prec_t precision_of(Float f) {
  return f == Float::kF64 ? 4300 : 700;
}

}  // namespace

mpfr_rnd_t mpfr_rounding(unsigned rounding) {
  constexpr mpfr_rnd_t kModes[] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};
  return kModes[rounding & 3];
}

Exact::Exact(mpfr_prec_t precision) {
  mpfr_init2(value_, precision);
}
Exact::Exact(double x) : Exact(precision_of(Float::kF32)) {
  mpfr_set_d(value_, x, MPFR_RNDN);
}
Exact Exact::integer(int64_t x) {
  Exact r;
  mpfr_set_si(r.get(), x, MPFR_RNDN);
  return r;
}
Exact::Exact(Float f, uint64_t bits) : Exact(precision_of(f)) {
  const Layout l = layout(f);
  const int sign = negative(f, bits) ? -1 : 1;
  if (nan(f, bits)) {
    mpfr_set_nan(value_);
  } else if (infinite(f, bits)) {
    mpfr_set_inf(value_, sign);
  } else if (zero(f, bits)) {
    mpfr_set_zero(value_, sign);
  } else {
    const uint64_t hidden = uint64_t{1} << (l.precision - 1);
    const auto field = static_cast<int>(magnitude(f, bits) >> (l.precision - 1));
    const uint64_t significand = (bits & (hidden - 1)) | (field == 0 ? 0 : hidden);
    const int exponent = std::max(field, 1) - l.max_exponent - (l.precision - 1);
    mpfr_set_ui_2exp(value_, significand, exponent, MPFR_RNDN);
    if (sign < 0) mpfr_neg(value_, value_, MPFR_RNDN);
  }
}
Exact::Exact(const Exact& other) : Exact(other.precision()) {
  mpfr_set(value_, other.value_, MPFR_RNDN);
}
Exact& Exact::operator=(const Exact& other) {
  if (this == &other) return *this;
  mpfr_set_prec(value_, other.precision());
  mpfr_set(value_, other.value_, MPFR_RNDN);
  return *this;
}
Exact::~Exact() {
  mpfr_clear(value_);
}

Exact add(const Exact& a, const Exact& b, unsigned rounding) {
  Exact r(std::max(a.precision(), b.precision()));
  mpfr_add(r.get(), a.get(), b.get(), mpfr_rounding(rounding));
  return r;
}
Exact subtract(const Exact& a, const Exact& b, unsigned rounding) {
  Exact r(std::max(a.precision(), b.precision()));
  mpfr_sub(r.get(), a.get(), b.get(), mpfr_rounding(rounding));
  return r;
}
Exact multiply(const Exact& a, const Exact& b) {
  Exact r(std::max(a.precision(), b.precision()));
  mpfr_mul(r.get(), a.get(), b.get(), MPFR_RNDN);
  return r;
}
Exact scale(const Exact& a, long power) {
  Exact r(a.precision());
  mpfr_mul_2si(r.get(), a.get(), power, MPFR_RNDN);
  return r;
}
bool less(const Exact& a, const Exact& b) {
  return mpfr_less_p(a.get(), b.get()) != 0;
}
bool equal(const Exact& a, const Exact& b) {
  return mpfr_equal_p(a.get(), b.get()) != 0;
}

Exact integral(const Exact& x, unsigned rounding) {
  Exact r(x.precision());
  mpfr_rint(r.get(), x.get(), mpfr_rounding(rounding));
  return r;
}

uint64_t round_to(Float f, const Exact& x, unsigned rounding, bool saturate) {
  const Layout l = layout(f);
  if (mpfr_nan_p(x.get())) return default_nan(f);
  const uint64_t sign = mpfr_signbit(x.get()) ? sign_bit(f) : 0;
  if (mpfr_inf_p(x.get())) return sign | infinity_bits(f);
  if (mpfr_zero_p(x.get())) return sign;
  // The unit in the last place: as the exponent says, but never below that of denormals.
  const long exponent = std::max<long>(mpfr_get_exp(x.get()) - 1, l.min_exponent);
  long unit = exponent - (l.precision - 1);
  Exact units = integral(scale(x, -unit), rounding);
  mpfr_abs(units.get(), units.get(), MPFR_RNDN);
  uint64_t count = mpfr_get_ui(units.get(), MPFR_RNDN);
  if (count == uint64_t{1} << l.precision) {
    count >>= 1;
    ++unit;
  }
  const uint64_t largest = infinity_bits(f) - 1;
  if (unit + l.precision - 1 > l.max_exponent) {
    const bool toward_zero = rounding == 3 || (rounding == 1 && sign) || (rounding == 2 && !sign);
    return sign | (toward_zero || saturate ? largest : infinity_bits(f));
  }
  const uint64_t hidden = uint64_t{1} << (l.precision - 1);
  if (count < hidden) return sign | count;
  const auto field = static_cast<uint64_t>(unit + l.precision - 1 + l.max_exponent);
  return sign | field << (l.precision - 1) | (count & (hidden - 1));
}

uint64_t ulps_between(Float f, uint64_t a, uint64_t b) {
  if (nan(f, a) && nan(f, b)) return 0;
  if (nan(f, a) || nan(f, b)) return std::numeric_limits<uint64_t>::max();
  if (a == b || (zero(f, a) && zero(f, b))) return 0;
  if (negative(f, a) != negative(f, b)) return magnitude(f, a) + magnitude(f, b);
  return a > b ? a - b : b - a;
}

}  // namespace halyard::vgpu::isa::model
