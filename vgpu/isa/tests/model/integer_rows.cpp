// 32- and 64-bit integer instructions (Vega ISA 12.7 to 12.11), over 128-bit intermediate values so
// that carries, overflows and CLAMP are read off the exact result.

#include <algorithm>
#include <bit>

#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {
namespace {

__extension__ using Wide = __int128;

constexpr Wide ones(int bits) {
  return (Wide{1} << bits) - 1;
}
// Wrapped, or with CLAMP saturated to the unsigned or signed range.
uint64_t fit(const Lane& l, Wide exact, int bits, bool is_signed) {
  if (l.clamp) {
    const Wide low = is_signed ? -(Wide{1} << (bits - 1)) : Wide{0};
    const Wide high = is_signed ? ones(bits - 1) : ones(bits);
    exact = exact < low ? low : exact > high ? high : exact;
  }
  return static_cast<uint64_t>(exact & ones(bits));
}
void put32(Lane& l, Wide exact, bool is_signed = false) {
  l.set(fit(l, exact, 32, is_signed));
}

int64_t low24(uint32_t x) {
  return x & 0xffffff;
}
int64_t signed24(uint32_t x) {
  return low24(x) - (x >> 23 & 1) * 0x1000000;
}
int64_t signed16(uint32_t x) {
  return static_cast<int16_t>(x);
}

using Bits2 = uint32_t (*)(uint32_t, uint32_t);
using Bits3 = uint32_t (*)(uint32_t, uint32_t, uint32_t);

Row bits1(const std::string& name, uint32_t (*operation)(uint32_t)) {
  return {name, Kind::kB32, {Kind::kB32}, [=](Lane& l) { l.set(operation(l.u(0))); }};
}
Row bits2(const std::string& name, Bits2 operation) {
  return {name, Kind::kB32, {Kind::kB32, Kind::kB32}, [=](Lane& l) {
            l.set(operation(l.u(0), l.u(1)));
          }};
}
Row bits3(const std::string& name, Bits3 operation) {
  return {name, Kind::kB32, {Kind::kB32, Kind::kB32, Kind::kB32}, [=](Lane& l) {
            l.set(operation(l.u(0), l.u(1), l.u(2)));
          }};
}
// `exact` is the result before it wraps or saturates.
Row clamping(const std::string& name, unsigned sources, Wide (*exact)(const Lane&),
             bool is_signed) {
  Row row{name, Kind::kB32, std::vector<Kind>(sources, Kind::kB32),
          [=](Lane& l) { put32(l, exact(l), is_signed); }};
  row.clamps_integer = true;
  return row;
}

// With a carry or borrow out; `with_in` also takes one in.
Row carry(const std::string& name, bool with_in, Wide (*exact)(const Lane&)) {
  Row row{name, Kind::kB32, {Kind::kB32, Kind::kB32}, [=](Lane& l) {
            const Wide r = exact(l);
            l.result_flag = r < 0 || r > ones(32);
            put32(l, r);
          }};
  row.writes_flag = true;
  row.reads_flag = with_in;
  row.clamps_integer = true;
  return row;
}

uint32_t first_from_top(uint32_t x, bool wanted) {
  for (uint32_t i = 0; i < 32; ++i) {
    if ((x >> (31 - i) & 1) == (wanted ? 1 : 0)) return i;
  }
  return ~0u;
}
uint32_t bit_field(uint32_t x, uint32_t offset, uint32_t width, bool is_signed) {
  uint32_t r = 0;
  offset &= 31;
  width &= 31;
  for (uint32_t i = 0; i < 32; ++i) {
    // Past the field, and past the dword, a signed one repeats its last bit.
    const uint32_t inside = std::min({i, width == 0 ? 0 : width - 1, 31 - offset});
    const bool past = i >= width || i + offset > 31;
    if (width == 0 || (past && !is_signed)) continue;
    r |= (x >> (offset + inside) & 1) << i;
  }
  return r;
}
uint32_t median(Wide a, Wide b, Wide c) {
  return static_cast<uint32_t>(a + b + c - std::min({a, b, c}) - std::max({a, b, c}));
}
uint32_t lanes_below(const Lane& l, bool high) {
  const unsigned n = high ? (l.number > 32 ? l.number - 32 : 0) : std::min(l.number, 32u);
  return static_cast<uint32_t>(
      std::popcount(l.u(0) & static_cast<uint64_t>(ones(static_cast<int>(n)))));
}

void add_bits(std::vector<Row>& rows) {
  rows.push_back(bits1("v_mov_b32", [](uint32_t a) { return a; }));
  rows.push_back(bits1("v_not_b32", [](uint32_t a) { return ~a; }));
  rows.push_back(bits1("v_bfrev_b32", [](uint32_t a) {
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; ++i) r |= (a >> i & 1) << (31 - i);
    return r;
  }));
  rows.push_back(bits1("v_ffbh_u32", [](uint32_t a) { return first_from_top(a, true); }));
  rows.push_back(bits1("v_ffbh_i32", [](uint32_t a) { return first_from_top(a, a >> 31 == 0); }));
  rows.push_back(bits1("v_ffbl_b32", [](uint32_t a) {
    for (uint32_t i = 0; i < 32; ++i) {
      if ((a >> i & 1) != 0) return i;
    }
    return ~0u;
  }));
  rows.push_back(bits2("v_and_b32", [](uint32_t a, uint32_t b) { return a & b; }));
  rows.push_back(bits2("v_or_b32", [](uint32_t a, uint32_t b) { return a | b; }));
  rows.push_back(bits2("v_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; }));
  rows.push_back(bits2("v_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); }));
  rows.push_back(bits2("v_lshlrev_b32", [](uint32_t a, uint32_t b) { return b << (a & 31); }));
  rows.push_back(bits2("v_lshrrev_b32", [](uint32_t a, uint32_t b) { return b >> (a & 31); }));
  rows.push_back(bits2("v_ashrrev_i32", [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(int64_t{static_cast<int32_t>(b)} >> (a & 31));
  }));
  rows.push_back(bits2("v_bfm_b32", [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(ones(static_cast<int>(a & 31)) << (b & 31));
  }));
  rows.push_back(bits2("v_bcnt_u32_b32", [](uint32_t a, uint32_t b) {
    uint32_t n = b;
    for (unsigned i = 0; i < 32; ++i) n += a >> i & 1;
    return n;
  }));
  rows.push_back(bits3("v_or3_b32", [](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; }));
  rows.push_back(
      bits3("v_and_or_b32", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }));
  rows.push_back(
      bits3("v_bfi_b32", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }));
  rows.push_back(bits3(
      "v_bfe_u32", [](uint32_t a, uint32_t b, uint32_t c) { return bit_field(a, b, c, false); }));
  rows.push_back(bits3(
      "v_bfe_i32", [](uint32_t a, uint32_t b, uint32_t c) { return bit_field(a, b, c, true); }));
  rows.push_back(bits3("v_alignbit_b32", [](uint32_t a, uint32_t b, uint32_t c) {
    return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (c & 31));
  }));
  rows.push_back(bits3("v_alignbyte_b32", [](uint32_t a, uint32_t b, uint32_t c) {
    return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (8 * (c & 3)));
  }));
  rows.push_back(bits3("v_lshl_add_u32",
                       [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; }));
  rows.push_back(bits3("v_add_lshl_u32",
                       [](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); }));
  rows.push_back(bits3("v_lshl_or_b32",
                       [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; }));
  rows.push_back(
      bits3("v_xad_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; }));
  rows.push_back(bits3("v_add3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }));
  for (const bool high : {false, true}) {
    rows.push_back({high ? "v_mbcnt_hi_u32_b32" : "v_mbcnt_lo_u32_b32",
                    Kind::kB32,
                    {Kind::kB32, Kind::kB32},
                    [high](Lane& l) { l.set(lanes_below(l, high) + l.u(1)); }});
  }
  Row select{"v_cndmask_b32", Kind::kB32, {Kind::kB32, Kind::kB32}, [](Lane& l) {
               l.set(l.flag ? l.u(1) : l.u(0));
             }};
  select.reads_flag = true;
  rows.push_back(select);
}

void add_wide(std::vector<Row>& rows) {
  rows.push_back({"v_lshlrev_b64", Kind::kB64, {Kind::kB32, Kind::kB64}, [](Lane& l) {
                    l.set(l.u64(1) << (l.u(0) & 63));
                  }});
  rows.push_back({"v_lshrrev_b64", Kind::kB64, {Kind::kB32, Kind::kB64}, [](Lane& l) {
                    l.set(l.u64(1) >> (l.u(0) & 63));
                  }});
  rows.push_back({"v_ashrrev_i64", Kind::kB64, {Kind::kB32, Kind::kB64}, [](Lane& l) {
                    const Wide x = static_cast<int64_t>(l.u64(1));
                    l.set(static_cast<uint64_t>(x >> (l.u(0) & 63)));
                  }});
  for (const bool is_signed : {false, true}) {
    Row mad{is_signed ? "v_mad_i64_i32" : "v_mad_u64_u32",
            Kind::kB64,
            {Kind::kB32, Kind::kB32, Kind::kB64},
            [=](Lane& l) {
              const Wide product = is_signed ? Wide{l.i(0)} * l.i(1) : Wide{l.u(0)} * l.u(1);
              const Wide exact =
                  product + (is_signed ? Wide{static_cast<int64_t>(l.u64(2))} : Wide{l.u64(2)});
              // The flag is bit 64 of the sum of what was extended to 65 bits.
              l.result_flag = (exact >> 64 & 1) != 0;
              l.set(fit(l, exact, 64, is_signed));
            }};
    mad.writes_flag = true;
    mad.clamps_integer = true;
    rows.push_back(mad);
  }
}

}  // namespace

void add_integer_rows(std::vector<Row>& rows) {
  add_bits(rows);
  add_wide(rows);
  const auto add = [&](const std::string& name, unsigned sources, bool is_signed,
                       Wide (*exact)(const Lane&)) {
    rows.push_back(clamping(name, sources, exact, is_signed));
  };
  const auto plain = [&](const std::string& name, unsigned sources, Wide (*exact)(const Lane&)) {
    rows.push_back(clamping(name, sources, exact, false));
    rows.back().clamps_integer = false;
  };
  add("v_add_u32", 2, false, [](const Lane& l) { return Wide{l.u(0)} + l.u(1); });
  add("v_sub_u32", 2, false, [](const Lane& l) { return Wide{l.u(0)} - l.u(1); });
  add("v_subrev_u32", 2, false, [](const Lane& l) { return Wide{l.u(1)} - l.u(0); });
  add("v_add_i32", 2, true, [](const Lane& l) { return Wide{l.i(0)} + l.i(1); });
  add("v_sub_i32", 2, true, [](const Lane& l) { return Wide{l.i(0)} - l.i(1); });
  rows.push_back(carry("v_add_co_u32", false, [](const Lane& l) { return Wide{l.u(0)} + l.u(1); }));
  rows.push_back(carry("v_sub_co_u32", false, [](const Lane& l) { return Wide{l.u(0)} - l.u(1); }));
  rows.push_back(
      carry("v_subrev_co_u32", false, [](const Lane& l) { return Wide{l.u(1)} - l.u(0); }));
  rows.push_back(carry("v_addc_co_u32", true,
                       [](const Lane& l) { return Wide{l.u(0)} + l.u(1) + (l.flag ? 1 : 0); }));
  rows.push_back(carry("v_subb_co_u32", true,
                       [](const Lane& l) { return Wide{l.u(0)} - l.u(1) - (l.flag ? 1 : 0); }));
  rows.push_back(carry("v_subbrev_co_u32", true,
                       [](const Lane& l) { return Wide{l.u(1)} - l.u(0) - (l.flag ? 1 : 0); }));
  plain("v_mul_lo_u32", 2, [](const Lane& l) { return Wide{l.u(0)} * l.u(1); });
  plain("v_mul_hi_u32", 2, [](const Lane& l) { return Wide{l.u(0)} * l.u(1) >> 32; });
  plain("v_mul_hi_i32", 2, [](const Lane& l) { return Wide{l.i(0)} * l.i(1) >> 32; });
  plain("v_mul_u32_u24", 2, [](const Lane& l) { return Wide{low24(l.u(0))} * low24(l.u(1)); });
  plain("v_mul_hi_u32_u24", 2,
        [](const Lane& l) { return Wide{low24(l.u(0))} * low24(l.u(1)) >> 32; });
  plain("v_mul_i32_i24", 2,
        [](const Lane& l) { return Wide{signed24(l.u(0))} * signed24(l.u(1)); });
  plain("v_mul_hi_i32_i24", 2,
        [](const Lane& l) { return Wide{signed24(l.u(0))} * signed24(l.u(1)) >> 32; });
  add("v_mad_u32_u24", 3, false,
      [](const Lane& l) { return Wide{low24(l.u(0))} * low24(l.u(1)) + l.u(2); });
  add("v_mad_i32_i24", 3, true,
      [](const Lane& l) { return Wide{signed24(l.u(0))} * signed24(l.u(1)) + l.i(2); });
  for (const bool is_signed : {false, true}) {
    Row mad{is_signed ? "v_mad_i32_i16" : "v_mad_u32_u16",
            Kind::kB32,
            {Kind::kB16, Kind::kB16, Kind::kB32},
            [=](Lane& l) {
              const Wide exact = is_signed ? Wide{signed16(l.u(0))} * signed16(l.u(1)) + l.i(2)
                                           : Wide{l.u(0) & 0xffff} * (l.u(1) & 0xffff) + l.u(2);
              put32(l, exact, is_signed);
            }};
    mad.clamps_integer = true;
    rows.push_back(mad);
  }
  plain("v_min_i32", 2, [](const Lane& l) { return Wide{std::min(l.i(0), l.i(1))}; });
  plain("v_max_i32", 2, [](const Lane& l) { return Wide{std::max(l.i(0), l.i(1))}; });
  plain("v_min_u32", 2, [](const Lane& l) { return Wide{std::min(l.u(0), l.u(1))}; });
  plain("v_max_u32", 2, [](const Lane& l) { return Wide{std::max(l.u(0), l.u(1))}; });
  plain("v_min3_i32", 3, [](const Lane& l) { return Wide{std::min({l.i(0), l.i(1), l.i(2)})}; });
  plain("v_max3_i32", 3, [](const Lane& l) { return Wide{std::max({l.i(0), l.i(1), l.i(2)})}; });
  plain("v_med3_i32", 3, [](const Lane& l) { return Wide{median(l.i(0), l.i(1), l.i(2))}; });
  plain("v_min3_u32", 3, [](const Lane& l) { return Wide{std::min({l.u(0), l.u(1), l.u(2)})}; });
  plain("v_max3_u32", 3, [](const Lane& l) { return Wide{std::max({l.u(0), l.u(1), l.u(2)})}; });
  plain("v_med3_u32", 3, [](const Lane& l) { return Wide{median(l.u(0), l.u(1), l.u(2))}; });
}

}  // namespace halyard::vgpu::isa::model
