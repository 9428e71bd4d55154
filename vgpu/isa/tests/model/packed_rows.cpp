// 16-bit integers, packed pairs of them, packed floats, dot products and mixed precision
// (Vega ISA 12.10 and 12.12, VOP3P; dot products: the gfx906 and MI100 ISA documents).

#include <algorithm>

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

int32_t extended(uint32_t x, bool is_signed) {
  return is_signed ? int32_t{static_cast<int16_t>(x)} : static_cast<int32_t>(x & 0xffff);
}
// The low 16 bits, or saturated to 16 bits with CLAMP.
uint32_t fit16(bool clamp, int64_t exact, bool is_signed) {
  if (clamp) exact = std::clamp<int64_t>(exact, is_signed ? -32768 : 0, is_signed ? 32767 : 65535);
  return static_cast<uint32_t>(exact & 0xffff);
}

using Exact16 = int64_t (*)(int64_t, int64_t, int64_t);
struct Operation16 {
  const char* name;  // without type
  unsigned sources;
  Exact16 exact;
  bool clamps;
};

constexpr int64_t shift_left(int64_t a, int64_t b, int64_t) {
  return b << (a & 15);
}
constexpr int64_t shift_right(int64_t a, int64_t b, int64_t) {
  return b >> (a & 15);
}
int64_t median(int64_t a, int64_t b, int64_t c) {
  return a + b + c - std::min({a, b, c}) - std::max({a, b, c});
}
int64_t plus(int64_t a, int64_t b, int64_t) {
  return a + b;
}
int64_t minus(int64_t a, int64_t b, int64_t) {
  return a - b;
}
int64_t minus_reversed(int64_t a, int64_t b, int64_t) {
  return b - a;
}
int64_t times(int64_t a, int64_t b, int64_t) {
  return a * b;
}
int64_t times_plus(int64_t a, int64_t b, int64_t c) {
  return a * b + c;
}
int64_t lowest(int64_t a, int64_t b, int64_t) {
  return std::min(a, b);
}
int64_t highest(int64_t a, int64_t b, int64_t) {
  return std::max(a, b);
}
int64_t lowest3(int64_t a, int64_t b, int64_t c) {
  return std::min({a, b, c});
}
int64_t highest3(int64_t a, int64_t b, int64_t c) {
  return std::max({a, b, c});
}

// The operation on the halves `shift` (0 or 16) of its operands.
uint32_t on_half(const Lane& l, unsigned sources, unsigned shift, Exact16 exact, bool is_signed) {
  const auto in = [&](unsigned i) -> int64_t {
    return i < sources ? extended(l.u(i) >> shift, is_signed) : 0;
  };
  return fit16(l.clamp, exact(in(0), in(1), in(2)), is_signed);
}
Row row16(const std::string& name, unsigned sources, Exact16 exact, bool is_signed, bool clamps,
          bool keeps) {
  Row row{name, Kind::kB16, std::vector<Kind>(sources, Kind::kB16),
          [=](Lane& l) { l.set(on_half(l, sources, 0, exact, is_signed)); }};
  row.clamps_integer = clamps;
  row.keeps_upper = keeps;
  return row;
}
Row packed16(const std::string& name, unsigned sources, Exact16 exact, bool is_signed,
             bool clamps) {
  Row row{name, Kind::kPkB16, std::vector<Kind>(sources, Kind::kPkB16), [=](Lane& l) {
            l.set(on_half(l, sources, 0, exact, is_signed) |
                  on_half(l, sources, 16, exact, is_signed) << 16);
          }};
  row.clamps_integer = clamps;
  return row;
}

using HalfOperation = uint64_t (*)(const Lane&, uint64_t, uint64_t, uint64_t);
Row packed_halves(const std::string& name, unsigned sources, HalfOperation operation,
                  bool accumulates = false) {
  return {
      name, Kind::kPkF16, std::vector<Kind>(sources, Kind::kPkF16), [=](Lane& l) {
        uint64_t r = 0;
        for (const unsigned shift : {0u, 16u}) {
          const auto in = [&](unsigned i) -> uint64_t { return l.u(i) >> shift & 0xffff; };
          const uint64_t third = accumulates ? l.old[0] >> shift & 0xffff : sources > 2 ? in(2) : 0;
          r |= operation(l, in(0), in(1), third) << shift;
        }
        l.set(r);
      }};
}
Row packed_singles(const std::string& name, unsigned sources, HalfOperation operation) {
  return {name, Kind::kPkF32, std::vector<Kind>(sources, Kind::kPkF32), [=](Lane& l) {
            uint64_t r = 0;
            for (const unsigned d : {0u, 1u}) {
              r |= operation(l, l.source[0][d], l.source[1][d], sources > 2 ? l.source[2][d] : 0)
                   << (32 * d);
            }
            l.set(r);
          }};
}

// Integer dot products: the exact sum, wrapped or with CLAMP saturated.
Row dot(const std::string& name, unsigned bits, bool is_signed, bool accumulates) {
  const Kind kind = bits == 16 ? Kind::kPkB16 : Kind::kB32;
  std::vector<Kind> sources{kind, kind};
  if (!accumulates) sources.push_back(Kind::kB32);
  Row row{name, Kind::kB32, sources, [=](Lane& l) {
            const auto field = [&](uint32_t x, unsigned i) -> int64_t {
              const int64_t v = x >> (bits * i) & ((1u << bits) - 1);
              return is_signed && (v >> (bits - 1)) != 0 ? v - (int64_t{1} << bits) : v;
            };
            const uint32_t third = accumulates ? l.old[0] : l.u(2);
            int64_t sum = is_signed ? int64_t{static_cast<int32_t>(third)} : int64_t{third};
            for (unsigned i = 0; i < 32 / bits; ++i) sum += field(l.u(0), i) * field(l.u(1), i);
            if (l.clamp) {
              sum = std::clamp<int64_t>(sum, is_signed ? -0x80000000ll : 0,
                                        is_signed ? 0x7fffffffll : 0xffffffffll);
            }
            l.set(static_cast<uint32_t>(sum));
          }};
  row.clamps_integer = true;
  return row;
}

// S0.f16[0] * S1.f16[0] + S2, then the other half, each sum rounded, f32 denormals flushed: the
// document does not say in which steps; this is what vgpu/isa/valu/lane_ops_packed.h decided.
Row dot_halves(const std::string& name, bool accumulates) {
  std::vector<Kind> sources{Kind::kPkF16, Kind::kPkF16};
  if (!accumulates) sources.push_back(Kind::kF32);
  return {name, Kind::kF32, sources, [=](Lane& l) {
            const FloatRules rules = flushing(l.mode.rules(Float::kF32));
            const auto wide = [&](uint32_t x, unsigned half) {
              const uint64_t h = flushed(Float::kF16, x >> (16 * half) & 0xffff,
                                         l.mode.rules(Float::kF16).keep_inputs);
              if (!nan(Float::kF16, h)) return round_to(Float::kF32, Exact(Float::kF16, h), 0);
              return (h & 0x8000) << 16 | infinity_bits(Float::kF32) | (h & 0x3ff) << 13;
            };
            uint64_t sum = accumulates ? l.old[0] : l.u(2);
            for (const unsigned half : {0u, 1u})
              sum = unfused(Float::kF32, rules, wide(l.u(0), half), wide(l.u(1), half), sum);
            l.set(sum);
          }};
}

// Sources are f32 already; the f16 result is the f32 result, rounded again.
Row mix(const std::string& name, bool fuses, Kind result) {
  Row row{name, result, {Kind::kMix, Kind::kMix, Kind::kMix}, [=](Lane& l) {
            const FloatRules rules = l.mode.rules(Float::kF32);
            const uint64_t r = fuses
                                   ? fused(Float::kF32, rules, l.u(0), l.u(1), l.u(2))
                                   : unfused(Float::kF32, flushing(rules), l.u(0), l.u(1), l.u(2));
            if (result == Kind::kF32) return l.set(r);
            if (nan(Float::kF32, r))
              return l.set((r >> 16 & 0x8000) | default_nan(Float::kF16) | (r >> 13 & 0x1ff));
            l.set(rounded(Float::kF16, Exact(Float::kF32, r), l.mode.rules(Float::kF16)));
          }};
  row.keeps_upper = result == Kind::kF16;
  row.to_upper = name.find("mixhi") != std::string::npos;
  return row;
}

constexpr Operation16 kArithmetic[] = {
    {"add", 2, plus, true},    {"sub", 2, minus, true},    {"mad", 3, times_plus, true},
    {"min", 2, lowest, false}, {"max", 2, highest, false},
};

}  // namespace

void add_integer16_rows(std::vector<Row>& rows) {
  rows.push_back(row16("v_add_u16", 2, plus, false, true, false));
  rows.push_back(row16("v_sub_u16", 2, minus, false, true, false));
  rows.push_back(row16("v_subrev_u16", 2, minus_reversed, false, true, false));
  rows.push_back(row16("v_mul_lo_u16", 2, times, false, true, false));
  rows.push_back(row16("v_lshlrev_b16", 2, shift_left, false, false, false));
  rows.push_back(row16("v_lshrrev_b16", 2, shift_right, false, false, false));
  rows.push_back(row16("v_ashrrev_i16", 2, shift_right, true, false, false));
  for (const bool is_signed : {false, true}) {
    const std::string t = is_signed ? "_i16" : "_u16";
    rows.push_back(row16("v_min" + t, 2, lowest, is_signed, false, false));
    rows.push_back(row16("v_max" + t, 2, highest, is_signed, false, false));
    rows.push_back(row16("v_mad_legacy" + t, 3, times_plus, is_signed, true, false));
    // New as VOP3 with gfx9: these keep the upper half.
    rows.push_back(row16("v_mad" + t, 3, times_plus, is_signed, true, true));
    rows.push_back(row16("v_min3" + t, 3, lowest3, is_signed, false, true));
    rows.push_back(row16("v_max3" + t, 3, highest3, is_signed, false, true));
    rows.push_back(row16("v_med3" + t, 3, median, is_signed, false, true));
  }
  rows.push_back(row16("v_add_i16", 2, plus, true, true, true));
  rows.push_back(row16("v_sub_i16", 2, minus, true, true, true));
}

void add_packed_rows(std::vector<Row>& rows) {
  for (const Operation16& o : kArithmetic) {
    for (const bool is_signed : {false, true}) {
      rows.push_back(packed16(std::string("v_pk_") + o.name + (is_signed ? "_i16" : "_u16"),
                              o.sources, o.exact, is_signed, o.clamps));
    }
  }
  rows.push_back(packed16("v_pk_mul_lo_u16", 2, times, false, true));
  rows.push_back(packed16("v_pk_lshlrev_b16", 2, shift_left, false, false));
  rows.push_back(packed16("v_pk_lshrrev_b16", 2, shift_right, false, false));
  rows.push_back(packed16("v_pk_ashrrev_i16", 2, shift_right, true, false));

  constexpr Float kHalf = Float::kF16, kSingle = Float::kF32;
  const HalfOperation fma16 = [](const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
    return fused(kHalf, l.mode.rules(kHalf), a, b, c);
  };
  rows.push_back(
      packed_halves("v_pk_add_f16", 2, [](const Lane& l, uint64_t a, uint64_t b, uint64_t) {
        return sum(kHalf, l.mode.rules(kHalf), a, b);
      }));
  rows.push_back(
      packed_halves("v_pk_mul_f16", 2, [](const Lane& l, uint64_t a, uint64_t b, uint64_t) {
        return product(kHalf, l.mode.rules(kHalf), a, b);
      }));
  rows.push_back(
      packed_halves("v_pk_min_f16", 2, [](const Lane& l, uint64_t a, uint64_t b, uint64_t) {
        return smaller(kHalf, l.mode.rules(kHalf), l.mode.ieee, a, b);
      }));
  rows.push_back(
      packed_halves("v_pk_max_f16", 2, [](const Lane& l, uint64_t a, uint64_t b, uint64_t) {
        return larger(kHalf, l.mode.rules(kHalf), l.mode.ieee, a, b);
      }));
  rows.push_back(packed_halves("v_pk_fma_f16", 3, fma16));
  rows.push_back(packed_halves("v_pk_fmac_f16", 2, fma16, true));
  rows.push_back(
      packed_singles("v_pk_add_f32", 2, [](const Lane& l, uint64_t a, uint64_t b, uint64_t) {
        return sum(kSingle, l.mode.rules(kSingle), a, b);
      }));
  rows.push_back(
      packed_singles("v_pk_mul_f32", 2, [](const Lane& l, uint64_t a, uint64_t b, uint64_t) {
        return product(kSingle, l.mode.rules(kSingle), a, b);
      }));
  rows.push_back(
      packed_singles("v_pk_fma_f32", 3, [](const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
        return fused(kSingle, l.mode.rules(kSingle), a, b, c);
      }));
  // D[0] is S0's dword that op_sel says, D[1] S1's; both are in dword 0 by then.
  rows.push_back({"v_pk_mov_b32", Kind::kPkF32, {Kind::kPkF32, Kind::kPkF32}, [](Lane& l) {
                    l.set(l.source[0][0] | uint64_t{l.source[1][0]} << 32);
                  }});
  for (const bool accumulates : {false, true}) {
    const std::string c = accumulates ? "c" : "";
    rows.push_back(dot_halves("v_dot2" + c + "_f32_f16", accumulates));
    rows.push_back(dot("v_dot2" + c + "_i32_i16", 16, true, accumulates));
    rows.push_back(dot("v_dot4" + c + "_i32_i8", 8, true, accumulates));
    rows.push_back(dot("v_dot8" + c + "_i32_i4", 4, true, accumulates));
  }
  rows.push_back(dot("v_dot2_u32_u16", 16, false, false));
  rows.push_back(dot("v_dot4_u32_u8", 8, false, false));
  rows.push_back(dot("v_dot8_u32_u4", 4, false, false));
  for (const bool fuses : {false, true}) {
    const std::string name = fuses ? "v_fma_mix" : "v_mad_mix";
    rows.push_back(mix(name + "_f32", fuses, Kind::kF32));
    rows.push_back(mix(name + "lo_f16", fuses, Kind::kF16));
    rows.push_back(mix(name + "hi_f16", fuses, Kind::kF16));
  }
}

}  // namespace halyard::vgpu::isa::model
