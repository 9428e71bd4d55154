#include "vgpu/math_tests/reference.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace halyard::vgpu::math_testing {
namespace {

// Exact results (fmod, fdim) of f64 operands need many bits, others only some more than f64's.
constexpr mpfr_prec_t kExactPrecision = 4300, kPrecision = 200;

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

int truncated(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t) {
  return mpfr_trunc(r, x);
}
int lowered(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t) {
  return mpfr_floor(r, x);
}
int raised(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t) {
  return mpfr_ceil(r, x);
}
int rounded_away(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t) {
  return mpfr_round(r, x);
}
// MPFR's is +infinity for -0; the result of an odd function is meant.
int reciprocal_root(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (!mpfr_zero_p(x)) return mpfr_rec_sqrt(r, x, rounding);
  mpfr_set_inf(r, mpfr_signbit(x) ? -1 : 1);
  return 0;
}
// OpenCL: NaN for x < 0 and where exp(y * log(x)) has no value.
int positive_power(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  const bool one = mpfr_cmp_ui(x, 1) == 0;
  const bool no_value = mpfr_nan_p(x) || mpfr_nan_p(y) || mpfr_cmp_ui(x, 0) < 0 ||
                        (mpfr_zero_p(y) && (mpfr_zero_p(x) || mpfr_inf_p(x))) ||
                        (one && mpfr_inf_p(y));
  if (no_value) {
    mpfr_set_nan(r);
    return 0;
  }
  Exact magnitude(mpfr_get_prec(x));
  mpfr_abs(magnitude.get(), x, MPFR_RNDN);  // powr(-0, y) is powr(+0, y)
  return mpfr_pow(r, magnitude.get(), y, rounding);
}

// MPFR takes long over huge arguments, where every format over- or underflows.
int gamma(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x) || mpfr_cmpabs(x, Exact(1000.0).get()) < 0) return mpfr_gamma(r, x, rounding);
  if (mpfr_sgn(x) > 0) {
    mpfr_set_inf(r, 1);
  } else if (mpfr_integer_p(x) || mpfr_inf_p(x)) {
    mpfr_set_nan(r);
  } else {
    mpfr_set_zero(r, 1);
  }
  return 0;
}

// The same number in few bits: MPFR's effort grows with those of its operands.
Exact narrowed(const Exact& x) {
  Exact r(kPrecision);
  mpfr_set(r.get(), x.get(), MPFR_RNDN);  // exact, as every format has fewer
  return r;
}

struct NamedUnary {
  const char* name;
  Unary function;
};
constexpr NamedUnary kUnary[] = {
    {"acos", mpfr_acos},        {"acosh", mpfr_acosh}, {"acospi", mpfr_acospi},
    {"asin", mpfr_asin},        {"asinh", mpfr_asinh}, {"asinpi", mpfr_asinpi},
    {"atan", mpfr_atan},        {"atanh", mpfr_atanh}, {"atanpi", mpfr_atanpi},
    {"cbrt", mpfr_cbrt},        {"ceil", raised},      {"cos", mpfr_cos},
    {"cosh", mpfr_cosh},        {"cospi", mpfr_cospi}, {"erf", mpfr_erf},
    {"erfc", mpfr_erfc},        {"exp", mpfr_exp},     {"exp10", mpfr_exp10},
    {"exp2", mpfr_exp2},        {"expm1", mpfr_expm1}, {"floor", lowered},
    {"log", mpfr_log},          {"log10", mpfr_log10}, {"log1p", mpfr_log1p},
    {"log2", mpfr_log2},        {"rint", mpfr_rint},   {"round", rounded_away},
    {"rsqrt", reciprocal_root}, {"sin", mpfr_sin},     {"sinh", mpfr_sinh},
    {"sinpi", mpfr_sinpi},      {"sqrt", mpfr_sqrt},   {"tan", mpfr_tan},
    {"tanh", mpfr_tanh},        {"tanpi", mpfr_tanpi}, {"tgamma", gamma},
    {"trunc", truncated},
};
struct NamedBinary {
  const char* name;
  Binary function;
};
constexpr NamedBinary kBinary[] = {
    {"atan2", mpfr_atan2},    {"atan2pi", mpfr_atan2pi},
    {"fdim", mpfr_dim},       {"fmax", mpfr_max},
    {"fmin", mpfr_min},       {"fmod", mpfr_fmod},
    {"hypot", mpfr_hypot},    {"pow", mpfr_pow},
    {"powr", positive_power}, {"remainder", mpfr_remainder},
};

}  // namespace

#define HALYARD_UNARY(name, bound, half) {#name, Shape::kUnary, bound, half},
#define HALYARD_BINARY(name, bound, half) {#name, Shape::kBinary, bound, half},
#define HALYARD_INTEGER(name, bound, half) {#name, Shape::kInteger, bound, half},
const Function kFunctions[] = {
#include "vgpu/math_tests/functions.def"
};
#undef HALYARD_UNARY
#undef HALYARD_BINARY
#undef HALYARD_INTEGER
const unsigned kFunctionCount = std::size(kFunctions);

unsigned Function::bound_for(Float f) const {
  if (f == Float::kF16) return half_bound;
  const bool exact_root = f == Float::kF64 && std::string(name) == "sqrt";
  return exact_root ? 0 : bound;
}

Exact reference(const std::string& name, const Exact& wide_x, const Exact& wide_y, long n) {
  const Exact x = narrowed(wide_x), y = narrowed(wide_y);
  const bool exact = name == "fmod" || name == "remainder" || name == "fdim" || name == "ldexp" ||
                     name == "fmax" || name == "fmin" || name == "rint";
  Exact r(exact ? kExactPrecision : kPrecision);
  for (const NamedUnary& f : kUnary) {
    if (name == f.name) f.function(r.get(), x.get(), MPFR_RNDN);
  }
  for (const NamedBinary& f : kBinary) {
    if (name == f.name) f.function(r.get(), x.get(), y.get(), MPFR_RNDN);
  }
  if (name == "ldexp") mpfr_mul_2si(r.get(), x.get(), n, MPFR_RNDN);
  if (name == "pown") mpfr_pow_si(r.get(), x.get(), n, MPFR_RNDN);
  if (name == "rootn") mpfr_rootn_si(r.get(), x.get(), n, MPFR_RNDN);
  return r;
}

bool library_is_wrong(const std::string& name, Float f, const Exact& x) {
  // Selects NaN for finite arguments, the wrong way round.
  if (name == "sin" && f == Float::kF16) return mpfr_number_p(x.get());
  // Its intermediate values lose bits, and overflow from about -31 on.
  return name == "tgamma" && f == Float::kF32 && mpfr_cmp_si(x.get(), -5) < 0;
}

double error_in_ulps(Float f, uint64_t got, const Exact& exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  const isa::model::Layout l = isa::model::layout(f);
  const bool got_nan = isa::model::nan(f, got), want_nan = mpfr_nan_p(exact.get());
  if (got_nan || want_nan) return got_nan == want_nan ? 0 : kWrong;
  const uint64_t nearest = isa::model::round_to(f, exact, 0);
  if (got == nearest) return 0.5;
  if (mpfr_inf_p(exact.get())) return kWrong;
  // An infinity stands for the first value that is too large.
  Exact value = isa::model::infinite(f, got) ? isa::model::scale(Exact(1.0), l.max_exponent + 1)
                                             : Exact(f, got);
  if (isa::model::infinite(f, got) && isa::model::negative(f, got))
    mpfr_neg(value.get(), value.get(), MPFR_RNDN);
  const long exponent = mpfr_zero_p(exact.get()) ? l.min_exponent : mpfr_get_exp(exact.get()) - 1;
  const long unit = std::clamp<long>(exponent, l.min_exponent, l.max_exponent) - l.precision + 1;
  const Exact error = isa::model::scale(isa::model::subtract(value, exact, 0), -unit);
  return std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
}

}  // namespace halyard::vgpu::math_testing
