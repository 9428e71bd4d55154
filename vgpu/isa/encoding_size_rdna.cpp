// How long an encoding of gfx10 and later is (RDNA 2, RDNA 3 and RDNA 4 ISA, "Microcode Formats").

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/source_codes.h"

namespace halyard::vgpu::isa {
namespace {

// A dword follows VOP1, VOP2 and VOPC for a literal, SDWA (gfx10) or DPP.
unsigned short_vector_size(Layout layout, const OpTable::Entry& entry, Format format,
                           const uint32_t words[]) {
  const Row& row = row_of(entry.op);
  const unsigned src0 = field(words[0], 0, 9);
  if (row.src[0] == Type::kNone) return 4;
  if (src0 == code::kSdwa && (!entry.sdwa || layout != Layout::kGfx10)) return 0;
  if (src0 == code::kSdwa && has_reserved_selection(format, words[1])) return 0;
  const bool has_dpp = entry.dpp || (layout != Layout::kGfx10 && format == Format::kVopc);
  if (is_dpp_code(src0) && !has_dpp) return 0;
  const bool is_longer = row.has(kLiteralK) || src0 == code::kLiteral || src0 == code::kSdwa;
  return is_longer || is_dpp_code(src0) ? 8 : 4;
}

// Whose source is the number of a barrier: an inline constant or M0 (RDNA 4 ISA, S_BARRIER_SIGNAL).
bool names_a_barrier(Op op) {
  return op == Op::s_barrier_signal || op == Op::s_barrier_signal_isfirst ||
         op == Op::s_get_barrier_state || op == Op::s_barrier_init || op == Op::s_barrier_join;
}

unsigned one_source_size(const OpTable::Entry& entry, uint32_t w0) {
  if (row_of(entry.op).src[0] == Type::kNone || field(w0, 0, 8) != code::kLiteral) return 4;
  return names_a_barrier(entry.op) ? 0 : 8;
}

// VOP3 and VOP3P can have a literal, and from gfx11 on DPP.
unsigned long_vector_size(Layout layout, const Row& row, uint32_t w1) {
  bool literal = false;
  for (unsigned s = 0; s < 3; ++s) {
    const bool has_source = row.src[s] != Type::kNone || row.has(kMatrix);
    literal |= has_source && field(w1, 9 * s, 9) == code::kLiteral;
  }
  const bool dpp = layout != Layout::kGfx10 && is_dpp_code(field(w1, 0, 9));
  return literal || dpp ? 12 : 8;
}

// The literal of both halves: where one of them reads it, or has a constant of its own.
unsigned dual_size(const uint32_t words[]) {
  constexpr unsigned kFmaak = 1, kFmamk = 2;
  const unsigned x = field(words[0], 22, 4), y = field(words[0], 17, 5);
  const bool has_constant = x == kFmaak || x == kFmamk || y == kFmaak || y == kFmamk;
  const bool reads =
      field(words[0], 0, 9) == code::kLiteral || field(words[1], 0, 9) == code::kLiteral;
  return has_constant || reads ? 12 : 8;
}

// Addresses beyond the first follow in dwords of their own (NSA): their number in gfx10, whether
// there is one in gfx11.
unsigned image_size(Layout layout, uint32_t w0) {
  if (layout == Layout::kGfx12) return 12;
  const unsigned dwords = layout == Layout::kGfx10 ? field(w0, 1, 2) : field(w0, 0, 1);
  return 8 + 4 * dwords;
}

}  // namespace

unsigned find_rdna_size(const Target& target, const OpTable::Entry& entry, Format format,
                        const uint32_t words[]) {
  const Layout layout = layout_of(target.generation);
  const Row& row = row_of(entry.op);
  const uint32_t w0 = words[0];
  const auto with_literal = [](bool literal) { return literal ? 8u : 4u; };
  switch (format) {
    case Format::kSop1:
      return one_source_size(entry, w0);
    case Format::kSop2:
    case Format::kSopc:
      return with_literal(row.has(kLiteralK) || field(w0, 0, 8) == code::kLiteral ||
                          (row.src[1] != Type::kNone && field(w0, 8, 8) == code::kLiteral));
    case Format::kSopk:
      return with_literal(row.has(kLiteralK));
    case Format::kSopp:
    case Format::kVintrp:
    case Format::kLdsDirect:
      return 4;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
      return short_vector_size(layout, entry, format, words);
    case Format::kVop3:
    case Format::kVop3p:
      return long_vector_size(layout, row, words[1]);
    case Format::kVopd:
      return dual_size(words);
    case Format::kMimg:
      return image_size(layout, w0);
    case Format::kFlat:
    case Format::kMubuf:
    case Format::kMtbuf:
      return layout == Layout::kGfx12 ? 12 : 8;
    default:
      return 8;
  }
}

}  // namespace halyard::vgpu::isa
