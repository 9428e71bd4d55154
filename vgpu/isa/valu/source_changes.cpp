#include "vgpu/isa/valu/source_changes.h"

#include <bit>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/result_modifiers.h"
#include "vgpu/isa/valu/row_vectors.h"

namespace halyard::vgpu::isa::valu {
namespace {

// Which parts of a dword make up the one that is read: those of SubDword, and pairs of halves.
enum Part : uint8_t { kWord0 = 4, kWord1, kDword, kSwapped, kLowTwice, kHighTwice, kParts };
static_assert(static_cast<SubDword>(kWord0) == SubDword::kWord0);
static_assert(static_cast<SubDword>(kDword) == SubDword::kDword);

#if defined(__AVX2__)
// As byte shuffles: which byte each byte comes from, 0x80 for a zero, for four dwords.
struct alignas(16) Pattern {
  uint8_t source[16];
};
constexpr Pattern pattern(uint32_t dword) {
  Pattern p{};
  for (unsigned i = 0; i < 16; ++i) {
    const uint32_t byte = dword >> (8 * (i % 4)) & 0xff;
    p.source[i] = static_cast<uint8_t>((byte & 0x80) != 0 ? 0x80 : byte + (i & ~3u));
  }
  return p;
}
constexpr Pattern kPatterns[kParts] = {
    pattern(0x80808000), pattern(0x80808001), pattern(0x80808002), pattern(0x80808003),
    pattern(0x80800100), pattern(0x80800302), pattern(0x03020100), pattern(0x01000302),
    pattern(0x01000100), pattern(0x03020302)};
#else
// Bits `low` of the dword shifted right, and bits `high` of it shifted left.
struct Pick {
  uint8_t right, left;
  uint32_t low, high;
};
constexpr Pick kPicks[kParts] = {{0, 0, 0xff, 0},
                                 {8, 0, 0xff, 0},
                                 {16, 0, 0xff, 0},
                                 {24, 0, 0xff, 0},
                                 {0, 0, 0xffff, 0},
                                 {16, 0, 0xffff, 0},
                                 {0, 0, 0xffffffff, 0},
                                 {16, 16, 0xffff, 0xffff0000},
                                 {0, 16, 0xffff, 0xffff0000},
                                 {16, 0, 0xffff, 0xffff0000}};
#endif

// Picks `part` of each dword, then keeps some bits of it and flips some. `to` may be `from`.
[[gnu::always_inline]] inline void change_row(unsigned part, uint32_t keep, uint32_t flip,
                                              const uint32_t* from, uint32_t* to) {
#if defined(__AVX2__)
  for (unsigned n = 0; n < kLanes; n += kVectorLanes) {
    const Dwords x = shuffle_bytes(load_lanes(from + n), kPatterns[part].source);
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

// The sign-extended part that SDWA selects.
void extend_row(SubDword sel, const uint32_t* from, uint32_t* to) {
  const unsigned down = 32 - sub_dword_bits(sel), up = down - sub_dword_shift(sel);
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = static_cast<uint32_t>(static_cast<int32_t>(from[lane] << up) >> down);
}

constexpr bool is_packed16(Type type) {
  return type == Type::kPkF16 || type == Type::kPkB16;
}

// A float constant as an f32: source field 240..248 of VOP3P, 0.5 … 1/(2 pi).
bool is_float_constant(const Instruction& in, unsigned i) {
  const unsigned field = static_cast<unsigned>(in.encoding >> (32 + 9 * i)) & 0x1ff;
  return in.src[i].kind == OperandKind::kConstant && field >= 240 && field <= 248;
}

// Makes an f32 of a half of each dword.
#if defined(__AVX512BW__)
void widen_row(bool high, const uint32_t* from, uint32_t* to) {
  alignas(64) uint32_t halves[kLanes / 2];
  // Words 0, 2, 4 … of two vectors, or the ones above them.
  const __m512i low_words =
      _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                       24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i words = _mm512_or_si512(low_words, _mm512_set1_epi16(high ? 1 : 0));
  for (unsigned n = 0; n < kLanes; n += 32) {
    const __m512i a = _mm512_load_si512(from + n), b = _mm512_load_si512(from + n + 16);
    _mm512_store_si512(halves + n / 2, _mm512_permutex2var_epi16(a, words, b));
  }
  for (unsigned n = 0; n < kLanes; n += 16) {
    const auto* const some = reinterpret_cast<const __m256i*>(halves + n / 2);
    _mm512_store_ps(to + n, _mm512_cvtph_ps(_mm256_load_si256(some)));
  }
}
#elif defined(__F16C__) && defined(__AVX2__)
void widen_row(bool high, const uint32_t* from, uint32_t* to) {
  const unsigned part = high ? kWord1 : kWord0;
  for (unsigned n = 0; n < kLanes; n += 16) {
    const Dwords a = shuffle_bytes(load_lanes(from + n), kPatterns[part].source);
    const Dwords b = shuffle_bytes(load_lanes(from + n + 8), kPatterns[part].source);
    // Words 0..3 of a, 0..3 of b, 4..7 of a, 4..7 of b.
    const __m256i mingled = _mm256_packus_epi32(HostInts(a), HostInts(b));
    const __m256i halves = _mm256_permute4x64_epi64(mingled, 0xd8);
    store_lanes(to + n, Dwords(_mm256_cvtph_ps(_mm256_castsi256_si128(halves))));
    store_lanes(to + n + 8, Dwords(_mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1))));
  }
}
#else
void widen_row(bool high, const uint32_t* from, uint32_t* to) {
  const unsigned shift = high ? 16 : 0;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = to_bits(to_f32(F16{static_cast<uint16_t>(from[lane] >> shift)}));
}
#endif

// An f16 denormal becomes a zero, which as an f32 it is below 2^-14.
void flush_widened(uint32_t* row) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool denormal = (row[lane] & 0x7fffffff) < 0x38800000;
    row[lane] &= denormal ? 0x80000000 : ~0u;
  }
}

}  // namespace

void negate_rows(const Instruction& in, unsigned sources, LaneArgs& args, LaneBuffer* copies) {
  const unsigned flips[] = {in.neg, in.abs};  // neg_lo, neg_hi
  for (unsigned i = 0; i < sources; ++i) {
    for (unsigned d = 0; d < 2; ++d) {
      if ((flips[d] >> i & 1) == 0) continue;
      uint32_t* const to = copies[i * kChangedRows + d].lane;
      change_row(kDword, ~0u, 0x80000000, args.src[i][d], to);
      args.src[i][d] = to;
    }
  }
}

void change_sources(const Instruction& in, const Shape& shape, LaneArgs& args, LaneBuffer* copies) {
  const unsigned encoded = shape.sources - (shape.accumulates ? 1u : 0u);
  if (shape.src[0] == Type::kPkF32) {
    for (unsigned i = 0; i < encoded; ++i) select_rows(in, i, args.src[i]);
    return negate_rows(in, encoded, args, copies);
  }
  const bool packed = in.format == Format::kVop3p;
  const unsigned op_sel = packed || in.format == Format::kVop3 ? in.op_sel : 0u;
  // Only the sources (a bit for each) that may need it.
  unsigned left = unsigned{in.neg} | in.abs | op_sel;
  if (packed) left |= ~unsigned{in.op_sel_hi};
  if (in.sdwa.enabled) {
    left |= in.sdwa.src_sel[0] != SubDword::kDword ? 1u : 0u;
    left |= in.sdwa.src_sel[1] != SubDword::kDword ? 2u : 0u;
  }
  for (left &= (1u << encoded) - 1; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const Type type = shape.src[i];
    const uint32_t neg = in.neg >> i & 1, abs = in.abs >> i & 1;
    const unsigned from_high = op_sel >> i & 1;
    const uint32_t*& row = args.src[i][shape.src_dwords[i] - 1];
    uint32_t* const to = copies[i * kChangedRows].lane;
    unsigned part = kDword;
    uint32_t keep = ~0u, flip = 0;
    if (is_packed16(type)) {
      constexpr uint8_t kChoices[] = {kLowTwice, kSwapped, kDword, kHighTwice};
      if (packed) part = kChoices[2 * (in.op_sel_hi >> i & 1u) + from_high];
      flip = neg << 15 | abs << 31;  // neg_lo, neg_hi
    } else {
      const unsigned sign = is_16bit(type) ? 15 : 31;
      keep = ~(abs << sign);
      flip = neg << sign;
      if (is_16bit(type) && from_high != 0) part = kWord1;
    }
    if (in.sdwa.enabled && i < 2) {
      part = static_cast<unsigned>(in.sdwa.src_sel[i]);
      if (in.sdwa.sext[i] && part != kDword) [[unlikely]] {
        extend_row(in.sdwa.src_sel[i], row, to);
        row = to;
        part = kDword;
      }
    }
    change_row(part, keep, flip, row, to);
    row = to;
  }
}

void mix_sources(const Instruction& in, const FloatMode& mode, LaneArgs& args, LaneBuffer* copies) {
  for (unsigned i = 0; i < 3; ++i) {
    const uint32_t*& row = args.src[i][0];
    uint32_t* const to = copies[i * kChangedRows].lane;
    if ((in.op_sel_hi >> i & 1) != 0) {
      // The decoder gave a float constant as an f32; integer constants are small numbers.
      if (is_float_constant(in, i)) [[unlikely]] {
        for (unsigned lane = 0; lane < kLanes; ++lane)
          to[lane] = nearest_f16(from_bits<float>(row[lane])).bits;
        row = to;
      }
      widen_row((in.op_sel >> i & 1) != 0, row, to);
      if ((mode.denorm_f16_f64 & 1) == 0) [[unlikely]]
        flush_widened(to);
      row = to;
    }
    if (((in.neg | in.abs) >> i & 1) == 0) continue;
    const uint32_t keep = (in.abs >> i & 1) != 0 ? 0x7fffffff : ~0u;
    const uint32_t flip = (in.neg >> i & 1) != 0 ? 0x80000000 : 0;
    change_row(kDword, keep, flip, row, to);
    row = to;
  }
}

}  // namespace halyard::vgpu::isa::valu
