// What an instruction touches of the register files, and whether its encoding carries modifiers.

#include <algorithm>

#include "vgpu/isa/encoding.h"

namespace halyard::vgpu::isa {
namespace {

unsigned source_dwords(Type type, OperandKind kind) {
  if (kind == OperandKind::kNone) return 0;
  return std::max(dwords_of(type), 1u);
}

}  // namespace

unsigned dwords_of(Type type) {
  switch (type) {
    case Type::kNone:
      return 0;
    case Type::kB16:
    case Type::kF16:
    case Type::kB32:
    case Type::kF32:
    case Type::kPkB16:
    case Type::kPkF16:
    case Type::kBF16:
    case Type::kPkBF16:
      return 1;
    case Type::kB64:
    case Type::kI64:
    case Type::kF64:
    case Type::kPkF32:
    case Type::kMask:
      return 2;
    case Type::kB96:
      return 3;
    case Type::kB128:
      return 4;
    case Type::kB192:
      return 6;
    case Type::kB256:
    case Type::kF64x4:
      return 8;
    case Type::kB512:
      return 16;
    case Type::kB1024:
      return 32;
  }
  return 0;
}

bool has_modifier(const Instruction& i) {
  if (i.sdwa.enabled || i.dpp.enabled || i.neg || i.abs || i.op_sel || i.omod || i.clamp)
    return true;
  if (i.format != Format::kVop3p || !i.opcode) return false;
  for (unsigned s = 0; s < 3; ++s) {
    if (i.opcode->src[s] != Type::kNone && !((i.op_sel_hi >> s) & 1)) return true;
  }
  return false;
}

const char* register_needs(const Target& target, const Instruction& i, uint64_t& needs) {
  unsigned vgprs = 0, sgprs = 0, agprs = 0;
  const char* problem = nullptr;
  const auto add = [&](const Operand& operand, unsigned dwords) {
    const unsigned end = operand.index + dwords;
    if (operand.kind == OperandKind::kVector || operand.kind == OperandKind::kAcc) {
      if (end > 256) problem = "has an operand that runs past the end of its register file";
      // LLVM's FeatureRequiresAlignedVGPRs.
      if (target.aligned_vgpr_pairs && dwords > 1 && operand.index % 2 != 0)
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
  const Opcode& opcode = *i.opcode;
  add(i.dst, source_dwords(opcode.dst, i.dst.kind));
  add(i.sdst, source_dwords(Type::kMask, i.sdst.kind));
  switch (i.format) {
    case Format::kMubuf:
    case Format::kMtbuf:
      // TFE's status goes to the VGPR behind the data (Vega ISA, chapter 13, MUBUF).
      if (i.tfe) add(i.dst, source_dwords(opcode.dst, i.dst.kind) + 1);
      add(i.src[0], i.src[0].kind == OperandKind::kNone ? 0u : unsigned{i.offen} + i.idxen);
      add(i.src[1], i.src[1].kind == OperandKind::kNone ? 0u : 4u);
      add(i.src[2], 1);
      break;
    case Format::kFlat:
      add(i.src[0], i.segment == 1 || i.src[2].kind == OperandKind::kScalar ? 1u : 2u);
      add(i.src[1], source_dwords(opcode.src[1], i.src[1].kind));
      add(i.src[2], i.segment == 1 ? 1u : 2u);
      break;
    case Format::kSmem:
      add(i.src[0], source_dwords(opcode.src[0], i.src[0].kind));
      add(i.src[1], 1);
      break;
    default:
      for (unsigned s = 0; s < 3; ++s) add(i.src[s], source_dwords(opcode.src[s], i.src[s].kind));
      break;
  }
  needs = uint64_t{agprs} << 32 | uint64_t{sgprs} << 16 | vgprs;
  return problem;
}

}  // namespace halyard::vgpu::isa
