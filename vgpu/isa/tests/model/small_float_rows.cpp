// Conversions from and to fp8, bf8 and bf16, and the other vector instructions that gfx942 and
// gfx950 added (CDNA 3 ISA and CDNA 4 ISA, chapters 7.3 and 12).

#include <bit>
#include <cmath>

#include "vgpu/isa/tests/model/mini_float.h"
#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

constexpr Float kHalf = Float::kF16, kSingle = Float::kF32, kBrain = Float::kBF16;

const MiniFloat& byte_format(const Lane& l, bool wide_range) {
  if (l.mode.fnuz) return wide_range ? kBf8Fnuz : kFp8Fnuz;
  return wide_range ? kBf8 : kFp8;
}

float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

uint64_t f32_of_byte(const MiniFloat& f, uint32_t code) {
  const bool minus = (code & 0x80) != 0;
  if (f.is_nan(code)) return default_nan(kSingle) | (minus ? sign_bit(kSingle) : 0);
  if (f.is_infinite(code)) return infinity_bits(kSingle) | (minus ? sign_bit(kSingle) : 0);
  return std::bit_cast<uint32_t>(static_cast<float>(f.value(code)));
}

// Infinities saturate as large numbers do.
uint32_t byte_of_f32(const MiniFloat& f, uint32_t bits, bool saturate, const uint32_t* seed) {
  const double x = float_of(bits);
  if (std::isnan(x)) return f.nan(std::signbit(x));
  if (std::isinf(x)) return f.overflow(std::signbit(x), saturate);
  if (seed == nullptr) return f.nearest(x, saturate);
  return f.stochastic(x, *seed, 23 - f.mantissa_bits, saturate);
}

Row from_byte(bool wide_range) {
  Row row{wide_range ? "v_cvt_f32_bf8" : "v_cvt_f32_fp8", Kind::kF32, {Kind::kByte}, {}};
  row.evaluate = [=](Lane& l) { l.set(f32_of_byte(byte_format(l, wide_range), l.u(0) & 0xff)); };
  return row;
}
Row from_bytes(bool wide_range) {
  Row row{wide_range ? "v_cvt_pk_f32_bf8" : "v_cvt_pk_f32_fp8", Kind::kPkF32, {Kind::kBytes}, {}};
  row.evaluate = [=](Lane& l) {
    const MiniFloat& f = byte_format(l, wide_range);
    l.set(f32_of_byte(f, l.u(0) & 0xff) | f32_of_byte(f, l.u(0) >> 8 & 0xff) << 32);
  };
  return row;
}
Row to_bytes(bool wide_range) {
  Row row{wide_range ? "v_cvt_pk_bf8_f32" : "v_cvt_pk_fp8_f32",
          Kind::kB16,
          {Kind::kF32, Kind::kF32},
          {}};
  row.keeps_upper = true;
  row.evaluate = [=](Lane& l) {
    const MiniFloat& f = byte_format(l, wide_range);
    l.set(byte_of_f32(f, l.u(0), l.mode.overflow16, nullptr) |
          byte_of_f32(f, l.u(1), l.mode.overflow16, nullptr) << 8);
  };
  return row;
}
Row to_byte_at_random(bool wide_range) {
  Row row{wide_range ? "v_cvt_sr_bf8_f32" : "v_cvt_sr_fp8_f32",
          Kind::kB32,
          {Kind::kF32, Kind::kB32},
          {}};
  row.selects_byte = true;
  row.evaluate = [=](Lane& l) {
    const uint32_t seed = l.u(1);
    const uint32_t byte = byte_of_f32(byte_format(l, wide_range), l.u(0), l.mode.overflow16, &seed);
    const unsigned shift = 8 * (l.op_sel >> 2);
    l.set((l.old[0] & ~(0xffu << shift)) | byte << shift);
  };
  return row;
}

uint64_t single_input(const Lane& l, uint32_t x) {
  return flushed(kSingle, x, l.mode.rules(kSingle).keep_inputs);
}
// A NaN keeps its sign and the upper bits of its payload, and is quiet.
uint64_t narrowed_nan(uint64_t x, Float to) {
  const int cut = 24 - layout(to).precision;
  return (negative(kSingle, x) ? sign_bit(to) : 0) | default_nan(to) |
         (x & (quiet_bit(kSingle) - 1)) >> cut;
}
uint64_t nearest_brain(const Lane& l, uint32_t bits) {
  const uint64_t x = single_input(l, bits);
  return nan(kSingle, x) ? narrowed_nan(x, kBrain) : round_to(kBrain, Exact(kSingle, x), 0);
}
uint64_t nearest_half(const Lane& l, uint32_t bits) {
  const uint64_t x = single_input(l, bits);
  if (nan(kSingle, x)) return narrowed_nan(x, kHalf);
  FloatRules rules = l.mode.rules(kHalf);
  rules.rounding = 0;
  return rounded(kHalf, Exact(kSingle, x), rules);
}

// Stochastic rounding to 16 bits; FP16_OVFL is for f16.
Row at_random(const std::string& name, Float f) {
  Row row{name, Kind::kB16, {Kind::kF32, Kind::kB32}, {}};
  row.keeps_upper = true;
  row.evaluate = [=](Lane& l) {
    const uint64_t x = single_input(l, l.u(0));
    if (nan(kSingle, x)) return l.set(narrowed_nan(x, f));
    const uint64_t sign = negative(kSingle, x) ? sign_bit(f) : 0;
    if (infinite(kSingle, x)) return l.set(sign | infinity_bits(f));
    const auto mantissa = static_cast<unsigned>(layout(f).precision - 1);
    double unit = 0;
    const double units = stochastic_units(float_of(static_cast<uint32_t>(x)), mantissa,
                                          layout(f).min_exponent, l.u(1), 23 - mantissa, unit);
    const bool saturate = f == kHalf && l.mode.overflow16;
    const uint64_t code = round_to(f, Exact(units * unit), 0, saturate);
    l.set(sign | (f == kHalf ? flushed(f, code, l.mode.rules(f).keep_outputs) : code));
  };
  return row;
}

// IEEE 754-2019's minimum and maximum: NaNs come out, a signalling one first; -0 is below +0.
uint64_t ieee_choice(Float f, const FloatRules& rules, uint64_t a, uint64_t b, bool larger) {
  a = flushed(f, a, rules.keep_inputs);
  b = flushed(f, b, rules.keep_inputs);
  if (signaling(f, a)) return a | quiet_bit(f);
  if (signaling(f, b)) return b | quiet_bit(f);
  if (const uint64_t n = first_nan(f, {a, b})) return n;
  const bool zeros = zero(f, a) && zero(f, b);
  const bool a_is_below = zeros ? negative(f, a) : less(Exact(f, a), Exact(f, b));
  return a_is_below == larger ? b : a;
}
Row ieee_choice3(bool larger, bool halves) {
  const std::string name = larger ? "maximum3" : "minimum3";
  const Kind kind = halves ? Kind::kPkF16 : Kind::kF32;
  Row row{halves ? "v_pk_" + name + "_f16" : "v_" + name + "_f32", kind, {kind, kind, kind}, {}};
  row.evaluate = [=](Lane& l) {
    const Float f = halves ? kHalf : kSingle;
    const FloatRules rules = l.mode.rules(f);
    uint64_t result = 0;
    for (unsigned shift = 0; shift < (halves ? 32u : 16u); shift += 16) {
      const auto part = [&](unsigned i) { return halves ? l.u(i) >> shift & 0xffff : l.u(i); };
      const uint64_t first = ieee_choice(f, rules, part(0), part(1), larger);
      result |= ieee_choice(f, rules, first, part(2), larger) << shift;
    }
    l.set(result);
  };
  return row;
}

// f32 products and sums of bf16, one after the other, as the pseudocode has them.
Row brain_dot(bool accumulates) {
  Row row{accumulates ? "v_dot2c_f32_bf16" : "v_dot2_f32_bf16",
          Kind::kF32,
          {Kind::kPkBF16, Kind::kPkBF16},
          {}};
  if (!accumulates) row.sources.push_back(Kind::kF32);
  row.evaluate = [=](Lane& l) {
    const FloatRules rules = l.mode.rules(kSingle);
    const uint64_t low = product(kSingle, rules, uint64_t{l.u(0)} << 16 & 0xffffffff,
                                 uint64_t{l.u(1)} << 16 & 0xffffffff);
    const uint64_t high = product(kSingle, rules, l.u(0) & 0xffff0000, l.u(1) & 0xffff0000);
    const uint64_t first =
        accumulates ? sum(kSingle, rules, l.old[0], low) : sum(kSingle, rules, low, high);
    l.set(sum(kSingle, rules, first, accumulates ? high : l.u(2)));
  };
  return row;
}

// Bit (S0, S1, S2) of the table.
Row any_function(Kind kind) {
  Row row{kind == Kind::kB32 ? "v_bitop3_b32" : "v_bitop3_b16", kind, {kind, kind, kind}, {}};
  row.truth_table = true;
  row.keeps_upper = kind == Kind::kB16;
  row.evaluate = [=](Lane& l) {
    uint64_t result = 0;
    for (unsigned bit = 0; bit < (kind == Kind::kB32 ? 32u : 16u); ++bit) {
      const unsigned index =
          (l.u(0) >> bit & 1) * 4 + (l.u(1) >> bit & 1) * 2 + (l.u(2) >> bit & 1);
      result |= uint64_t{l.table >> index & 1} << bit;
    }
    l.set(result);
  };
  return row;
}

Row shifted_bytes(const std::string& name, int64_t low, int64_t high) {
  Row row{name, Kind::kB16, {Kind::kB32, Kind::kB32, Kind::kB32}, {}};
  row.keeps_upper = true;
  row.evaluate = [=](Lane& l) {
    const auto byte = [&](unsigned i) {
      // Division rounds down, as the shift of a negative number does.
      const int64_t divisor = int64_t{1} << (l.u(2) % 32), x = l.i(i);
      const int64_t quotient = x / divisor - (x % divisor < 0 ? 1 : 0);
      return static_cast<uint64_t>(quotient < low ? low : quotient > high ? high : quotient) & 0xff;
    };
    l.set(byte(0) | byte(1) << 8);
  };
  return row;
}

}  // namespace

void add_small_float_rows(std::vector<Row>& rows) {
  for (const bool wide_range : {false, true}) {
    rows.push_back(from_byte(wide_range));
    rows.push_back(from_bytes(wide_range));
    rows.push_back(to_bytes(wide_range));
    rows.push_back(to_byte_at_random(wide_range));
  }
  rows.push_back({"v_cvt_f32_bf16", Kind::kF32, {Kind::kBF16}, [](Lane& l) {
                    l.set(uint64_t{l.u(0)} << 16 & 0xffffffff);
                  }});
  rows.push_back({"v_cvt_pk_bf16_f32", Kind::kPkBF16, {Kind::kF32, Kind::kF32}, [](Lane& l) {
                    l.set(nearest_brain(l, l.u(0)) | nearest_brain(l, l.u(1)) << 16);
                  }});
  rows.push_back({"v_cvt_pk_f16_f32", Kind::kPkF16, {Kind::kF32, Kind::kF32}, [](Lane& l) {
                    l.set(nearest_half(l, l.u(0)) | nearest_half(l, l.u(1)) << 16);
                  }});
  rows.push_back(at_random("v_cvt_sr_bf16_f32", kBrain));
  rows.push_back(at_random("v_cvt_sr_f16_f32", kHalf));
  for (const bool larger : {false, true}) {
    rows.push_back(ieee_choice3(larger, false));
    rows.push_back(ieee_choice3(larger, true));
  }
  rows.push_back(brain_dot(false));
  rows.push_back(brain_dot(true));
  rows.push_back(any_function(Kind::kB32));
  rows.push_back(any_function(Kind::kB16));
  rows.push_back(shifted_bytes("v_ashr_pk_i8_i32", -128, 127));
  rows.push_back(shifted_bytes("v_ashr_pk_u8_i32", 0, 255));
  rows.push_back({"v_mov_b64", Kind::kB64, {Kind::kB64}, [](Lane& l) { l.set(l.u64(0)); }});
  rows.push_back({"v_lshl_add_u64", Kind::kB64, {Kind::kB64, Kind::kB32, Kind::kB64}, [](Lane& l) {
                    const unsigned count = l.u(1) % 8;  // of which 5, 6 and 7 are taken for 0
                    l.set(l.u64(0) * (count < 5 ? uint64_t{1} << count : 1) + l.u64(2));
                  }});
  rows.push_back({"v_prng_b32", Kind::kB32, {Kind::kB32}, [](Lane& l) {
                    l.set((l.u(0) * uint64_t{2} & 0xffffffff) ^ (l.i(0) < 0 ? 197 : 0));
                  }});
}

}  // namespace halyard::vgpu::isa::model
