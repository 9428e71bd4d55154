// What NEG, ABS, op_sel and SDWA make of an operation's sources, before it reads them.
#pragma once

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/result_modifiers.h"
#include "vgpu/isa/valu/row_vectors.h"

namespace halyard::vgpu::isa::valu {

// Which parts of a dword make up the one that is read: those of SubDword, and pairs of halves, by
// kOpSel and kOpSelHi.
enum Part : uint8_t {
  kWord0 = 4,
  kWord1,
  kDword,
  kLowTwice,
  kSwapped,
  kInOrder,
  kHighTwice,
  kParts
};
static_assert(static_cast<SubDword>(kWord0) == SubDword::kWord0);
static_assert(static_cast<SubDword>(kDword) == SubDword::kDword);

#if defined(__AVX2__)
// As byte shuffles: which byte each byte comes from, 0x80 for a zero, for four dwords.
struct alignas(16) BytePattern {
  uint8_t source[16];
};
constexpr BytePattern byte_pattern(uint32_t dword) {
  BytePattern p{};
  for (unsigned i = 0; i < 16; ++i) {
    const uint32_t byte = dword >> (8 * (i % 4)) & 0xff;
    p.source[i] = static_cast<uint8_t>((byte & 0x80) != 0 ? 0x80 : byte + (i & ~3u));
  }
  return p;
}
inline constexpr BytePattern kPartPatterns[kParts] = {
    byte_pattern(0x80808000), byte_pattern(0x80808001), byte_pattern(0x80808002),
    byte_pattern(0x80808003), byte_pattern(0x80800100), byte_pattern(0x80800302),
    byte_pattern(0x03020100), byte_pattern(0x01000100), byte_pattern(0x01000302),
    byte_pattern(0x03020100), byte_pattern(0x03020302)};
#else
// Bits `low` of the dword shifted right, and bits `high` of it shifted left.
struct Pick {
  uint8_t right, left;
  uint32_t low, high;
};
inline constexpr Pick kPicks[kParts] = {{0, 0, 0xff, 0},
                                        {8, 0, 0xff, 0},
                                        {16, 0, 0xff, 0},
                                        {24, 0, 0xff, 0},
                                        {0, 0, 0xffff, 0},
                                        {16, 0, 0xffff, 0},
                                        {0, 0, 0xffffffff, 0},
                                        {0, 16, 0xffff, 0xffff0000},
                                        {16, 16, 0xffff, 0xffff0000},
                                        {0, 0, 0xffffffff, 0},
                                        {16, 0, 0xffff, 0xffff0000}};
#endif

// Picks `part` of each dword, then keeps some bits of it and flips some. `to` may be `from`.
[[gnu::always_inline]] inline void change_row(unsigned part, uint32_t keep, uint32_t flip,
                                              const uint32_t* from, uint32_t* to) {
#if defined(__AVX2__)
  for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
    const Dwords x = shuffle_bytes(load_lanes(from + n), kPartPatterns[part].source);
    store_lanes(to + n, (x & keep) ^ flip);
  }
#else
  const Pick pick = kPicks[part];
  const uint32_t low = pick.low & keep, high = pick.high & keep;
  if (high == 0) {
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane)
      to[lane] = (from[lane] >> pick.right & low) ^ flip;
    return;
  }
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = ((from[lane] >> pick.right & low) | (from[lane] << pick.left & high)) ^ flip;
#endif
}

// The sign-extended part that SDWA selects. `to` may be `from`.
[[gnu::always_inline]] inline void extend_row(SubDword sel, const uint32_t* from, uint32_t* to) {
  const unsigned down = 32 - sub_dword_bits(sel), up = down - sub_dword_shift(sel);
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = static_cast<uint32_t>(static_cast<int32_t>(from[lane] << up) >> down);
}

// Rows that a source's changed copy takes at most: packed f32 has two.
inline constexpr unsigned kChangedRows = 2;

// Applies VOP3P's modifiers to a source of this type. Where a changed copy, one of `copies`, takes
// a row's place, `rows` has it afterwards. Inline, because the type is nearly always a constant.
[[gnu::always_inline]] inline void change_vop3p_source(Type type, unsigned halves,
                                                       const uint32_t** rows, LaneBuffer* copies) {
  const auto change = [&](unsigned row, unsigned part, uint32_t keep, uint32_t flip)
                          __attribute__((always_inline)) {
                            change_row(part, keep, flip, rows[row], copies[row].lane);
                            rows[row] = copies[row].lane;
                          };
  const bool neg_lo = (halves & kNegLo) != 0, neg_hi = (halves & kNegHi) != 0;
  if (type == Type::kPkF32) {
    // The halves are rows, so that selecting one takes its address.
    const uint32_t* const low = rows[0];
    const uint32_t* const high = rows[1];
    rows[0] = (halves & kOpSel) != 0 ? high : low;
    rows[1] = (halves & kOpSelHi) != 0 ? high : low;
    if (!neg_lo && !neg_hi) [[likely]]
      return;
    if (neg_lo) change(0, kDword, ~0u, 0x80000000);
    if (neg_hi) change(1, kDword, ~0u, 0x80000000);
  } else if (type == Type::kPkF16 || type == Type::kPkBF16 || type == Type::kPkB16) {
    if (halves == kOpSelHi) return;
    const uint32_t flip = (neg_lo ? 0x8000u : 0u) | (neg_hi ? 0x80000000u : 0u);
    change(0, kLowTwice + (halves & (kOpSel | kOpSelHi)), ~0u, flip);
  } else if (neg_lo || neg_hi) {
    change(0, kDword, neg_hi ? 0x7fffffff : ~0u, neg_lo ? 0x80000000 : 0);
  }
}

// Where a changed copy replaces a row, `args` has it afterwards. `copies` has kChangedRows for each
// source; no row of `args` may be one of them.
void change_sources(const Instruction& in, const Shape& shape, LaneArgs& args, LaneBuffer* copies);

// The same for v_mad_mix and its kin: a source is an f32, or, with its op_sel_hi bit, the half of a
// dword that op_sel says, which becomes an f32.
void mix_sources(const Instruction& in, const FloatMode& mode, LaneArgs& args, LaneBuffer* copies);

}  // namespace halyard::vgpu::isa::valu
