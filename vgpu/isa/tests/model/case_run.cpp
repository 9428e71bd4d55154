// What surrounds an operation: where operands come from and what becomes of the result.

#include <algorithm>
#include <cstring>

#include "vgpu/isa/tests/model/case.h"

namespace halyard::vgpu::isa::model {
namespace {

// ---- Operand values.

template <class Range>
uint64_t any_of(const Range& range, Random& random) {
  return *(std::begin(range) + static_cast<long>(random() % std::size(range)));
}

// Zeros and what is near one: neither operands nor, mostly, results are denormal, infinite or NaN.
uint64_t tame_float(Float f, Random& random) {
  const Layout l = layout(f);
  const uint64_t sign = random() % 2 ? sign_bit(f) : 0;
  if (random() % 16 == 0) return sign;
  const uint64_t mask = (uint64_t{1} << (l.precision - 1)) - 1;
  const int reach = f == Float::kF16 ? 3 : 12;
  const auto exponent =
      static_cast<uint64_t>(l.max_exponent + static_cast<int>(random() % (2 * reach)) - reach);
  // Few significant bits make ties and exact results.
  const uint64_t fraction = random() % 2 ? random() & mask : random() & mask & ~(mask >> 3);
  return sign | exponent << (l.precision - 1) | fraction;
}

// Denormals, and numbers whose products are denormal or nearly so. There is no NaN and no infinity,
// and their sums and products are none.
uint64_t small_float(Float f, Random& random) {
  const Layout l = layout(f);
  const uint64_t choice = random() % 4;
  if (choice == 0) return tame_float(f, random);
  const uint64_t sign = random() % 2 ? sign_bit(f) : 0;
  const uint64_t fraction = random() & ((uint64_t{1} << (l.precision - 1)) - 1);
  const auto root = static_cast<uint64_t>(l.max_exponent / 2 - 2);
  const uint64_t exponent = choice == 1 ? random() % 3 : root + random() % 8;
  return sign | exponent << (l.precision - 1) | fraction;
}

uint64_t random_float(Float f, Random& random) {
  const Layout l = layout(f);
  const uint64_t one = one_bits(f), inf = infinity_bits(f), sign = random() % 2 ? sign_bit(f) : 0;
  const uint64_t least_normal = uint64_t{1} << (l.precision - 1);
  const uint64_t edges[] = {0,
                            1,
                            least_normal - 1,
                            least_normal,
                            least_normal + 1,
                            one,
                            one + 1,
                            one - 1,
                            inf - 1,
                            inf,
                            inf | 1,
                            inf | (quiet_bit(f) - 1),
                            default_nan(f),
                            default_nan(f) | (random() & (quiet_bit(f) - 1))};
  const uint64_t fraction = random() & (least_normal - 1);
  switch (random() % 6) {
    case 0:
      return any_of(edges, random) | sign;
    case 1:
      return random() & (sign_bit(f) | (sign_bit(f) - 1));
    case 2:  // few significant bits: ties and exact results
      return sign |
             ((one + (random() % 24 << (l.precision - 1)) - (random() % 24 << (l.precision - 1))) &
              ~(least_normal - 1) & (inf | 0)) |
             (fraction & ~((least_normal >> 3) - 1));
    case 3:  // near the ends of the range
      return sign |
             ((random() % 2 ? (random() % 30) << (l.precision - 1)
                            : inf - ((random() % 30 + 1) << (l.precision - 1))) &
              inf) |
             fraction;
    default: {  // near one
      const auto exponent = static_cast<uint64_t>(l.max_exponent) + random() % 17 - 8;
      return sign | (exponent << (l.precision - 1)) | fraction;
    }
  }
}

uint64_t random_integer(Random& random) {
  constexpr uint64_t kEdges[] = {0,          1,          2,          31,         32,
                                 0x7fff,     0x8000,     0xffff,     0x7fffff,   0x800000,
                                 0xffffff,   0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
                                 0x0c0b0a09, 0x00010203, 0x80008000, 0x7fff7fff, 0x00ff00ff};
  const auto part = [&]() -> uint64_t {
    if (random() % 3 == 0) return any_of(kEdges, random);
    const uint64_t x = random() & 0xffffffff;
    return random() % 4 == 0 ? x & 0x0f0f0f0f : x;
  };
  return part() | part() << 32;
}

uint64_t random_value(Kind kind, Values values, Random& random) {
  const auto real = [&](Float f) {
    if (values == Values::kTame) return tame_float(f, random);
    return values == Values::kSmall ? small_float(f, random) : random_float(f, random);
  };
  switch (kind) {
    case Kind::kF16:
      return real(Float::kF16) | real(Float::kF16) << 16;
    case Kind::kPkF16:
    case Kind::kPkB16:
      return kind == Kind::kPkB16 && random() % 2 ? random_integer(random)
                                                  : real(Float::kF16) | real(Float::kF16) << 16;
    case Kind::kBF16:
    case Kind::kPkBF16:
      return real(Float::kBF16) | real(Float::kBF16) << 16;
    case Kind::kF32:
      return real(Float::kF32);
    case Kind::kMix:
      return random() % 2 ? real(Float::kF32) : real(Float::kF16) | real(Float::kF16) << 16;
    case Kind::kPkF32:
      return real(Float::kF32) | real(Float::kF32) << 32;
    case Kind::kF64:
      return real(Float::kF64);
    default:
      return random_integer(random);
  }
}

// ---- Sources.

// src_lds_direct: M0[15:0] is the address, M0[18:16] the type (Vega ISA 11.3.1).
uint32_t lds_direct(const Registers& r) {
  const uint32_t m0 = r.s[kM0Register], type = m0 >> 16 & 7, at = m0 & 0xffff;
  const unsigned bytes = type == 2 ? 4 : type % 4 + 1;
  if (at + bytes > kLdsBytes) return 0;
  uint32_t x = 0;
  for (unsigned n = 0; n < bytes; ++n) x |= uint32_t{r.lds[at + n]} << (8 * n);
  const bool negative = (r.lds[at + bytes - 1] & 0x80) != 0;
  for (unsigned n = bytes; n < 4 && type >= 4 && negative; ++n) x |= 0xffu << (8 * n);
  return x;
}

Dwords read(const Registers& r, const Source& s, unsigned lane, Kind kind) {
  Dwords d{};
  if (s.where == Source::Where::kLdsDirect) d[0] = lds_direct(r);
  const unsigned count = dwords(kind);
  for (unsigned i = 0; i < count; ++i) {
    if (s.where == Source::Where::kVector) d[i] = r.v[s.number + i][lane];
    if (s.where == Source::Where::kScalar) d[i] = r.s[s.number + i];
    if (s.where == Source::Where::kConstant && i < 2)
      d[i] = static_cast<uint32_t>(s.value >> (32 * i));
  }
  return d;
}

// SDWA's selections, by byte and word (Vega ISA 13.3.7).
struct Part {
  unsigned shift, bits;
};
constexpr Part part_of(unsigned selection) {
  if (selection < 4) return {8 * selection, 8};
  if (selection < 6) return {16 * (selection - 4), 16};
  return {0, 32};
}
uint32_t selected(uint32_t x, unsigned selection, bool extend) {
  const Part p = part_of(selection);
  uint32_t value = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned from = i < p.bits ? i : p.bits - 1;
    if (i < p.bits || extend) value |= (x >> (p.shift + from) & 1) << i;
  }
  return value;
}

// The lane that DPP reads instead of `lane`, or -1 (Vega ISA 13.3.8). Rows have 16 lanes.
int dpp_lane(unsigned control, int lane) {
  const int row = lane / 16, column = lane % 16;
  const auto in_row = [&](int c) { return c < 0 || c > 15 ? -1 : 16 * row + c; };
  const auto in_wave = [](int n) { return n < 0 || n > 63 ? -1 : n; };
  const int n = static_cast<int>(control % 16);
  if (control < 0x100) {
    const int quad = lane / 4;
    return 4 * quad + static_cast<int>(control / (1u << (2 * (lane % 4))) % 4);
  }
  switch (control / 16) {
    case 0x10:
      return in_row(column + n);
    case 0x11:
      return in_row(column - n);
    case 0x12:
      return in_row((column - n + 16) % 16);
    case 0x15:
      return in_row(n);
    default:
      break;
  }
  switch (control) {
    case 0x130:
      return in_wave(lane + 1);
    case 0x134:
      return (lane + 1) % 64;
    case 0x138:
      return in_wave(lane - 1);
    case 0x13c:
      return (lane + 63) % 64;
    case 0x140:
      return in_row(15 - column);
    case 0x141:
      return in_row(column < 8 ? 7 - column : 23 - column);
    case 0x142:  // lane 15 of each row to the next row
      return row == 0 ? -1 : 16 * row - 1;
    default:  // lane 31 to rows 2 and 3
      return row < 2 ? -1 : 31;
  }
}

uint64_t joined(const Dwords& d) {
  return d[0] | uint64_t{d[1]} << 32;
}

// v_mad_mix: an f32, or with its op_sel_hi bit the half that op_sel says, widened.
uint32_t mixed(const Case& c, unsigned i, uint32_t x, const Mode& mode) {
  if ((c.op_sel_hi >> i & 1) == 0) return x;
  const uint64_t half = flushed(Float::kF16, (c.op_sel >> i & 1) != 0 ? x >> 16 : x & 0xffff,
                                mode.rules(Float::kF16).keep_inputs);
  if (nan(Float::kF16, half))
    return static_cast<uint32_t>((half & 0x8000) << 16 | infinity_bits(Float::kF32) |
                                 (half & 0x3ff) << 13);
  return static_cast<uint32_t>(round_to(Float::kF32, Exact(Float::kF16, half), 0));
}

void select_halves(const Case& c, unsigned i, Kind kind, Dwords& d) {
  const bool low = (c.op_sel >> i & 1) != 0, high = (c.op_sel_hi >> i & 1) != 0;
  if (is_half(kind)) {
    if (low) d[0] >>= 16;
  } else if (c.packed && is_packed16(kind)) {
    const uint32_t x = d[0];
    d[0] = (low ? x >> 16 : x & 0xffff) | (high ? x & 0xffff0000 : x << 16);
  } else if (c.packed && kind == Kind::kPkF32) {
    d = {low ? d[1] : d[0], high ? d[1] : d[0]};
  }
}

void apply_signs(const Case& c, unsigned i, Kind kind, Dwords& d) {
  const bool minus = (c.negate >> i & 1) != 0, plus = (c.absolute >> i & 1) != 0;
  if (is_packed16(kind)) {  // neg_lo and neg_hi
    d[0] ^= (minus ? 0x8000u : 0) | (plus ? 0x80000000u : 0);
  } else if (kind == Kind::kPkF32) {
    d[0] ^= minus ? 0x80000000u : 0;
    d[1] ^= plus ? 0x80000000u : 0;
  } else if (is_real(kind)) {
    const Float f = format(kind);
    uint64_t x = joined(d);
    if (plus) x &= ~sign_bit(f);
    if (minus) x ^= sign_bit(f);
    d[0] = static_cast<uint32_t>(x);
    d[1] = static_cast<uint32_t>(x >> 32);
  }
}

// ---- Results.

// OMOD and CLAMP of one float.
uint64_t modified(const Case& c, const Mode& mode, Float f, uint64_t x) {
  const FloatRules rules = mode.rules(f);
  if (c.omod != 0 && !mode.ieee && !rules.keep_outputs && !nan(f, x)) {
    const int power = c.omod == 3 ? -1 : static_cast<int>(c.omod);
    x = round_to(f, scale(Exact(f, x), power), rules.rounding, rules.saturate);
    x = flushed(f, x, false);
    if (zero(f, x)) x = 0;  // also -0
  }
  if (!c.clamp) return x;
  if (nan(f, x)) return mode.dx10_clamp ? 0 : x;
  if (negative(f, x)) return 0;
  return std::min(x, one_bits(f));
}

void modify_result(const Case& c, const Mode& mode, Dwords& d) {
  const Kind kind = c.row->dst;
  if (!is_real(kind) || (c.omod == 0 && !c.clamp)) return;
  const auto one = [&](Float f, uint64_t x) { return modified(c, mode, f, x); };
  if (kind == Kind::kPkF16) {
    d[0] =
        static_cast<uint32_t>(one(Float::kF16, d[0] & 0xffff) | one(Float::kF16, d[0] >> 16) << 16);
  } else if (kind == Kind::kPkBF16) {
    d[0] = static_cast<uint32_t>(one(Float::kBF16, d[0] & 0xffff) | one(Float::kBF16, d[0] >> 16)
                                                                        << 16);
  } else if (kind == Kind::kPkF32) {
    for (unsigned i = 0; i < 2; ++i) d[i] = static_cast<uint32_t>(one(Float::kF32, d[i]));
  } else {
    const uint64_t x = one(format(kind), kind == Kind::kF64 ? joined(d) : d[0]);
    d[0] = static_cast<uint32_t>(x);
    d[1] = static_cast<uint32_t>(x >> 32);
  }
}

uint32_t placed(const Case& c, uint32_t result, uint32_t old) {
  const Row& row = *c.row;
  if (c.encoding == Encoding::kSdwa) {
    const Part p = part_of(c.dst_sel);
    if (p.bits == 32) return result;
    const uint32_t sign = result >> (p.bits - 1) & 1;
    uint32_t value = 0;
    for (unsigned i = 0; i < 32; ++i) {
      uint32_t bit = 0;
      if (i >= p.shift && i < p.shift + p.bits)
        bit = result >> (i - p.shift) & 1;
      else if (c.dst_unused == 2)
        bit = old >> i & 1;
      else if (c.dst_unused == 1 && i > p.shift)
        bit = sign;
      value |= bit << i;
    }
    return value;
  }
  if (row.to_upper || (is_half(row.dst) && (c.op_sel & 8) != 0))
    return result << 16 | (old & 0xffff);
  return row.keeps_upper ? (result & 0xffff) | (old & 0xffff0000) : result;
}

Lane lane_of(const Case& c, const Mode& mode, const Registers& r, unsigned number,
             int source_lane) {
  const Row& row = *c.row;
  Lane l;
  l.number = number;
  l.mode = mode;
  l.clamp = c.clamp && row.clamps_integer;
  l.op_sel = c.op_sel;
  l.table = c.table;
  for (unsigned i = 0; i < row.sources.size(); ++i) {
    const Kind kind = row.sources[i];
    Dwords d{};
    const bool moved = i == 0 && c.encoding == Encoding::kDpp;
    if (!moved || source_lane >= 0)
      d = read(r, c.source[i], moved ? static_cast<unsigned>(source_lane) : number, kind);
    if (c.encoding == Encoding::kSdwa && kind == Kind::kByte) {
      d[0] >>= c.source_sel[0] < 4 ? 8 * c.source_sel[0] : 0;
    } else if (c.encoding == Encoding::kSdwa && kind == Kind::kBytes) {
      d[0] >>= c.source_sel[0] % 4 == 1 ? 16 : 0;
    } else if (c.encoding == Encoding::kSdwa && i < 2)
      d[0] = selected(d[0], c.source_sel[i], c.extend[i]);
    if (kind == Kind::kMix)
      d[0] = mixed(c, i, d[0], mode);
    else
      select_halves(c, i, kind, d);
    apply_signs(c, i, kind, d);
    l.source[i] = d;
  }
  for (unsigned d = 0; d < dwords(row.dst); ++d) l.old[d] = r.v[c.dst + d][number];
  const unsigned flags = row.reads_vcc ? kVccRegister : c.flag_in;
  l.flag = (r.pair(flags) >> number & 1) != 0;
  return l;
}

}  // namespace

void fill(const Case& c, Values values, Registers& registers, Random& random) {
  const bool tame = values != Values::kAny;
  const auto fill_dwords = [&](void* to, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
      const uint64_t x = random();
      std::memcpy(static_cast<char*>(to) + i, &x, 8);
    }
  };
  fill_dwords(registers.v, sizeof registers.v);
  fill_dwords(registers.s, sizeof registers.s);
  fill_dwords(registers.lds, sizeof registers.lds);
  const auto fill_vector = [&](unsigned first, Kind kind, unsigned other, bool related) {
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      uint64_t x = random_value(kind, values, random);
      // Now and then a neighbour of another operand, or its negative: cancellation, equality.
      if (related && random() % 4 == 0 && dwords(kind) <= 2) {
        x = registers.v[other][lane];
        if (dwords(kind) == 2) x |= uint64_t{registers.v[other + 1][lane]} << 32;
        if (!tame) x += random() % 3 - 1;
        if (is_real(kind) && random() % 2 == 0) x ^= sign_bit(format(kind));
      }
      for (unsigned d = 0; d < std::min(dwords(kind), 2u); ++d)
        registers.v[first + d][lane] = static_cast<uint32_t>(x >> (32 * d));
    }
  };
  const Row& row = *c.row;
  // What v_mad_mix makes of a source, which is tame as that and not as the other.
  const auto kind_of = [&](size_t i) {
    if (!tame || row.sources[i] != Kind::kMix) return row.sources[i];
    return (c.op_sel_hi >> i & 1) != 0 ? Kind::kPkF16 : Kind::kF32;
  };
  if (dwords(row.dst) != 0) fill_vector(c.dst, row.dst, 0, false);
  for (unsigned i = 0; i < row.sources.size(); ++i) {
    const Source& s = c.source[i];
    if (s.where == Source::Where::kVector) {
      const bool related =
          i > 0 && c.source[0].where == Source::Where::kVector && row.sources[0] == row.sources[i];
      fill_vector(s.number, kind_of(i), c.source[0].number, related && kind_of(0) == kind_of(i));
    } else if (s.where == Source::Where::kLdsDirect) {
      // Aligned, now and then outside; the dword there is a value of the kind.
      constexpr uint32_t kTypes[] = {0, 1, 2, 2, 2, 4, 5};
      const auto type = static_cast<uint32_t>(any_of(kTypes, random));
      const uint32_t bytes = type == 2 ? 4 : type % 4 + 1;
      const auto at = static_cast<uint32_t>(random() % (kLdsBytes + 16)) / bytes * bytes;
      registers.s[kM0Register] = static_cast<uint32_t>(random()) << 19 | type << 16 | at;
      const auto x = static_cast<uint32_t>(random_value(kind_of(i), values, random));
      if (at + 4 <= kLdsBytes) std::memcpy(registers.lds + at, &x, 4);
    } else if (s.where == Source::Where::kScalar) {
      const uint64_t x = random_value(kind_of(i), values, random);
      registers.s[s.number] = static_cast<uint32_t>(x);
      if (dwords(row.sources[i]) == 2) registers.s[s.number + 1] = static_cast<uint32_t>(x >> 32);
    }
  }
  // v_div_scale's first source is one of the others.
  if (row.name.starts_with("v_div_scale")) {
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      const Source& from = c.source[1 + random() % 2];
      const Dwords d = read(registers, from, lane, row.sources[0]);
      for (unsigned i = 0; i < dwords(row.sources[0]); ++i)
        registers.v[c.source[0].number + i][lane] = d[i];
    }
  }
  if (random() % 2 == 0) registers.set_pair(kExecRegister, ~uint64_t{0});
}

void execute(const Case& c, const Mode& mode, Registers& r) {
  const Row& row = *c.row;
  const auto before = std::make_unique<Registers>(r);
  const uint64_t exec = before->pair(kExecRegister);
  uint64_t flags = 0;
  for (unsigned number = 0; number < kLaneCount; ++number) {
    if ((exec >> number & 1) == 0) continue;
    int from = static_cast<int>(number);
    if (c.encoding == Encoding::kDpp) {
      const bool row_on = (c.row_mask >> (number / 16) & 1) != 0;
      const bool bank_on = (c.bank_mask >> (number % 16 / 4) & 1) != 0;
      from = dpp_lane(c.control, from);
      if (from >= 0 && (exec >> from & 1) == 0) from = -1;
      if (!row_on || !bank_on || (from < 0 && !c.bound_control)) continue;
    }
    Lane l = lane_of(c, mode, *before, number, from);
    row.evaluate(l);
    flags |= uint64_t{l.result_flag} << number;
    if (row.dst == Kind::kNone) continue;
    modify_result(c, mode, l.result);
    l.result[0] = dwords(row.dst) == 1 ? placed(c, l.result[0], l.old[0]) : l.result[0];
    for (unsigned d = 0; d < dwords(row.dst); ++d) r.v[c.dst + d][number] = l.result[d];
  }
  if (row.writes_flag) r.set_pair(c.flag_out, flags);
  if (row.writes_exec) r.set_pair(kExecRegister, flags);
}

bool agrees(const Row& row, uint32_t got, uint32_t expected, uint32_t got_high,
            uint32_t expected_high) {
  if (got == expected && got_high == expected_high) return true;
  if (row.ulps == 0) return false;
  const Float f = format(row.dst);
  if (f == Float::kF64)
    return ulps_between(f, got | uint64_t{got_high} << 32,
                        expected | uint64_t{expected_high} << 32) <= row.ulps;
  if (f == Float::kF16)
    return got >> 16 == expected >> 16 &&
           ulps_between(f, got & 0xffff, expected & 0xffff) <= row.ulps;
  return ulps_between(f, got, expected) <= row.ulps;
}

}  // namespace halyard::vgpu::isa::model
