// How long an encoding is, and whether it is one: which bits must be 0.

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/rows/sdwa.h"
#include "vgpu/isa/source_codes.h"

namespace halyard::vgpu::isa {

namespace {

bool vop3_has_scalar_result(const Row& row) {
  return row.dst == Type::kMask || row.has(kScalarResult);
}

// Whether the modifiers of VOP3 and VOP3P are among those that the instruction has.
bool has_modifiers_it_takes(const Row& row, Format format, const uint32_t words[]) {
  const uint32_t w0 = words[0], w1 = words[1];
  // VOP3B has its scalar result where others have ABS and CLAMP's neighbours.
  const bool is_vop3b = format == Format::kVop3 && row.has(kMaskResult) && row.dst != Type::kMask;
  const unsigned signs = field(w1, 29, 3) | (is_vop3b ? 0 : field(w0, 8, 3));
  if ((signs & ~row.modifiers & (kSignOf0 | kSignOf1 | kSignOf2)) != 0) return false;
  if (field(w0, 15, 1) && (row.modifiers & kTakesClamp) == 0) return false;
  if (format == Format::kVop3p) {
    unsigned sources = 0;
    for (unsigned s = 0; s < 3; ++s) sources |= row.src[s] != Type::kNone ? 1u << s : 0;
    return (field(w0, 11, 3) & ~(sources & row.op_sel)) == 0;
  }
  if (field(w1, 27, 2) && (row.modifiers & kTakesOmod) == 0) return false;
  return is_vop3b || (field(w0, 11, 4) & ~unsigned{row.op_sel}) == 0;
}

unsigned encoded_sources(const Row& row) {
  unsigned sources = 0;
  for (unsigned s = 0; s < 2; ++s) sources |= row.src[s] != Type::kNone ? 1u << s : 0;
  return sources;
}

// NEG and ABS are those of the 64-bit form.
bool has_dpp_it_takes(const Row& row, uint32_t w1) {
  const unsigned signs =
      field(w1, 20, 1) | field(w1, 21, 1) | field(w1, 22, 1) << 1 | field(w1, 23, 1) << 1;
  return (signs & ~(row.modifiers & encoded_sources(row))) == 0;
}

// Floats have NEG and ABS, integers SEXT.
bool has_sdwa_it_takes(const Row& row, Format format, uint32_t w1) {
  constexpr uint32_t kSecondSource = 0xbf000000;  // without its reserved bit
  if (format == Format::kVop1 && (w1 & kSecondSource)) return false;
  const unsigned sources = encoded_sources(row);
  const bool selects_bits = row.modifiers & kSdwaSelectsBits;
  const unsigned integer1 = row.modifiers & kSdwaInteger1 ? unsigned{kSignOf1} : 0;
  const unsigned floats = row.modifiers & sources & ~integer1;
  const unsigned integers = selects_bits ? 0 : sources & ~floats;
  for (unsigned s = 0; s < 2; ++s) {
    const unsigned sext = field(w1, 19 + 8 * s, 1), signs = field(w1, 20 + 8 * s, 2);
    if (sext && (integers >> s & 1) == 0) return false;
    if (signs && (floats >> s & 1) == 0) return false;
  }
  if (format == Format::kVopc) return true;
  constexpr unsigned kWholeDword = 6;
  if (selects_bits && field(w1, 8, 3) != kWholeDword) return false;
  const bool has_omod = (row.modifiers & kTakesOmod) != 0 && (row.modifiers & kSdwaNoOmod) == 0;
  return has_omod || field(w1, 14, 2) == 0;
}

// The LDS bit of MUBUF.
bool may_load_to_lds(const Target& target, const Row& row, uint32_t w1) {
  if (!row.has(kMayLoadToLds) || (target.memory_acc_bit && field(w1, 23, 1))) return false;
  return row.memory.bytes <= 4 || target.wide_lds_loads;
}

// Whether the atomic can have the old value as its result.
bool may_return(const Target& target, const Row& row) {
  const AtomicOp op = row.memory.atomic;
  const bool is_float = op == AtomicOp::kFadd || op == AtomicOp::kPkFaddF16;
  return !is_float || target.float_atomics_return;
}

// Whether the bits are 0 that must be: those of fields that the instruction does not have. Hardware
// may ignore them; LLVM knows no instruction with them. And whether a literal is where there may be
// one.
bool has_fields_it_takes(const Target& target, const Row& row, Format format,
                         const uint32_t words[]) {
  // Of a cache control: OFFEN, IDXEN and LDS of the first dword, TFE of the second; and what others
  // have as the scope.
  constexpr uint32_t kCacheBits = 0x00013000, kScopeBits = 0x0000c000, kCacheTfe = 1u << 23;
  const uint32_t w0 = words[0], w1 = words[1];
  const auto used = [](Type type, unsigned low, unsigned width) {
    return type == Type::kNone ? 0u : ((1u << width) - 1) << low;
  };
  switch (format) {
    case Format::kSopp:
      return !row.has(kNoOperand) || field(w0, 0, 16) == 0;
    case Format::kVop3:
      // So a scalar result is: there it would be a literal's code.
      if (vop3_has_scalar_result(row) && field(w0, 0, 8) == code::kLiteral) return false;
      [[fallthrough]];
    case Format::kVop3p:
      for (unsigned s = 0; s < 3; ++s) {
        if (field(w1, 9 * s, 9) == code::kLiteral) return false;
      }
      if (format == Format::kVop3 && row.dst == Type::kNone && field(w0, 0, 8)) return false;
      return row.has(kMatrix) || has_modifiers_it_takes(row, format, words);
    case Format::kMubuf:
      if (row.memory.access == Access::kCache) {
        const CacheOp op = row.memory.cache;
        const bool has_scope = op == CacheOp::kWriteBackL2 || op == CacheOp::kInvalidateScoped;
        const uint32_t unused = has_scope ? kCacheBits : kCacheBits | kScopeBits;
        return (w0 & unused) == 0 && (w1 & kCacheTfe) == 0;
      }
      if (field(w0, 16, 1) && !may_load_to_lds(target, row, w1)) return false;
      if (field(w0, 14, 1) && !may_return(target, row)) return false;
      [[fallthrough]];
    case Format::kMtbuf:
      return field(w1, 24, 8) != code::kLiteral;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
      if (row.src[0] == Type::kNone) return field(w0, 17, 8) == 0;
      if (field(w0, 0, 9) == code::kDpp) return has_dpp_it_takes(row, w1);
      if (field(w0, 0, 9) != code::kSdwa) return true;
      return !has_reserved_selection(format, w1) && has_sdwa_it_takes(row, format, w1);
    case Format::kSmem:
      // Without a base there is no offset.
      return row.src[0] != Type::kNone || field(w0, 17, 1) == 0;
    case Format::kFlat: {
      const bool acc = field(w1, 23, 1), lds = field(w0, 13, 1);
      if (acc && !target.memory_acc_bit) return false;
      if (field(w0, 16, 1) && !may_return(target, row)) return false;
      // Data that go to LDS are in no AGPR.
      if (acc && (row.has(kToLds) || (lds && !target.scope_bits))) return false;
      if (segment_of(Layout::kGfx9, format, w0) == 0) return field(w1, 16, 7) == 0 && !lds;
      return segment_of(Layout::kGfx9, format, w0) != 2 || !target.scope_bits || !lds;
    }
    case Format::kDs: {
      if (row.has(kGraphics)) return true;
      // ds_permute and ds_bpermute have no form for GDS.
      if (row.has(kPermutes) && row.src[1] != Type::kNone && field(w0, 16, 1)) return false;
      if (row.memory.access == Access::kNone && field(w0, 0, 16)) return false;
      const uint32_t fields = used(row.src[0], 0, 8) | used(row.src[1], 8, 8) |
                              used(row.src[2], 16, 8) | used(row.dst, 24, 8);
      const bool acc = field(w0, 25, 1) && !target.memory_acc_bit;
      return (w1 & ~fields) == 0 && !acc;
    }
    default:
      return true;
  }
}

}  // namespace

bool has_reserved_selection(Format format, uint32_t w1) {
  constexpr uint32_t kReserved = 7, kReservedUnused = 3;
  // A comparison has the number of its scalar result where others select parts of theirs.
  const bool compares = format == Format::kVopc;
  if (!compares && (field(w1, 8, 3) == kReserved || field(w1, 11, 2) == kReservedUnused))
    return true;
  if (field(w1, 16, 3) == kReserved) return true;
  return format != Format::kVop1 && field(w1, 24, 3) == kReserved;
}

unsigned find_size(const Target& target, const OpTable::Entry& entry, Format format,
                   const uint32_t words[]) {
  if (layout_of(target.generation) != Layout::kGfx9)
    return find_rdna_size(target, entry, format, words);
  const Row& row = row_of(entry.op);
  if (!has_fields_it_takes(target, row, format, words)) return 0;
  const uint32_t w0 = words[0];
  const auto with_literal = [](bool literal) { return literal ? 8u : 4u; };
  switch (format) {
    case Format::kSop1:
      return with_literal(row.src[0] != Type::kNone && field(w0, 0, 8) == code::kLiteral);
    case Format::kSop2:
    case Format::kSopc:
      return with_literal(field(w0, 0, 8) == code::kLiteral ||
                          (row.src[1] != Type::kNone && field(w0, 8, 8) == code::kLiteral));
    case Format::kSopk:
      return with_literal(row.has(kLiteralK));
    case Format::kSopp:
    case Format::kVintrp:
      return 4;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc: {
      const unsigned src0 = field(w0, 0, 9);
      if (row.src[0] == Type::kNone) return 4;
      if ((src0 == code::kSdwa && !entry.sdwa) || (src0 == code::kDpp && !entry.dpp)) return 0;
      return with_literal(row.has(kLiteralK) || src0 == code::kLiteral || src0 == code::kSdwa ||
                          src0 == code::kDpp);
    }
    default:
      return 8;
  }
}

}  // namespace halyard::vgpu::isa
