// Reciprocals, roots, exponentials, logarithms, trigonometry: the correctly rounded value, within
// the bound that the ISA gives (1 ulp for f32 and f16; the engine promises as much for f64).

#include <algorithm>

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

// Many more bits than a result has, so that rounding twice stays far below an ulp.
constexpr mpfr_prec_t kPrecision = 400;

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

Exact apply(Function function, const Exact& x) {
  Exact r(kPrecision);
  function(r.get(), x.get(), MPFR_RNDN);
  return r;
}

int reciprocal(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  return mpfr_ui_div(r, 1, x, rounding);
}
// MPFR's answer for -0 is +infinity; the ISA's 1 / sqrt(-0) is -infinity.
int reciprocal_root(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_zero_p(x)) {
    mpfr_set_inf(r, mpfr_signbit(x) ? -1 : 1);
    return 0;
  }
  return mpfr_rec_sqrt(r, x, rounding);
}

// Angles are in turns, and only [-256, 256] is in the domain: outside, the angle 0 is meant.
template <Function kFunction>
int of_turns(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x) || mpfr_inf_p(x)) {
    mpfr_set_nan(r);
    return 0;
  }
  Exact fraction(kPrecision + 200), angle(kPrecision), turn(kPrecision);
  if (mpfr_cmpabs(x, Exact(256.0).get()) > 0) {
    mpfr_set_zero(fraction.get(), mpfr_signbit(x) ? -1 : 1);
  } else {
    mpfr_frac(fraction.get(), x, MPFR_RNDN);
  }
  // The quarters are exact: pi is not.
  Exact quarters(kPrecision);
  mpfr_mul_ui(quarters.get(), fraction.get(), 4, MPFR_RNDN);
  if (mpfr_integer_p(quarters.get()) && !mpfr_zero_p(quarters.get())) {
    const long q = (mpfr_get_si(quarters.get(), MPFR_RNDN) + 4) % 4;
    const bool sine = kFunction == &mpfr_sin;
    const long value = sine ? (q == 1 ? 1 : q == 3 ? -1 : 0) : (q == 0 ? 1 : q == 2 ? -1 : 0);
    mpfr_set_si(r, value, MPFR_RNDN);
    return 0;
  }
  mpfr_const_pi(turn.get(), MPFR_RNDN);
  mpfr_mul_ui(turn.get(), turn.get(), 2, MPFR_RNDN);
  mpfr_mul(angle.get(), fraction.get(), turn.get(), MPFR_RNDN);
  return kFunction(r, angle.get(), rounding);
}

// f32 denormals are flushed in every mode, but of sines and cosines ("denormals are supported",
// CDNA 4 ISA); f16 and f64 follow it.
Row function_row(const std::string& name, Float f, Kind kind, Function function) {
  Row row{name, kind, {kind}, {}};
  // A quotient by a root is rounded twice; the ISA's bound for f64 is far wider still.
  row.ulps = name == "v_rsq_f64" ? 2 : 1;
  const bool of_angle = name == "v_sin_f32" || name == "v_cos_f32";
  row.evaluate = [=](Lane& l) {
    FloatRules rules = l.mode.rules(f);
    if (f == Float::kF32 && !of_angle) rules = flushing(rules);
    l.set(
        arithmetic(f, rules, operand(l, 0, f), [&](const Exact& x) { return apply(function, x); }));
  };
  return row;
}

// 2/pi's fraction: 53 bits of it from bit 53 * S1[4:0] on, further on for large S0 (the ISA's
// V_TRIG_PREOP_F64).
uint64_t trig_preop(uint64_t s0, uint32_t s1) {
  Exact two_over_pi(mpfr_prec_t{2000});
  mpfr_const_pi(two_over_pi.get(), MPFR_RNDZ);
  mpfr_ui_div(two_over_pi.get(), 2, two_over_pi.get(), MPFR_RNDZ);
  long shift = (s1 & 31) * 53;
  const auto exponent = static_cast<long>(s0 >> 52 & 0x7ff);
  if (exponent > 1077) shift += exponent - 1077;
  // The document's table has 1201 bits.
  Exact bits = integral(scale(two_over_pi, 1201), 3);
  Exact above = integral(scale(two_over_pi, shift), 3);
  Exact rest = subtract(bits, scale(above, 1201 - shift), 0);
  if (shift >= 1201) return 0;
  const Exact window = integral(scale(rest, shift + 53 - 1201), 3);
  const long power = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return round_to(Float::kF64, scale(window, power), 0);
}

}  // namespace

void add_transcendental_rows(std::vector<Row>& rows) {
  struct Named {
    const char* name;
    Function function;
    bool has_f64;
  };
  const Named functions[] = {
      {"v_rcp_", reciprocal, true},          {"v_rsq_", reciprocal_root, true},
      {"v_sqrt_", mpfr_sqrt, true},          {"v_exp_", mpfr_exp2, false},
      {"v_log_", mpfr_log2, false},          {"v_sin_", of_turns<mpfr_sin>, false},
      {"v_cos_", of_turns<mpfr_cos>, false},
  };
  for (const Named& n : functions) {
    rows.push_back(function_row(std::string(n.name) + "f32", Float::kF32, Kind::kF32, n.function));
    rows.push_back(function_row(std::string(n.name) + "f16", Float::kF16, Kind::kF16, n.function));
    if (n.has_f64)
      rows.push_back(
          function_row(std::string(n.name) + "f64", Float::kF64, Kind::kF64, n.function));
  }
  rows.push_back(function_row("v_rcp_iflag_f32", Float::kF32, Kind::kF32, reciprocal));
  rows.push_back(function_row("v_exp_legacy_f32", Float::kF32, Kind::kF32, mpfr_exp2));
  rows.push_back(function_row("v_log_legacy_f32", Float::kF32, Kind::kF32, mpfr_log2));
  rows.push_back({"v_trig_preop_f64", Kind::kF64, {Kind::kF64, Kind::kB32}, [](Lane& l) {
                    l.set(trig_preop(l.u64(0), l.u(1)));
                  }});
}

}  // namespace halyard::vgpu::isa::model
