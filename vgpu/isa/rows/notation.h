// How rows are written:
//
//   INSTRUCTION(name, encodings, operands(result, source...), fact...)
//
//   INSTRUCTION(s_addc_u32, sop2(4), operands(b32, b32, b32), reads(scc), writes(scc))
//   INSTRUCTION(v_add_f32, vop2(1), operands(f32, f32, f32), reads(mode))
//   INSTRUCTION(v_mul_legacy_f32, vop2(4).until(gfx908) | vop3(0x2a1).from(gfx90a), …)
//   INSTRUCTION(global_load_dword, global(20), operands(b32, b64, none, b64), load(4))
//
//   INSTRUCTION(global_load_dword, global(20).gfx10(12).gfx11(20, "global_load_b32"), …)
//
// An encoding is its format and the number in its OP field. It holds for all of gfx9 but for what
// from() and until() say; named() gives the spelling from a generation on, if it differs. gfx10(),
// gfx11() and gfx12() give the number, and the spelling if it differs, from that generation on;
// gone() says where the last of them ends.
// VOP1, VOP2 and VOPC have a 64-bit form as well (VOP3), SDWA and DPP, unless long_only(),
// no_long(), no_sdwa() or no_dpp() say otherwise.
//
// Operands are those of the encoding's fields, in the order that instruction.h lists for each
// format. Vector instructions and vector memory instructions read EXEC, flat and scratch ones
// FLAT_SCRATCH; facts name all else that no field does.
#pragma once

#include "vgpu/isa/rows/row.h"
#include "vgpu/isa/rows/sdwa.h"

namespace halyard::vgpu::isa::rows {

// NOLINTBEGIN(readability-identifier-naming): a notation of its own.

inline constexpr Generation gfx904 = Generation::kGfx904, gfx906 = Generation::kGfx906,
                            gfx908 = Generation::kGfx908, gfx90a = Generation::kGfx90a,
                            gfx942 = Generation::kGfx942, gfx950 = Generation::kGfx950,
                            gfx900 = Generation::kGfx900, gfx1030 = Generation::kGfx1030,
                            gfx1100 = Generation::kGfx1100, gfx1150 = Generation::kGfx1150,
                            gfx1200 = Generation::kGfx1200;

inline constexpr Type none = Type::kNone, b16 = Type::kB16, f16 = Type::kF16, b32 = Type::kB32,
                      f32 = Type::kF32, b64 = Type::kB64, i64 = Type::kI64, f64 = Type::kF64,
                      pk_b16 = Type::kPkB16, pk_f16 = Type::kPkF16, pk_f32 = Type::kPkF32,
                      b96 = Type::kB96, b128 = Type::kB128, b192 = Type::kB192, bf16 = Type::kBF16,
                      pk_bf16 = Type::kPkBF16, b256 = Type::kB256, b512 = Type::kB512,
                      b1024 = Type::kB1024, f64x4 = Type::kF64x4, mask = Type::kMask;

inline constexpr uint8_t scc = kImpliesScc, vcc = kImpliesVcc, exec = kImpliesExec, m0 = kImpliesM0,
                         mode = kImpliesMode, flat_scratch = kImpliesFlatScratch;

// How much further the 64-bit forms of VOP1 begin from gfx10 on (RDNA ISA, "VOP3").
inline constexpr unsigned kVop1LongFromGfx10 = 0x40;

// Some encodings of one instruction.
struct Encodings {
  Encoding one[Row::kMostEncodings];
  uint8_t count = 0;

  consteval Encodings from(Generation g) const {
    Encodings all = *this;
    for (Encoding& e : all.one) {
      e.first = g;
      if (g <= kNewestGfx9) continue;
      e.last = kNewest;
      if (e.is_long_form && one[0].format == Format::kVop1) e.number += kVop1LongFromGfx10;
    }
    return all;
  }
  // The same instruction, in the same format, of later generations.
  consteval Encodings gfx10(unsigned number, const char* name = nullptr) const {
    return then(Generation::kGfx1030, number, name);
  }
  consteval Encodings gfx11(unsigned number, const char* name = nullptr) const {
    return then(Generation::kGfx1100, number, name);
  }
  consteval Encodings gfx12(unsigned number, const char* name = nullptr) const {
    return then(Generation::kGfx1200, number, name);
  }
  consteval Encodings gone(Generation g) const {
    Encodings all = *this;
    for (Encoding& e : all.one) {
      if (e.last == kNewest) e.last = static_cast<Generation>(static_cast<int>(g) - 1);
    }
    return all;
  }
  consteval Encodings until(Generation g) const {
    Encodings all = *this;
    for (Encoding& e : all.one) e.last = g;
    return all;
  }
  // Spelled `name` everywhere.
  consteval Encodings called(const char* name) const {
    Encodings all = *this;
    for (Encoding& e : all.one) e.name = name;
    return all;
  }
  // Two spellings: the second holds from `g` on.
  consteval Encodings named(Generation g, const char* name) const {
    Encodings early = *this, late = *this;
    for (Encoding& e : early.one) e.last = static_cast<Generation>(static_cast<int>(g) - 1);
    for (Encoding& e : late.one) {
      e.first = g;
      e.name = name;
    }
    return early | late;
  }
  consteval Encodings no_sdwa() const {
    Encodings all = *this;
    for (Encoding& e : all.one) e.sdwa = false;
    return all;
  }
  consteval Encodings no_dpp() const {
    Encodings all = *this;
    for (Encoding& e : all.one) e.dpp = false;
    return all;
  }
  consteval Encodings no_long() const {
    Encodings all;
    for (unsigned i = 0; i < count; ++i) {
      if (!one[i].is_long_form) all.one[all.count++] = one[i];
    }
    return all;
  }
  consteval Encodings then(Generation g, unsigned number, const char* name) const {
    Encodings later;
    for (unsigned i = 0; i < count; ++i) {
      // Those of the first generation that it lists stand for all.
      if (one[i].first != one[0].first) break;
      Encoding e = one[i];
      // The long form's number goes with the short one's.
      e.number = static_cast<uint16_t>(number + e.number - one[0].number);
      if (!e.is_long_form) e.number = static_cast<uint16_t>(number);
      e.name = name;
      later.one[later.count++] = e;
    }
    const bool is_gfx9 = one[0].first <= kNewestGfx9;
    Encodings from_there = later;
    for (unsigned i = 0; i < later.count; ++i) {
      Encoding& e = from_there.one[i];
      e.first = g;
      e.last = kNewest;
      if (e.is_long_form && e.format == Format::kVop3 && one[0].format == Format::kVop1 && is_gfx9)
        e.number += kVop1LongFromGfx10;
    }
    return gone(g) | from_there;
  }
  consteval Encodings operator|(const Encodings& other) const {
    Encodings all = *this;
    for (unsigned i = 0; i < other.count; ++i) all.one[all.count++] = other.one[i];
    return all;
  }
};

consteval Encodings encoded(Format format, unsigned number, uint8_t segment = 0) {
  Encodings all;
  all.one[0].format = format;
  all.one[0].number = static_cast<uint16_t>(number);
  all.one[0].segment = segment;
  all.count = 1;
  return all;
}
consteval Encodings with_long_form(Format format, unsigned number, unsigned first_long) {
  Encodings all = encoded(format, number) | encoded(Format::kVop3, first_long + number);
  all.one[0].sdwa = true;
  all.one[0].dpp = format != Format::kVopc;
  all.one[1].is_long_form = true;
  return all;
}

consteval Encodings sop1(unsigned n) {
  return encoded(Format::kSop1, n);
}
consteval Encodings sop2(unsigned n) {
  return encoded(Format::kSop2, n);
}
consteval Encodings sopc(unsigned n) {
  return encoded(Format::kSopc, n);
}
consteval Encodings sopk(unsigned n) {
  return encoded(Format::kSopk, n);
}
consteval Encodings sopp(unsigned n) {
  return encoded(Format::kSopp, n);
}
consteval Encodings smem(unsigned n) {
  return encoded(Format::kSmem, n);
}
// The 64-bit forms' numbers: Vega ISA 13.3.5, "VOP3A".
consteval Encodings vop1(unsigned n) {
  return with_long_form(Format::kVop1, n, 0x140);
}
consteval Encodings vop2(unsigned n) {
  return with_long_form(Format::kVop2, n, 0x100);
}
consteval Encodings vopc(unsigned n) {
  return with_long_form(Format::kVopc, n, 0);
}
consteval Encodings vop3(unsigned n) {
  return encoded(Format::kVop3, n);
}
consteval Encodings vop3p(unsigned n) {
  return encoded(Format::kVop3p, n);
}
consteval Encodings vintrp(unsigned n) {
  return encoded(Format::kVintrp, n);
}
consteval Encodings ds(unsigned n) {
  return encoded(Format::kDs, n);
}
consteval Encodings flat(unsigned n) {
  return encoded(Format::kFlat, n, 0);
}
consteval Encodings scratch(unsigned n) {
  return encoded(Format::kFlat, n, 1);
}
consteval Encodings global(unsigned n) {
  return encoded(Format::kFlat, n, 2);
}
consteval Encodings mubuf(unsigned n) {
  return encoded(Format::kMubuf, n);
}
consteval Encodings mtbuf(unsigned n) {
  return encoded(Format::kMtbuf, n);
}
consteval Encodings mimg(unsigned n) {
  return encoded(Format::kMimg, n);
}
// v_mfma_ld_scale_b32 and the VOP3P instruction behind it, as one of 16 bytes.
consteval Encodings scaled() {
  return {};
}
// One half of VOPD: the numbers from 16 on are those of the second half only.
consteval Encodings vopd(unsigned n) {
  return encoded(Format::kVopd, n).from(gfx1100);
}
consteval Encodings ldsdir(unsigned n) {
  return encoded(Format::kLdsDirect, n);
}
consteval Encodings exports() {
  return encoded(Format::kExp, 0);
}

struct Operands {
  Type dst = Type::kNone;
  Type src[3] = {Type::kNone, Type::kNone, Type::kNone};
};
consteval Operands operands(Type dst = none, Type a = none, Type b = none, Type c = none) {
  return {dst, {a, b, c}};
}

// Facts. Each changes a row.
struct Reads {
  unsigned registers;
};
struct Writes {
  unsigned registers;
};
struct Is {
  uint32_t traits;
};
struct Takes {
  unsigned modifiers;
};
struct OpSel {
  unsigned bits;
};
struct Goes {
  Flow flow;
};
struct Accesses {
  Memory memory;
};
struct Multiplies {
  MatrixShape shape;
};

consteval Reads reads(unsigned registers) {
  return {registers};
}
consteval Writes writes(unsigned registers) {
  return {registers};
}
consteval Is is(uint32_t traits) {
  return {traits};
}
// The modifiers of the 64-bit encodings, and how SDWA differs from them (sdwa.h).
inline constexpr unsigned signs1 = kSignOf0, signs2 = kSignOf0 | kSignOf1,
                          signs3 = kSignOf0 | kSignOf1 | kSignOf2, sign_b = kSignOf1,
                          sign_c = kSignOf2, clamp = kTakesClamp, omod = kTakesOmod,
                          sdwa_integer_b = kSdwaInteger1, sdwa_no_omod = kSdwaNoOmod,
                          sdwa_selects_bits = kSdwaSelectsBits;
consteval Takes takes(unsigned modifiers) {
  return {modifiers};
}
// The bits of OP_SEL, where not all of them are allowed.
consteval OpSel op_sel(unsigned bits) {
  return {bits};
}
consteval Goes goes(Flow flow) {
  return {flow};
}
consteval Accesses memory(Access access, unsigned bytes, unsigned count = 1, unsigned unit = 1) {
  Memory m;
  m.access = access;
  m.bytes = static_cast<uint8_t>(bytes);
  m.count = static_cast<uint8_t>(count);
  m.unit = static_cast<uint8_t>(unit);
  return {m};
}
// `bytes` of each element, of `count` elements whose offsets count in `unit` elements.
consteval Accesses load(unsigned bytes, unsigned count = 1, unsigned unit = 1) {
  return memory(Access::kLoad, bytes, count, unit);
}
consteval Accesses store(unsigned bytes, unsigned count = 1, unsigned unit = 1) {
  return memory(Access::kStore, bytes, count, unit);
}
consteval Accesses atomic(AtomicOp op, unsigned bytes, unsigned count = 1, unsigned unit = 1) {
  Accesses a = memory(Access::kAtomic, bytes, count, unit);
  a.memory.atomic = op;
  return a;
}
consteval Accesses cache(CacheOp op) {
  Accesses a = memory(Access::kCache, 0);
  a.memory.cache = op;
  return a;
}
consteval Accesses clock() {
  return memory(Access::kClock, 8);
}
consteval Accesses probe() {
  return memory(Access::kProbe, 0);
}
// M × N × K, in so many blocks.
consteval Multiplies matrix(unsigned m, unsigned n, unsigned k, unsigned blocks) {
  return {{m, n, k, blocks}};
}

consteval void apply(Row& row, Reads fact) {
  row.reads |= static_cast<uint8_t>(fact.registers);
}
consteval void apply(Row& row, Writes fact) {
  row.writes |= static_cast<uint8_t>(fact.registers);
}
consteval void apply(Row& row, Is fact) {
  row.traits |= fact.traits;
}
consteval void apply(Row& row, Takes fact) {
  row.modifiers = static_cast<uint8_t>(fact.modifiers);
}
consteval void apply(Row& row, OpSel fact) {
  row.op_sel = static_cast<uint8_t>(fact.bits);
}
consteval void apply(Row& row, Goes fact) {
  row.flow = fact.flow;
}
consteval void apply(Row& row, Accesses fact) {
  row.memory = fact.memory;
}
consteval void apply(Row& row, Multiplies fact) {
  row.matrix = fact.shape;
  row.traits |= kMatrix | kIgnoresExec | kCrossLane;
}

constexpr bool reads_exec(Format format) {
  return format >= Format::kVop1 && format <= Format::kMimg;
}

template <class... Facts>
consteval Row row(const char* name, const Encodings& encodings, const Operands& operands,
                  Facts... facts) {
  Row row;
  row.name = name;
  row.encoding_count = encodings.count;
  for (unsigned i = 0; i < encodings.count; ++i) row.encodings[i] = encodings.one[i];
  row.dst = operands.dst;
  for (unsigned i = 0; i < 3; ++i) row.src[i] = operands.src[i];
  const Encoding& first = encodings.one[0];
  (apply(row, facts), ...);
  const bool controls_caches = row.memory.access == Access::kCache;
  if (reads_exec(first.format) && !row.has(kIgnoresExec) && !controls_caches)
    row.reads |= kImpliesExec;
  if (first.format == Format::kFlat && first.segment < 2) row.reads |= kImpliesFlatScratch;
  return row;
}

// NOLINTEND(readability-identifier-naming)

}  // namespace halyard::vgpu::isa::rows
