// The steps around a division's Newton iterations. Where the ISA's text contradicts itself the
// model follows the reading of vgpu/isa/valu/lane_ops_division.h, under which LLVM's sequence is
// correctly rounded: the model checks the arithmetic and the conditions, not that reading.

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

struct Limits {
  int scale, large_quotient, small_quotient, large_denominator, small_numerator, underflow;
};
constexpr Limits limits(Float f) {
  if (f == Float::kF32) return {64, 96, -126, 253, 23, -150};
  return {128, 768, -1022, 2045, 53, -1075};
}
int field(Float f, uint64_t x) {
  return static_cast<int>(magnitude(f, x) >> (layout(f).precision - 1));
}

// S0 is S1 (the denominator) or S2 (the numerator).
void div_scale(Lane& l, Float f) {
  const FloatRules rules = l.mode.rules(f);
  const Limits k = limits(f);
  const uint64_t v = flushed(f, operand(l, 0, f), rules.keep_inputs);
  const uint64_t d = flushed(f, operand(l, 1, f), rules.keep_inputs);
  const uint64_t n = flushed(f, operand(l, 2, f), rules.keep_inputs);
  const bool is_denominator = v == d, is_numerator = v == n;
  const int quotient = field(f, n) - field(f, d);
  const bool large_denominator = field(f, d) >= k.large_denominator;
  const bool small_quotient = quotient <= k.small_quotient;
  const auto by = [&](int power) { return round_to(f, scale(Exact(f, v), power), rules.rounding); };
  l.result_flag = false;
  if (zero(f, n) || zero(f, d)) return l.set(default_nan(f));
  if (nan(f, n) || nan(f, d) || infinite(f, n) || infinite(f, d)) return l.set(v);
  if (quotient >= k.large_quotient) {
    l.result_flag = true;
    return l.set(is_denominator ? by(k.scale) : v);
  }
  if (denormal(f, d)) return l.set(by(k.scale));
  if (large_denominator && small_quotient) {
    l.result_flag = true;
    return l.set(is_denominator ? by(-k.scale) : v);
  }
  if (large_denominator) return l.set(by(-k.scale));
  if (small_quotient) {
    l.result_flag = true;
    return l.set(is_numerator ? by(k.scale) : v);
  }
  return l.set(field(f, n) <= k.small_numerator ? by(k.scale) : v);
}

// The fused sum times a power of two, rounded once. "Input denormals are not flushed but output
// flushing is allowed" (CDNA 4 ISA).
void div_fmas(Lane& l, Float f) {
  const FloatRules rules = l.mode.rules(f);
  const uint64_t a = operand(l, 0, f), b = operand(l, 1, f), c = operand(l, 2, f);
  if (const uint64_t n = first_nan(f, {a, b, c})) return l.set(n);
  const Exact exact = add(multiply(Exact(f, a), Exact(f, b)), Exact(f, c), rules.rounding);
  int power = 0;
  if (l.flag) power = field(f, c) > layout(f).max_exponent ? limits(f).scale : -limits(f).scale;
  l.set(rounded(f, scale(exact, power), rules));
}

void div_fixup(Lane& l, Float f) {
  const FloatRules rules = l.mode.rules(f);
  const auto in = [&](unsigned i) { return flushed(f, operand(l, i, f), rules.keep_inputs); };
  const uint64_t q = in(0), d = in(1), n = in(2);
  const uint64_t sign = (d ^ n) & sign_bit(f);
  if (nan(f, n)) return l.set(n | quiet_bit(f));
  if (nan(f, d)) return l.set(d | quiet_bit(f));
  if ((zero(f, d) && zero(f, n)) || (infinite(f, d) && infinite(f, n)))
    return l.set(default_nan(f) | sign_bit(f));
  if (zero(f, d) || infinite(f, n)) return l.set(sign | infinity_bits(f));
  if (infinite(f, d) || zero(f, n)) return l.set(sign);
  if (f != Float::kF16 && field(f, n) - field(f, d) < limits(f).underflow) return l.set(sign);
  if (nan(f, q)) return l.set(sign | infinity_bits(f));
  l.set(sign | magnitude(f, q));
}

}  // namespace

void add_division_rows(std::vector<Row>& rows) {
  for (const Float f : {Float::kF32, Float::kF64}) {
    const Kind kind = f == Float::kF32 ? Kind::kF32 : Kind::kF64;
    const std::string suffix = f == Float::kF32 ? "_f32" : "_f64";
    Row scaling{
        "v_div_scale" + suffix, kind, {kind, kind, kind}, [f](Lane& l) { div_scale(l, f); }};
    scaling.writes_flag = true;
    rows.push_back(scaling);
    Row fmas{"v_div_fmas" + suffix, kind, {kind, kind, kind}, [f](Lane& l) { div_fmas(l, f); }};
    fmas.reads_vcc = true;
    rows.push_back(fmas);
    rows.push_back(
        {"v_div_fixup" + suffix, kind, {kind, kind, kind}, [f](Lane& l) { div_fixup(l, f); }});
  }
  Row legacy{
      "v_div_fixup_legacy_f16", Kind::kF16, {Kind::kF16, Kind::kF16, Kind::kF16}, [](Lane& l) {
        div_fixup(l, Float::kF16);
      }};
  rows.push_back(legacy);
  legacy.name = "v_div_fixup_f16";
  legacy.keeps_upper = true;
  rows.push_back(legacy);
}

}  // namespace halyard::vgpu::isa::model
