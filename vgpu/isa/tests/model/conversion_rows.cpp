// Conversions and packing (Vega ISA 12.8, 12.10): to an integer truncated, saturated and 0 for a
// NaN; to a float rounded as the result's format asks.

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

constexpr Float kHalf = Float::kF16, kSingle = Float::kF32, kDouble = Float::kF64;

// `bits` wide, saturated; the value is already an integer or is rounded as said.
uint64_t to_integer(const Exact& x, unsigned rounding, int bits, bool is_signed) {
  if (mpfr_nan_p(x.get())) return 0;
  const Exact low = is_signed ? scale(Exact(-1.0), bits - 1) : Exact(0.0);
  const Exact high = subtract(scale(Exact(1.0), is_signed ? bits - 1 : bits), Exact(1.0), 0);
  Exact whole = integral(x, rounding);
  if (less(whole, low)) whole = low;
  if (less(high, whole)) whole = high;
  return static_cast<uint64_t>(mpfr_get_si(whole.get(), MPFR_RNDN)) &
         (bits == 32 ? 0xffffffffu : (1u << bits) - 1);
}

Row to_int(const std::string& name, Float f, Kind from, int bits, bool is_signed) {
  return {name, bits == 16 ? Kind::kB16 : Kind::kB32, {from}, [=](Lane& l) {
            l.set(to_integer(Exact(f, operand(l, 0, f)), 3, bits, is_signed));
          }};
}
Row from_int(const std::string& name, Kind from, Float f, Kind to, bool is_signed) {
  return {name, to, {from}, [=](Lane& l) {
            const bool small = from == Kind::kB16;
            const int64_t value =
                is_signed ? (small ? int64_t{static_cast<int16_t>(l.u(0))} : int64_t{l.i(0)})
                          : int64_t{small ? l.u(0) & 0xffff : l.u(0)};
            const FloatRules rules = l.mode.rules(f);
            l.set(round_to(f, Exact::integer(value), rules.rounding, rules.saturate));
          }};
}

// A NaN keeps its sign and the upper bits of its payload, and is quiet.
uint64_t converted_nan(Float from, uint64_t x, Float to) {
  const uint64_t payload = x & (quiet_bit(from) - 1);
  const int shift = layout(to).precision - layout(from).precision;
  const uint64_t kept = shift >= 0 ? payload << shift : payload >> -shift;
  return (negative(from, x) ? sign_bit(to) : 0) | default_nan(to) | kept;
}
// Denormals by the mode, f16's included (CLRX says so of GCN 1.2; AMD's Vega document only that
// f16 denormals are "always accepted").
Row between(const std::string& name, Float from, Kind from_kind, Float to, Kind to_kind) {
  return {name, to_kind, {from_kind}, [=](Lane& l) {
            const uint64_t x = flushed(from, operand(l, 0, from), l.mode.rules(from).keep_inputs);
            if (nan(from, x)) return l.set(converted_nan(from, x, to));
            l.set(rounded(to, Exact(from, x), l.mode.rules(to)));
          }};
}

uint64_t to_half(const Lane& l, uint32_t x, unsigned rounding) {
  const uint64_t in = flushed(kSingle, x, l.mode.rules(kSingle).keep_inputs);
  if (nan(kSingle, in)) return converted_nan(kSingle, in, kHalf);
  FloatRules rules = l.mode.rules(kHalf);
  rules.rounding = rounding;
  return rounded(kHalf, Exact(kSingle, in), rules);
}

// [-1, 1] or [0, 1] scaled to the integer's range. "Supports rounding", and denormals (CDNA 4 ISA,
// V_CVT_NORM_I16_F16, by the same function as the pairs): both by MODE.
uint64_t normalized(const Lane& l, unsigned i, Float f, bool is_signed) {
  const FloatRules rules = l.mode.rules(f);
  const Exact x(f, flushed(f, operand(l, i, f), rules.keep_inputs));
  if (mpfr_nan_p(x.get())) return 0;
  Exact bounded = x;
  const Exact low(is_signed ? -1.0 : 0.0), high(1.0);
  if (less(bounded, low)) bounded = low;
  if (less(high, bounded)) bounded = high;
  const Exact scaled = multiply(bounded, Exact(is_signed ? 32767.0 : 65535.0));
  return to_integer(scaled, static_cast<int>(rules.rounding), 16, is_signed);
}
Row normalized_pair(const std::string& name, Float f, Kind from, bool is_signed) {
  return {name, Kind::kPkB16, {from, from}, [=](Lane& l) {
            l.set(normalized(l, 0, f, is_signed) | normalized(l, 1, f, is_signed) << 16);
          }};
}

uint32_t saturated(int64_t x, int64_t low, int64_t high) {
  return static_cast<uint32_t>((x < low ? low : x > high ? high : x) & 0xffff);
}

// Byte S1[1:0] of `rest` becomes the u8 that S0 truncates to.
uint64_t with_byte(const Lane& l, uint32_t rest) {
  const unsigned shift = 8 * (l.u(1) & 3);
  const uint64_t byte = to_integer(Exact(kSingle, l.u(0)), 3, 8, false);
  return (rest & ~(0xffu << shift)) | byte << shift;
}

}  // namespace

void add_conversion_rows(std::vector<Row>& rows) {
  rows.push_back(to_int("v_cvt_i32_f32", kSingle, Kind::kF32, 32, true));
  rows.push_back(to_int("v_cvt_u32_f32", kSingle, Kind::kF32, 32, false));
  rows.push_back(to_int("v_cvt_i32_f64", kDouble, Kind::kF64, 32, true));
  rows.push_back(to_int("v_cvt_u32_f64", kDouble, Kind::kF64, 32, false));
  rows.push_back(to_int("v_cvt_i16_f16", kHalf, Kind::kF16, 16, true));
  rows.push_back(to_int("v_cvt_u16_f16", kHalf, Kind::kF16, 16, false));
  rows.push_back(from_int("v_cvt_f32_i32", Kind::kB32, kSingle, Kind::kF32, true));
  rows.push_back(from_int("v_cvt_f32_u32", Kind::kB32, kSingle, Kind::kF32, false));
  rows.push_back(from_int("v_cvt_f64_i32", Kind::kB32, kDouble, Kind::kF64, true));
  rows.push_back(from_int("v_cvt_f64_u32", Kind::kB32, kDouble, Kind::kF64, false));
  rows.push_back(from_int("v_cvt_f16_i16", Kind::kB16, kHalf, Kind::kF16, true));
  rows.push_back(from_int("v_cvt_f16_u16", Kind::kB16, kHalf, Kind::kF16, false));
  rows.push_back(between("v_cvt_f32_f16", kHalf, Kind::kF16, kSingle, Kind::kF32));
  rows.push_back(between("v_cvt_f16_f32", kSingle, Kind::kF32, kHalf, Kind::kF16));
  rows.push_back(between("v_cvt_f32_f64", kDouble, Kind::kF64, kSingle, Kind::kF32));
  rows.push_back(between("v_cvt_f64_f32", kSingle, Kind::kF32, kDouble, Kind::kF64));
  for (unsigned n = 0; n < 4; ++n) {
    rows.push_back({"v_cvt_f32_ubyte" + std::to_string(n), Kind::kF32, {Kind::kB32}, [n](Lane& l) {
                      l.set(
                          round_to(kSingle, Exact::integer(int64_t{l.u(0) >> (8 * n) & 0xff}), 0));
                    }});
  }
  rows.push_back({"v_cvt_rpi_i32_f32", Kind::kB32, {Kind::kF32}, [](Lane& l) {
                    // floor(S0 + 0.5), the sum an f32
                    const uint64_t x = flushed(kSingle, l.u(0), l.mode.rules(kSingle).keep_inputs);
                    const uint64_t half_up =
                        round_to(kSingle, add(Exact(kSingle, x), Exact(0.5), 0), 0);
                    l.set(to_integer(Exact(kSingle, nan(kSingle, x) ? x : half_up), 2, 32, true));
                  }});
  rows.push_back({"v_cvt_flr_i32_f32", Kind::kB32, {Kind::kF32}, [](Lane& l) {
                    l.set(to_integer(Exact(kSingle, l.u(0)), 2, 32, true));
                  }});
  rows.push_back(
      {"v_cvt_off_f32_i4", Kind::kF32, {Kind::kB32}, [](Lane& l) {
         const int n = static_cast<int>(l.u(0) & 15);
         l.set(round_to(kSingle, scale(Exact::integer(int64_t{n < 8 ? n : n - 16}), -4), 0));
       }});
  rows.push_back({"v_cvt_norm_i16_f16", Kind::kB16, {Kind::kF16}, [](Lane& l) {
                    l.set(normalized(l, 0, kHalf, true));
                  }});
  rows.push_back({"v_cvt_norm_u16_f16", Kind::kB16, {Kind::kF16}, [](Lane& l) {
                    l.set(normalized(l, 0, kHalf, false));
                  }});
  rows.push_back(normalized_pair("v_cvt_pknorm_i16_f16", kHalf, Kind::kF16, true));
  rows.push_back(normalized_pair("v_cvt_pknorm_u16_f16", kHalf, Kind::kF16, false));
  rows.push_back(normalized_pair("v_cvt_pknorm_i16_f32", kSingle, Kind::kF32, true));
  rows.push_back(normalized_pair("v_cvt_pknorm_u16_f32", kSingle, Kind::kF32, false));
  rows.push_back({"v_cvt_pk_u16_u32", Kind::kPkB16, {Kind::kB32, Kind::kB32}, [](Lane& l) {
                    l.set(saturated(l.u(0), 0, 65535) | saturated(l.u(1), 0, 65535) << 16);
                  }});
  rows.push_back({"v_cvt_pk_i16_i32", Kind::kPkB16, {Kind::kB32, Kind::kB32}, [](Lane& l) {
                    l.set(saturated(l.i(0), -32768, 32767) | saturated(l.i(1), -32768, 32767)
                                                                 << 16);
                  }});
  rows.push_back({"v_cvt_pkrtz_f16_f32", Kind::kPkF16, {Kind::kF32, Kind::kF32}, [](Lane& l) {
                    l.set(to_half(l, l.u(0), 3) | to_half(l, l.u(1), 3) << 16);
                  }});
  Row pack{"v_pack_b32_f16", Kind::kPkB16, {Kind::kF16, Kind::kF16}, [](Lane& l) {
             l.set((l.u(0) & 0xffff) | uint64_t{l.u(1) & 0xffff} << 16);
           }};
  rows.push_back(pack);
  rows.push_back({"v_sat_pk_u8_i16", Kind::kB16, {Kind::kB32}, [](Lane& l) {
                    l.set(saturated(static_cast<int16_t>(l.u(0)), 0, 255) |
                          saturated(static_cast<int16_t>(l.u(0) >> 16), 0, 255) << 8);
                  }});
  rows.push_back({"v_cvt_pk_u8_f32", Kind::kB32, {Kind::kF32, Kind::kB32, Kind::kB32}, [](Lane& l) {
                    l.set(with_byte(l, l.u(2)));
                  }});
  rows.push_back({"v_cvt_pkaccum_u8_f32", Kind::kB32, {Kind::kF32, Kind::kB32}, [](Lane& l) {
                    l.set(with_byte(l, l.old[0]));
                  }});
}

}  // namespace halyard::vgpu::isa::model
