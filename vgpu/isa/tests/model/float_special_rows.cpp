// Rounding to integers, fractions, significands and exponents, scaling, cube maps.

#include <algorithm>

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

struct Type {
  Float f;
  Kind kind;
  std::string suffix;
};
const Type kTypes[] = {{Float::kF16, Kind::kF16, "_f16"},
                       {Float::kF32, Kind::kF32, "_f32"},
                       {Float::kF64, Kind::kF64, "_f64"}};

// The result is exact, so the mode's rounding plays no part.
Row to_integral(const Type& t, const std::string& name, unsigned rounding) {
  Row row{name + t.suffix, t.kind, {t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    FloatRules rules = l.mode.rules(t.f);
    rules.rounding = 0;
    l.set(arithmetic(t.f, rules, operand(l, 0, t.f),
                     [&](const Exact& x) { return integral(x, rounding); }));
  };
  return row;
}

// S0 - floor(S0), below 1 even where that rounds up to it.
Row fraction(const Type& t) {
  Row row{"v_fract" + t.suffix, t.kind, {t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    const FloatRules rules = l.mode.rules(t.f);
    const uint64_t r = arithmetic(t.f, rules, operand(l, 0, t.f), [&](const Exact& x) {
      return subtract(x, integral(x, 2), rules.rounding);
    });
    l.set(r == one_bits(t.f) ? r - 1 : r);
  };
  return row;
}

Row ldexp(const Type& t, Kind power) {
  Row row{"v_ldexp" + t.suffix, t.kind, {t.kind, power}, {}};
  row.evaluate = [=](Lane& l) {
    const int n = power == Kind::kB16 ? static_cast<int16_t>(l.u(1)) : l.i(1);
    // Beyond this the result over- or underflows whatever S0 is.
    const int bounded = std::clamp(n, -5000, 5000);
    l.set(arithmetic(t.f, l.mode.rules(t.f), operand(l, 0, t.f),
                     [&](const Exact& x) { return scale(x, bounded); }));
  };
  return row;
}

Row significand(const Type& t) {
  Row row{"v_frexp_mant" + t.suffix, t.kind, {t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    l.set(arithmetic(t.f, l.mode.rules(t.f), operand(l, 0, t.f), [](const Exact& x) {
      return mpfr_regular_p(x.get()) ? scale(x, -mpfr_get_exp(x.get())) : x;
    }));
  };
  return row;
}
Row exponent(const Type& t, const std::string& name, Kind result) {
  Row row{name, result, {t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    const Exact x(t.f, flushed(t.f, operand(l, 0, t.f), l.mode.rules(t.f).keep_inputs));
    const auto e = mpfr_regular_p(x.get()) ? static_cast<int32_t>(mpfr_get_exp(x.get())) : 0;
    l.set(static_cast<uint32_t>(e) & (result == Kind::kB16 ? 0xffff : 0xffffffff));
  };
  return row;
}

// Cube maps (Vega ISA 12.11): z counts before y before x where magnitudes are equal; a NaN is not
// larger than anything.
struct Cube {
  uint64_t x, y, z;
  char axis;
  bool negative_axis;
};
Cube cube(const Lane& l) {
  constexpr Float kF = Float::kF32;
  const FloatRules rules = l.mode.rules(kF);
  Cube c{flushed(kF, l.u(0), rules.keep_inputs), flushed(kF, l.u(1), rules.keep_inputs),
         flushed(kF, l.u(2), rules.keep_inputs), 'x', false};
  const auto at_least = [&](uint64_t a, uint64_t b) {
    return !nan(kF, a) && !nan(kF, b) && magnitude(kF, a) >= magnitude(kF, b);
  };
  if (at_least(c.z, c.x) && at_least(c.z, c.y))
    c.axis = 'z';
  else if (at_least(c.y, c.x))
    c.axis = 'y';
  const uint64_t major = c.axis == 'x' ? c.x : c.axis == 'y' ? c.y : c.z;
  c.negative_axis = less(Exact(kF, major), Exact(0.0));
  return c;
}
constexpr uint64_t kMinus = 0x80000000;
uint64_t cube_face(const Cube& c) {
  const int face = (c.axis == 'x' ? 0 : c.axis == 'y' ? 2 : 4) + (c.negative_axis ? 1 : 0);
  return round_to(Float::kF32, Exact::integer(int64_t{face}), 0);
}
uint64_t cube_s(const Cube& c) {
  if (c.axis == 'z') return c.negative_axis ? c.x ^ kMinus : c.x;
  if (c.axis == 'y') return c.x;
  return c.negative_axis ? c.z : c.z ^ kMinus;
}
uint64_t cube_t(const Cube& c) {
  if (c.axis != 'y') return c.y ^ kMinus;
  return c.negative_axis ? c.z ^ kMinus : c.z;
}

Row cube_row(const std::string& name, uint64_t (*part)(const Cube&)) {
  return {name, Kind::kF32, {Kind::kF32, Kind::kF32, Kind::kF32}, [part](Lane& l) {
            l.set(part(cube(l)));
          }};
}

}  // namespace

void add_float_special_rows(std::vector<Row>& rows) {
  for (const Type& t : kTypes) {
    rows.push_back(to_integral(t, "v_trunc", 3));
    rows.push_back(to_integral(t, "v_floor", 2));
    rows.push_back(to_integral(t, "v_ceil", 1));
    rows.push_back(to_integral(t, "v_rndne", 0));
    rows.push_back(fraction(t));
    rows.push_back(significand(t));
    rows.push_back(ldexp(t, t.f == Float::kF16 ? Kind::kB16 : Kind::kB32));
  }
  rows.push_back(exponent(kTypes[0], "v_frexp_exp_i16_f16", Kind::kB16));
  rows.push_back(exponent(kTypes[1], "v_frexp_exp_i32_f32", Kind::kB32));
  rows.push_back(exponent(kTypes[2], "v_frexp_exp_i32_f64", Kind::kB32));
  rows.push_back(cube_row("v_cubeid_f32", cube_face));
  rows.push_back(cube_row("v_cubesc_f32", cube_s));
  rows.push_back(cube_row("v_cubetc_f32", cube_t));
  rows.push_back({"v_cubema_f32", Kind::kF32, {Kind::kF32, Kind::kF32, Kind::kF32}, [](Lane& l) {
                    const Cube c = cube(l);
                    const uint64_t major = c.axis == 'x' ? c.x : c.axis == 'y' ? c.y : c.z;
                    l.set(arithmetic(Float::kF32, l.mode.rules(Float::kF32), major,
                                     [](const Exact& x) { return scale(x, 1); }));
                  }});
}

}  // namespace halyard::vgpu::isa::model
