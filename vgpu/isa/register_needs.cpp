// What an instruction touches of the register files, and whether its encoding carries modifiers.

#include <algorithm>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/matrix_layout.h"

namespace halyard::vgpu::isa {
unsigned source_dwords(const Instruction& i, unsigned s) {
  const Operand& source = i.src[s];
  if (source.kind == OperandKind::kNone) return 0;
  const Row& row = row_of(i.op);
  switch (i.format) {
    case Format::kMubuf:
    case Format::kMtbuf: {
      const unsigned dwords[] = {unsigned{i.offen} + i.idxen, 4, 1};
      return dwords[s];
    }
    case Format::kFlat: {
      const bool is_scratch = i.segment == 1;
      const bool narrow = is_scratch || i.src[2].kind == OperandKind::kScalar;
      const unsigned dwords[] = {narrow ? 1u : 2u, dwords_of(row.src[1]), is_scratch ? 1u : 2u};
      return dwords[s];
    }
    case Format::kSmem:
      return s == 0 ? dwords_of(row.src[0]) : 1;
    default:
      if (row.has(kSelectsTypes) && s < 2) return f8f6f4_dwords(s == 0 ? i.abs : i.neg);
      // Some types (of constants, say) name none.
      return std::max(dwords_of(row.src[s]), 1u);
  }
}

unsigned result_dwords(const Instruction& i) {
  if (i.dst.kind == OperandKind::kNone) return 0;
  return std::max(dwords_of(row_of(i.op).dst), 1u);
}

std::optional<Scales> scales_of(const Instruction& i) {
  constexpr unsigned kScaledSize = 16;
  if (i.size != kScaledSize || !row_of(i.op).has(kSelectsTypes)) return std::nullopt;
  return unpack_scales(i.offset);
}

bool has_modifier(const Instruction& i) {
  if (i.has_sdwa || i.has_dpp || i.neg || i.abs || i.op_sel || i.omod || i.clamp) return true;
  if (i.format != Format::kVop3p) return false;
  const Row& row = row_of(i.op);
  for (unsigned s = 0; s < 3; ++s) {
    if (row.src[s] != Type::kNone && !((i.op_sel_hi >> s) & 1)) return true;
  }
  return false;
}

const char* register_needs(const Target& target, const Instruction& i, uint32_t& needs) {
  unsigned vgprs = 0, sgprs = 0, agprs = 0;
  const char* problem = nullptr;
  const auto add = [&](const Operand& operand, unsigned dwords) {
    const unsigned end = operand.index + dwords;
    if (operand.kind == OperandKind::kVector || operand.kind == OperandKind::kAcc) {
      if (end > 256) problem = "has an operand that runs past the end of its register file";
      // LLVM's FeatureRequiresAlignedVGPRs; and its validateVGPRAlign has the exception.
      if (target.aligned_vgpr_pairs && dwords > 1 && operand.index % 2 != 0 &&
          i.op != Op::ds_read_b96_tr_b6)
        problem =
            "has an operand of several VGPRs that starts at an odd one, which this processor "
            "forbids";
      unsigned& file = operand.kind == OperandKind::kVector ? vgprs : agprs;
      file = std::max(file, end);
    } else if (operand.kind == OperandKind::kScalar) {
      if (end > scalar::kCount)
        problem = "has an operand that runs past the end of its register file";
      // What lies above the SGPRs (VCC, M0, EXEC, …) every wave has.
      if (operand.index < scalar::kFlatScratch)
        sgprs = std::max(sgprs, std::min<unsigned>(end, scalar::kFlatScratch));
    }
  };
  // TFE's status goes to the VGPR behind the data (Vega ISA, chapter 13, MUBUF).
  add(i.dst, result_dwords(i) + i.tfe);
  add(i.sdst, i.sdst.kind == OperandKind::kNone ? 0 : dwords_of(Type::kMask));
  for (unsigned s = 0; s < 3; ++s) add(i.src[s], source_dwords(i, s));
  if (const auto scales = scales_of(i)) {
    for (const unsigned vgpr : scales->vgpr)
      add({OperandKind::kVector, static_cast<uint16_t>(vgpr), 0}, 1);
  }
  needs = pack_registers(vgprs, sgprs, agprs);
  return problem;
}

}  // namespace halyard::vgpu::isa
