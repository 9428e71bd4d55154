#include "vgpu/isa/encoding.h"

#include <algorithm>

#include "vgpu/isa/field_reading.h"
#include "vgpu/isa/lds_direct.h"
#include "vgpu/isa/source_codes.h"

namespace halyard::vgpu::isa {
namespace {

// Decodes one instruction's fields; `problem` collects what went wrong.
struct FieldReader {
  const Target& target;
  const Row& row;
  const uint32_t* words;
  Instruction& out;
  const char* problem = nullptr;
  bool has_literal = false;

  // A 9-bit source field; 8-bit scalar fields use the lower half of the same table.
  Operand source(unsigned value, Type type) {
    return decode_source(value, type, has_literal ? &words[1] : nullptr, problem);
  }

  // Needs `literal_dword`'s words: the literal is the second dword of every format that has one.
  void take_literal(bool present) {
    if (!present) return;
    has_literal = true;
  }

  void sop1() {
    if (row.dst != Type::kNone) out.dst = scalar_register(field(words[0], 16, 7));
    if (row.src[0] == Type::kNone) return;
    take_literal(field(words[0], 0, 8) == code::kLiteral);
    out.src[0] = source(field(words[0], 0, 8), row.src[0]);
  }

  void sop2() {
    take_literal(field(words[0], 0, 8) == code::kLiteral ||
                 field(words[0], 8, 8) == code::kLiteral);
    out.dst = scalar_register(field(words[0], 16, 7));
    out.src[0] = source(field(words[0], 0, 8), row.src[0]);
    out.src[1] = source(field(words[0], 8, 8), row.src[1]);
    if (row.dst == Type::kNone) out.dst = {};
  }

  void sopc() {
    // s_set_gpr_idx_on has four bare bits in SSRC1.
    const bool bare = row.src[1] == Type::kNone;
    take_literal(field(words[0], 0, 8) == code::kLiteral ||
                 (!bare && field(words[0], 8, 8) == code::kLiteral));
    out.src[0] = source(field(words[0], 0, 8), row.src[0]);
    out.src[1] = bare ? constant(field(words[0], 8, 8)) : source(field(words[0], 8, 8), row.src[1]);
  }

  void sopk() {
    out.offset = static_cast<int16_t>(field(words[0], 0, 16));
    const Operand immediate = constant(static_cast<uint32_t>(out.offset));
    const Operand reg = scalar_register(field(words[0], 16, 7));
    take_literal(row.has(kLiteralK));  // s_setreg_imm32_b32
    if (row.dst != Type::kNone) {
      out.dst = reg;
      out.src[0] = immediate;
    } else {
      // The register is read: s_cmpk_*, s_setreg_b32, s_cbranch_i_fork.
      out.src[0] = has_literal ? constant(words[1]) : reg;
      out.src[1] = immediate;
    }
  }

  void sopp() { out.offset = static_cast<int16_t>(field(words[0], 0, 16)); }

  void smem() {
    const uint32_t w0 = words[0], w1 = words[1];
    const bool soffset_enable = field(w0, 14, 1), immediate = field(w0, 17, 1);
    out.glc = field(w0, 16, 1);
    out.dst = scalar_register(field(w0, 6, 7));
    out.src[0] = scalar_register(field(w0, 0, 6) * 2);
    if (immediate) out.offset = static_cast<int32_t>(w1 << 11) >> 11;
    if (soffset_enable) {
      out.src[1] = scalar_register(field(w1, 25, 7));
    } else if (!immediate) {
      out.src[1] = scalar_register(field(w1, 0, 7));
    }
    if (row.dst == Type::kNone) out.dst = {};
    if (row.src[0] == Type::kNone) {
      out.src[0] = {};
      out.src[1] = {};
    }
  }

  // The dword behind VOP1, VOP2 and VOPC with SRC0 = 249 (Vega ISA 13.3.7).
  void sdwa(bool compare) {
    const uint32_t w = words[1];
    out.has_sdwa = true;
    if (compare) {
      out.sdst = scalar_register(field(w, 15, 1) ? field(w, 8, 7) : unsigned{scalar::kVcc});
    } else {
      out.extra->sdwa.dst_sel = static_cast<SubDword>(std::min(field(w, 8, 3), 6u));
      out.extra->sdwa.dst_unused = static_cast<DstUnused>(std::min(field(w, 11, 2), 2u));
      out.clamp = field(w, 13, 1);
      out.omod = static_cast<uint8_t>(field(w, 14, 2));
    }
    for (unsigned i = 0; i < 2; ++i) {
      out.extra->sdwa.src_sel[i] = static_cast<SubDword>(std::min(field(w, 16 + 8 * i, 3), 6u));
      out.extra->sdwa.sext[i] = field(w, 19 + 8 * i, 1);
      out.neg |= static_cast<uint8_t>(field(w, 20 + 8 * i, 1) << i);
      out.abs |= static_cast<uint8_t>(field(w, 21 + 8 * i, 1) << i);
    }
    const unsigned src0 = field(w, 0, 8);
    out.src[0] = source(field(w, 23, 1) ? src0 : src0 + code::kVgpr0, row.src[0]);
    if (row.src[1] != Type::kNone) {
      const unsigned src1 = field(words[0], 9, 8);
      out.src[1] = source(field(w, 31, 1) ? src1 : src1 + code::kVgpr0, row.src[1]);
    }
  }

  // The dword behind VOP1 and VOP2 with SRC0 = 250 (Vega ISA 13.3.8).
  void dpp() {
    const uint32_t w = words[1];
    out.has_dpp = true;
    out.extra->dpp.control = static_cast<uint16_t>(field(w, 8, 9));
    out.extra->dpp.bound_ctrl = field(w, 19, 1);
    out.neg = static_cast<uint8_t>(field(w, 20, 1) | field(w, 22, 1) << 1);
    out.abs = static_cast<uint8_t>(field(w, 21, 1) | field(w, 23, 1) << 1);
    out.extra->dpp.bank_mask = static_cast<uint8_t>(field(w, 24, 4));
    out.extra->dpp.row_mask = static_cast<uint8_t>(field(w, 28, 4));
    out.src[0] = vector(field(w, 0, 8));
  }

  // SRC0 of the 32-bit vector formats, with what may follow it.
  void vector_source0(bool compare) {
    const unsigned src0 = field(words[0], 0, 9);
    if (src0 == code::kSdwa) return sdwa(compare);
    if (src0 == code::kDpp) return dpp();
    take_literal(src0 == code::kLiteral);
    out.src[0] = source(src0, row.src[0]);
  }

  // VCC is the lane mask where no field names one.
  void implied_vcc() {
    const Operand vcc = scalar_register(scalar::kVcc);
    if (row.has(kMaskResult)) out.sdst = vcc;
    if (row.src[2] == Type::kMask) out.src[2] = vcc;
  }

  void vop1() {
    out.dst = vector(field(words[0], 17, 8));
    vector_source0(false);
    if (row.has(kScalarResult)) out.dst = scalar_register(field(words[0], 17, 8) & 127);
    if (row.has(kAccResult)) out.dst.kind = OperandKind::kAcc;
    if (row.has(kAccSource) && out.src[0].kind == OperandKind::kVector)
      out.src[0].kind = OperandKind::kAcc;
    if (out.dst.kind == OperandKind::kScalar && field(words[0], 17, 8) > code::kSgprLast)
      problem = "has a destination that is no register";
    if (row.dst == Type::kNone) out.dst = {};
    if (row.src[0] == Type::kNone) out.src[0] = {};
  }

  void vop2() {
    out.dst = vector(field(words[0], 17, 8));
    out.src[1] = vector(field(words[0], 9, 8));
    if (row.has(kLiteralK)) {
      take_literal(true);
      out.src[0] = source(field(words[0], 0, 9), row.src[0]);
      out.src[2] = constant(literal_constant(words[1], row.src[2]));
      return;
    }
    vector_source0(false);
    implied_vcc();
  }

  void vopc() {
    out.sdst = scalar_register(scalar::kVcc);
    out.src[1] = vector(field(words[0], 9, 8));
    vector_source0(true);
  }

  void vop3() {
    const uint32_t w0 = words[0], w1 = words[1];
    const bool compare = row.dst == Type::kMask;
    const bool has_sdst = row.has(kMaskResult) && !compare;
    const unsigned vdst = field(w0, 0, 8);
    out.clamp = field(w0, 15, 1);
    out.omod = static_cast<uint8_t>(field(w1, 27, 2));
    out.neg = static_cast<uint8_t>(field(w1, 29, 3));
    if (compare) {
      out.sdst = scalar_register(vdst & 127);
    } else {
      out.dst = vector(vdst);
    }
    if (has_sdst) {
      out.sdst = scalar_register(field(w0, 8, 7));
    } else {
      out.abs = static_cast<uint8_t>(field(w0, 8, 3));
      out.op_sel = static_cast<uint8_t>(field(w0, 11, 4));
    }
    if (row.has(kScalarResult)) out.dst = scalar_register(vdst & 127);
    for (unsigned i = 0; i < 3; ++i) {
      if (row.src[i] != Type::kNone) out.src[i] = source(field(w1, 9 * i, 9), row.src[i]);
    }
    if (row.dst == Type::kNone) out.dst = {};
    if ((compare || out.dst.kind == OperandKind::kScalar) && vdst > code::kSgprLast)
      problem = "has a destination that is no register";
  }

  void vop3p() {
    const uint32_t w0 = words[0], w1 = words[1];
    out.dst = vector(field(w0, 0, 8));
    out.op_sel_hi = static_cast<uint8_t>(field(w1, 27, 2) | field(w0, 14, 1) << 2);
    for (unsigned i = 0; i < 3; ++i) {
      const bool is_f16 = row.has(kMixesTypes) && (out.op_sel_hi >> i & 1) != 0;
      const Type type = is_f16 ? Type::kF16 : row.src[i];
      if (row.src[i] != Type::kNone) out.src[i] = source(field(w1, 9 * i, 9), type);
    }
    if (row.has(kMatrix)) return matrix();
    if (row.has(kAccResult)) out.dst.kind = OperandKind::kAcc;
    if (row.has(kAccSource) && out.src[0].kind != OperandKind::kLdsDirect)
      out.src[0].kind = OperandKind::kAcc;
    if (row.has(kAccSource) || row.has(kAccResult)) {
      out.op_sel_hi = 0;
      return;
    }
    out.abs = static_cast<uint8_t>(field(w0, 8, 3));
    out.op_sel = static_cast<uint8_t>(field(w0, 11, 3));
    out.clamp = field(w0, 15, 1);
    out.neg = static_cast<uint8_t>(field(w1, 29, 3));
    join_halves(out);
    negated_integers();
  }

  // What NEG makes of an integer is not documented (docs/virtual-gpu.md, "Open readings").
  void negated_integers() {
    for (unsigned i = 0; i < 3; ++i) {
      const Type type = row.src[i];
      const bool integer = type == Type::kB16 || type == Type::kB32 || type == Type::kPkB16;
      if (integer && ((out.neg | out.abs) >> i & 1) != 0)
        problem = "negates an integer (NEG_LO or NEG_HI), which is defined for floats only";
    }
  }

  // VOP3P-MAI (MI100 ISA): CBSZ, ABID and BLGP take the places of the modifiers; ACC bits say which
  // of the operands are AGPRs.
  void matrix() {
    const uint32_t w0 = words[0], w1 = words[1];
    if (!target.matrix_acc_cd_bit || field(w0, 15, 1)) out.dst.kind = OperandKind::kAcc;
    for (unsigned i = 0; i < 2; ++i) {
      if (out.src[i].kind == OperandKind::kVector && field(w1, 27 + i, 1))
        out.src[i].kind = OperandKind::kAcc;
    }
    // C is where D is. The indices of a sparse A are always in a VGPR.
    if (out.src[2].kind == OperandKind::kVector && !row.has(kSparse))
      out.src[2].kind = out.dst.kind;
    out.op_sel_hi = 0;
    out.abs = static_cast<uint8_t>(field(w0, 8, 3));      // CBSZ
    out.op_sel = static_cast<uint8_t>(field(w0, 11, 4));  // ABID
    out.neg = static_cast<uint8_t>(field(w1, 29, 3));     // BLGP
    matrix_modifiers();
  }

  // The combinations of the matrix instruction calculator. The others' effects are not documented.
  void matrix_modifiers() {
    const auto is_register = [](const Operand& operand) {
      return operand.kind == OperandKind::kVector || operand.kind == OperandKind::kAcc;
    };
    if (!is_register(out.src[0]) || !is_register(out.src[1]))
      problem = "needs VGPRs or AGPRs as A and B";
    if (!is_register(out.src[2]) && out.src[2].kind != OperandKind::kConstant)
      problem = "needs VGPRs, AGPRs or an inline constant as C";
    if (row.has(kSparse)) return sparse_modifiers();
    if (row.has(kSelectsTypes)) {
      constexpr unsigned kTypes = 5;  // fp8, bf8, fp6, bf6, fp4
      if (out.abs >= kTypes) problem = "has a CBSZ that names no type";
      if (out.neg >= kTypes) problem = "has a BLGP that names no type";
      // ABID says that scales are in the instruction before, which is then part of this one.
      const bool is_scaled = out.size == 16;
      if (out.op_sel != (is_scaled ? 1 : 0)) problem = "has an ABID that does not fit its scales";
      out.op_sel = 0;
      return;
    }
    if (row.has(kNoPermutes)) {
      if (out.abs | out.op_sel | out.neg)
        problem = "has CBSZ, ABID or BLGP, which it does not have";
      return;
    }
    const bool is_f64 = row.src[0] == Type::kF64;
    if (1u << out.abs > (is_f64 ? 1u : row.matrix.blocks))
      problem = is_f64 ? "has a CBSZ, which matrix instructions of f64 do not have"
                       : "has a CBSZ that is larger than its number of blocks";
    if (out.op_sel >= 1u << out.abs) problem = "has an ABID that CBSZ does not allow";
    if (out.neg && is_f64 && !target.matrix_f64_negates)
      problem = "has BLGP, which matrix instructions of f64 do not have";
    const bool is_one_of_halves = row.matrix.blocks == 1 && row.src[0] == Type::kB64;
    if (out.neg && is_one_of_halves && !target.matrix_halves_permute)
      problem = "has BLGP, which this processor has for several blocks of f16 and bf16 only";
  }

  // With CBSZ 0, ABID chooses one of the sets of indices that fit in src[2]; otherwise it is set 0.
  void sparse_modifiers() {
    constexpr unsigned kIndexBits = 2;
    const unsigned elements = row.matrix.m * row.matrix.k / 2 / kLanes;  // of A, in a lane
    const unsigned sets = 32 / (kIndexBits * elements);
    if (out.src[2].kind != OperandKind::kVector) problem = "needs a VGPR with the indices of A";
    if (out.abs >= 4) problem = "has a CBSZ that is larger than 3";
    if (out.op_sel >= sets) problem = "has an ABID that names no set of indices";
    if (out.neg) problem = "has BLGP, which sparse matrix instructions do not have";
  }

  void use_accumulators(bool acc, bool data) {
    if (!acc || !target.memory_acc_bit) return;
    if (out.dst.kind == OperandKind::kVector) out.dst.kind = OperandKind::kAcc;
    for (unsigned i = 1; data && i < 3; ++i) {
      if (out.src[i].kind == OperandKind::kVector) out.src[i].kind = OperandKind::kAcc;
    }
  }

  void ds() {
    const uint32_t w0 = words[0], w1 = words[1];
    out.offset = static_cast<int32_t>(field(w0, 0, 16));
    out.gds = field(w0, 16, 1);
    if (row.dst != Type::kNone) out.dst = vector(field(w1, 24, 8));
    if (row.src[0] != Type::kNone) out.src[0] = vector(field(w1, 0, 8));
    if (row.src[1] != Type::kNone) out.src[1] = vector(field(w1, 8, 8));
    if (row.src[2] != Type::kNone) out.src[2] = vector(field(w1, 16, 8));
    use_accumulators(field(w0, 25, 1), true);
  }

  void flat() {
    const uint32_t w0 = words[0], w1 = words[1];
    // Bit 13 is LDS, or SVE: scratch with scope bits says by it whether it has a VADDR.
    const bool bit13 = field(w0, 13, 1);
    out.lds = bit13 && !target.scope_bits;
    out.segment = static_cast<uint8_t>(field(w0, 14, 2));
    out.glc = field(w0, 16, 1);
    out.slc = field(w0, 17, 1);
    // 13 bits signed for global and scratch, 12 bits unsigned for flat.
    out.offset = out.segment == 0 ? static_cast<int32_t>(field(w0, 0, 12))
                                  : static_cast<int32_t>(w0 << 19) >> 19;
    const unsigned saddr = field(w1, 16, 7);
    if (out.segment != 0 && saddr != 0x7f) out.src[2] = scalar_register(saddr);
    const bool has_vaddr = out.segment != 1 || (target.scope_bits ? bit13 : saddr == 0x7f);
    if (has_vaddr) out.src[0] = vector(field(w1, 0, 8));
    if (target.scope_bits) out.sc1 = field(w0, 25, 1);
    if (row.src[1] != Type::kNone) out.src[1] = vector(field(w1, 8, 8));
    // Loads always return; atomics (which have data too) only with GLC.
    if (row.dst != Type::kNone && !out.lds && !row.has(kToLds) &&
        (row.src[1] == Type::kNone || out.glc))
      out.dst = vector(field(w1, 24, 8));
    use_accumulators(field(w1, 23, 1), true);
    if (out.segment == 3) problem = "has a segment that this processor does not have (3)";
    if (out.lds && !row.has(kMayLoadToLds))
      problem = "has the LDS bit, which only global and scratch loads of up to a dword have";
  }

  void buffer() {
    const uint32_t w0 = words[0], w1 = words[1];
    const bool typed = out.format == Format::kMtbuf;
    out.offset = static_cast<int32_t>(field(w0, 0, 12));
    out.offen = field(w0, 12, 1);
    out.idxen = field(w0, 13, 1);
    out.glc = field(w0, 14, 1);
    if (target.scope_bits) out.sc1 = field(w0, 15, 1);
    if (typed) {
      out.extra->dfmt = static_cast<uint8_t>(field(w0, 19, 4));
      out.extra->nfmt = static_cast<uint8_t>(field(w0, 23, 3));
      out.slc = field(w1, 22, 1);
    } else {
      out.lds = field(w0, 16, 1);
      out.slc = field(w0, 17, 1);
    }
    if (row.dst == Type::kNone && row.src[1] == Type::kNone) return;  // buffer_wbinvl1
    out.tfe = target.buffer_tfe && field(w1, 23, 1);
    if (!out.lds) out.dst = vector(field(w1, 8, 8));
    if (out.offen || out.idxen) out.src[0] = vector(field(w1, 0, 8));
    out.src[1] = scalar_register(field(w1, 16, 5) * 4);
    out.src[2] = source(field(w1, 24, 8), Type::kB32);
    use_accumulators(field(w1, 23, 1), false);
    if (out.tfe && out.lds) problem = "has both the TFE and the LDS bit, which exclude each other";
  }
};

}  // namespace

// The hardware ignores the low bits of the number of a run of SGPRs, as LLVM does. M0 is alone, and
// no run goes past it.
const char* align_scalars(const Target& target, Instruction& out) {
  const char* problem = nullptr;
  const unsigned first_special = target.first_special_scalar;
  const auto align = [&](auto& operand, unsigned dwords) {
    if (operand.kind != OperandKind::kScalar || dwords < 2) return;
    if (target.has_null_scalar && operand.index == scalar::kNull) return;
    // Among the special registers a pair begins at an even number.
    if (operand.index >= first_special && operand.index % 2 != 0)
      problem = "has an operand of several SGPRs that begins at an odd one";
    operand.index &= static_cast<uint16_t>(dwords == 2 ? ~1u : ~3u);
    const unsigned end = operand.index + dwords;
    // Four and more lie among the SGPRs or among the TTMPs.
    if (dwords >= 4 && end > first_special && operand.index < scalar::kTtmp0)
      problem = "has an operand of several SGPRs that runs over VCC";
    if (operand.index < scalar::kExec && end > scalar::kM0)
      problem = "has an operand of several SGPRs that runs over M0";
  };
  align(out.dst, result_dwords(out));
  const unsigned mask_dwords = target.wave_size / 32;
  align(out.sdst, mask_dwords);
  for (unsigned s = 0; s < 3; ++s) {
    const bool is_mask = row_of(out.op).src[s] == Type::kMask;
    align(out.src[s], is_mask ? mask_dwords : source_dwords(out, s));
  }
  return problem;
}

const char* decode_fields(const Target& target, const uint32_t words[], Instruction& instruction) {
  FieldReader reader{target, row_of(instruction.op), words, instruction};
  if (!read_fields(reader, instruction.format))
    return "belongs to the graphics pipeline, which the virtual GPU does not have";
  if (!reader.problem) reader.problem = align_scalars(target, instruction);
  if (reader.problem) return reader.problem;
  return lds_direct_problem(target, instruction);
}

}  // namespace halyard::vgpu::isa
