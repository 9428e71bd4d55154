// Float arithmetic: sums, products, multiply-add, minimum, maximum, median (Vega ISA 12.7
// to 12.11).

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {

uint64_t sum(Float f, const FloatRules& rules, uint64_t a, uint64_t b) {
  return arithmetic(f, rules, a, b,
                    [&](const Exact& x, const Exact& y) { return add(x, y, rules.rounding); });
}
uint64_t difference(Float f, const FloatRules& rules, uint64_t a, uint64_t b) {
  return arithmetic(f, rules, a, b,
                    [&](const Exact& x, const Exact& y) { return subtract(x, y, rules.rounding); });
}
// S1 - S0; of two NaNs the first operand's comes out all the same.
uint64_t reversed_difference(Float f, const FloatRules& rules, uint64_t a, uint64_t b) {
  return arithmetic(f, rules, a, b,
                    [&](const Exact& x, const Exact& y) { return subtract(y, x, rules.rounding); });
}
uint64_t product(Float f, const FloatRules& rules, uint64_t a, uint64_t b) {
  return arithmetic(f, rules, a, b, [](const Exact& x, const Exact& y) { return multiply(x, y); });
}
uint64_t fused(Float f, const FloatRules& rules, uint64_t a, uint64_t b, uint64_t c) {
  a = flushed(f, a, rules.keep_inputs);
  b = flushed(f, b, rules.keep_inputs);
  c = flushed(f, c, rules.keep_inputs);
  if (const uint64_t n = first_nan(f, {a, b, c})) return n;
  return rounded(f, add(multiply(Exact(f, a), Exact(f, b)), Exact(f, c), rules.rounding), rules);
}
uint64_t unfused(Float f, const FloatRules& rules, uint64_t a, uint64_t b, uint64_t c) {
  a = flushed(f, a, rules.keep_inputs);
  b = flushed(f, b, rules.keep_inputs);
  c = flushed(f, c, rules.keep_inputs);
  if (const uint64_t n = first_nan(f, {a, b, c})) return n;
  // The product is rounded, and flushed as a result, on its own; it is not an input again.
  FloatRules inside = rules;
  inside.keep_inputs = true;
  return sum(f, inside, product(f, inside, a, b), c);
}

namespace {

// The ISA: in IEEE mode a signalling NaN comes out, quiet; any other NaN gives way to a number; -0
// is below +0.
uint64_t one_of(Float f, const FloatRules& rules, bool ieee, uint64_t a, uint64_t b, bool larger) {
  a = flushed(f, a, rules.keep_inputs);
  b = flushed(f, b, rules.keep_inputs);
  if (ieee && signaling(f, a)) return a | quiet_bit(f);
  if (ieee && signaling(f, b)) return b | quiet_bit(f);
  if (nan(f, a)) return b;
  if (nan(f, b)) return a;
  const bool zeros = zero(f, a) && zero(f, b);
  const bool a_is_below = zeros ? negative(f, a) : less(Exact(f, a), Exact(f, b));
  return a_is_below == larger ? b : a;
}

}  // namespace

uint64_t smaller(Float f, const FloatRules& rules, bool ieee, uint64_t a, uint64_t b) {
  return one_of(f, rules, ieee, a, b, false);
}
uint64_t larger(Float f, const FloatRules& rules, bool ieee, uint64_t a, uint64_t b) {
  return one_of(f, rules, ieee, a, b, true);
}

namespace {

// The ISA's MED3: with a NaN the minimum of the three; else what is left when the largest is taken
// away, of which the larger one.
uint64_t median(Float f, const FloatRules& rules, bool ieee, uint64_t a, uint64_t b, uint64_t c) {
  const auto min = [&](uint64_t x, uint64_t y) { return smaller(f, rules, ieee, x, y); };
  const auto max = [&](uint64_t x, uint64_t y) { return larger(f, rules, ieee, x, y); };
  if (nan(f, a) || nan(f, b) || nan(f, c)) return min(min(a, b), c);
  const auto is = [&](uint64_t x, uint64_t y) {
    return equal(Exact(f, flushed(f, x, rules.keep_inputs)),
                 Exact(f, flushed(f, y, rules.keep_inputs)));
  };
  const uint64_t top = max(max(a, b), c);
  if (is(top, a)) return max(b, c);
  if (is(top, b)) return max(a, c);
  return max(a, b);
}

uint64_t legacy_product(const FloatRules& rules, uint64_t a, uint64_t b) {
  a = flushed(Float::kF32, a, rules.keep_inputs);
  b = flushed(Float::kF32, b, rules.keep_inputs);
  if (zero(Float::kF32, a) || zero(Float::kF32, b)) return 0;
  return product(Float::kF32, rules, a, b);
}

struct Type {
  Float f;
  Kind kind;
  std::string suffix;
};

using Two = uint64_t (*)(Float, const FloatRules&, uint64_t, uint64_t);
using Three = uint64_t (*)(Float, const FloatRules&, uint64_t, uint64_t, uint64_t);

Row two(const Type& t, const std::string& name, Two operation) {
  Row row{name + t.suffix, t.kind, {t.kind, t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    l.set(operation(t.f, l.mode.rules(t.f), operand(l, 0, t.f), operand(l, 1, t.f)));
  };
  return row;
}
// `flush`: v_mad_f32's own rule.
Row three(const Type& t, const std::string& name, Three operation, bool flush = false) {
  Row row{name + t.suffix, t.kind, {t.kind, t.kind, t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    const FloatRules rules = flush ? flushing(l.mode.rules(t.f)) : l.mode.rules(t.f);
    l.set(operation(t.f, rules, operand(l, 0, t.f), operand(l, 1, t.f), operand(l, 2, t.f)));
  };
  return row;
}
Row accumulating(const Type& t, const std::string& name, Three operation, bool flush = false) {
  Row row{name + t.suffix, t.kind, {t.kind, t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    const FloatRules rules = flush ? flushing(l.mode.rules(t.f)) : l.mode.rules(t.f);
    const uint64_t old = t.f == Float::kF64   ? l.old64()
                         : t.f == Float::kF16 ? l.old[0] & 0xffff
                                              : l.old[0];
    l.set(operation(t.f, rules, operand(l, 0, t.f), operand(l, 1, t.f), old));
  };
  return row;
}
Row with_literal(Row row, bool second) {
  (second ? row.literal_second : row.literal_third) = true;
  return row;
}
// A 16-bit result that leaves the upper half of the register alone (LLVM's
// zeroesHigh16BitsOfDest lists those that clear it).
Row keeping(Row row) {
  row.keeps_upper = true;
  return row;
}

using Order = uint64_t (*)(Float, const FloatRules&, bool, uint64_t, uint64_t);
Row ordered(const Type& t, const std::string& name, Order order) {
  Row row{name + t.suffix, t.kind, {t.kind, t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    l.set(order(t.f, l.mode.rules(t.f), l.mode.ieee, operand(l, 0, t.f), operand(l, 1, t.f)));
  };
  return row;
}
Row ordered3(const Type& t, const std::string& name, Order order) {
  Row row{name + t.suffix, t.kind, {t.kind, t.kind, t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    const FloatRules rules = l.mode.rules(t.f);
    const uint64_t first = order(t.f, rules, l.mode.ieee, operand(l, 0, t.f), operand(l, 1, t.f));
    l.set(order(t.f, rules, l.mode.ieee, first, operand(l, 2, t.f)));
  };
  return row;
}
Row median3(const Type& t) {
  Row row{"v_med3" + t.suffix, t.kind, {t.kind, t.kind, t.kind}, {}};
  row.evaluate = [=](Lane& l) {
    l.set(median(t.f, l.mode.rules(t.f), l.mode.ieee, operand(l, 0, t.f), operand(l, 1, t.f),
                 operand(l, 2, t.f)));
  };
  return row;
}

}  // namespace

void add_float_rows(std::vector<Row>& rows) {
  const Type f16{Float::kF16, Kind::kF16, "_f16"}, f32{Float::kF32, Kind::kF32, "_f32"},
      f64{Float::kF64, Kind::kF64, "_f64"};
  for (const Type& t : {f16, f32, f64}) {
    rows.push_back(two(t, "v_add", sum));
    rows.push_back(two(t, "v_mul", product));
    rows.push_back(ordered(t, "v_min", smaller));
    rows.push_back(ordered(t, "v_max", larger));
  }
  for (const Type& t : {f16, f32}) {
    rows.push_back(two(t, "v_sub", difference));
    rows.push_back(two(t, "v_subrev", reversed_difference));
  }
  rows.push_back(three(f32, "v_fma", fused));
  rows.push_back(three(f64, "v_fma", fused));
  rows.push_back(keeping(three(f16, "v_fma", fused)));
  rows.push_back(three(f16, "v_fma_legacy", fused));
  rows.push_back(accumulating(f32, "v_fmac", fused));
  rows.push_back(accumulating(f64, "v_fmac", fused));
  rows.push_back(three(f32, "v_mad", unfused, true));
  rows.push_back(accumulating(f32, "v_mac", unfused, true));
  rows.push_back(with_literal(three(f32, "v_madmk", unfused, true), true));
  rows.push_back(with_literal(three(f32, "v_madak", unfused, true), false));
  rows.push_back(with_literal(three(f32, "v_fmamk", fused), true));
  rows.push_back(with_literal(three(f32, "v_fmaak", fused), false));
  // AMD's texts say of v_add_f16 and v_mul_f16 that they support denormals, and leave it out here.
  rows.push_back(keeping(three(f16, "v_mad", unfused, true)));
  rows.push_back(three(f16, "v_mad_legacy", unfused, true));
  rows.push_back(keeping(accumulating(f16, "v_mac", unfused, true)));
  rows.push_back(keeping(with_literal(three(f16, "v_madmk", unfused, true), true)));
  rows.push_back(keeping(with_literal(three(f16, "v_madak", unfused, true), false)));
  rows.push_back(ordered3(f32, "v_min3", smaller));
  rows.push_back(ordered3(f32, "v_max3", larger));
  rows.push_back(median3(f32));
  rows.push_back(keeping(ordered3(f16, "v_min3", smaller)));
  rows.push_back(keeping(ordered3(f16, "v_max3", larger)));
  rows.push_back(keeping(median3(f16)));

  Row legacy{"v_mul_legacy_f32", Kind::kF32, {Kind::kF32, Kind::kF32}, [](Lane& l) {
               l.set(legacy_product(l.mode.rules(Float::kF32), l.u(0), l.u(1)));
             }};
  rows.push_back(legacy);
  Row mad_legacy{"v_mad_legacy_f32", Kind::kF32, {Kind::kF32, Kind::kF32, Kind::kF32}, [](Lane& l) {
                   const FloatRules rules = flushing(l.mode.rules(Float::kF32));
                   l.set(sum(Float::kF32, rules, legacy_product(rules, l.u(0), l.u(1)), l.u(2)));
                 }};
  rows.push_back(mad_legacy);
}

}  // namespace halyard::vgpu::isa::model
