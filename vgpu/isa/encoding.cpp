#include "vgpu/isa/encoding.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "vgpu/isa/lds_direct.h"
#include "vgpu/isa/source_codes.h"

namespace halyard::vgpu::isa {
namespace {

// Decodes one instruction's fields; `problem` collects what went wrong.
struct FieldReader {
  const Target& target;
  const Opcode& opcode;
  const uint32_t* words;
  unsigned size;
  Instruction& out;
  const char* problem = nullptr;

  // A 9-bit source field; 8-bit scalar fields use the lower half of the same table.
  Operand source(unsigned value, Type type) {
    return decode_source(value, type, out.has_literal ? &out.literal : nullptr, problem);
  }

  // Needs `literal_dword`'s words: the literal is the second dword of every format that has one.
  void take_literal(bool present) {
    if (!present) return;
    out.has_literal = true;
    out.literal = words[1];
  }

  void sop1() {
    take_literal(field(words[0], 0, 8) == code::kLiteral);
    out.dst = scalar_register(field(words[0], 16, 7));
    out.src[0] = source(field(words[0], 0, 8), opcode.src[0]);
    if (opcode.dst == Type::kNone) out.dst = {};
    if (opcode.src[0] == Type::kNone) out.src[0] = {};
  }

  void sop2() {
    take_literal(field(words[0], 0, 8) == code::kLiteral ||
                 field(words[0], 8, 8) == code::kLiteral);
    out.dst = scalar_register(field(words[0], 16, 7));
    out.src[0] = source(field(words[0], 0, 8), opcode.src[0]);
    out.src[1] = source(field(words[0], 8, 8), opcode.src[1]);
    if (opcode.dst == Type::kNone) out.dst = {};
  }

  void sopc() {
    // s_set_gpr_idx_on has four bare bits in SSRC1.
    const bool bare = opcode.src[1] == Type::kNone;
    take_literal(field(words[0], 0, 8) == code::kLiteral ||
                 (!bare && field(words[0], 8, 8) == code::kLiteral));
    out.src[0] = source(field(words[0], 0, 8), opcode.src[0]);
    out.src[1] =
        bare ? constant(field(words[0], 8, 8)) : source(field(words[0], 8, 8), opcode.src[1]);
  }

  void sopk() {
    out.offset = static_cast<int16_t>(field(words[0], 0, 16));
    const Operand immediate = constant(static_cast<uint32_t>(out.offset));
    const Operand reg = scalar_register(field(words[0], 16, 7));
    if (size == 8) take_literal(true);  // s_setreg_imm32_b32
    if (opcode.dst != Type::kNone) {
      out.dst = reg;
      out.src[0] = immediate;
    } else {
      // The register is read: s_cmpk_*, s_setreg_b32, s_cbranch_i_fork.
      out.src[0] = out.has_literal ? constant(out.literal) : reg;
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
    out.data_dwords = static_cast<uint8_t>(dwords_of(opcode.dst));
    if (opcode.dst == Type::kNone) out.dst = {};
    if (opcode.src[0] == Type::kNone) {
      out.src[0] = {};
      out.src[1] = {};
    }
  }

  // The dword behind VOP1, VOP2 and VOPC with SRC0 = 249 (Vega ISA 13.3.7).
  void sdwa(bool compare) {
    const uint32_t w = words[1];
    out.sdwa.enabled = true;
    if (compare) {
      out.sdst = scalar_register(field(w, 15, 1) ? field(w, 8, 7) : unsigned{scalar::kVcc});
    } else {
      out.sdwa.dst_sel = static_cast<SubDword>(std::min(field(w, 8, 3), 6u));
      out.sdwa.dst_unused = static_cast<DstUnused>(std::min(field(w, 11, 2), 2u));
      out.clamp = field(w, 13, 1);
      out.omod = static_cast<uint8_t>(field(w, 14, 2));
    }
    for (unsigned i = 0; i < 2; ++i) {
      out.sdwa.src_sel[i] = static_cast<SubDword>(std::min(field(w, 16 + 8 * i, 3), 6u));
      out.sdwa.sext[i] = field(w, 19 + 8 * i, 1);
      out.neg |= static_cast<uint8_t>(field(w, 20 + 8 * i, 1) << i);
      out.abs |= static_cast<uint8_t>(field(w, 21 + 8 * i, 1) << i);
    }
    const unsigned src0 = field(w, 0, 8);
    out.src[0] = source(field(w, 23, 1) ? src0 : src0 + code::kVgpr0, opcode.src[0]);
    if (opcode.src[1] != Type::kNone) {
      const unsigned src1 = field(words[0], 9, 8);
      out.src[1] = source(field(w, 31, 1) ? src1 : src1 + code::kVgpr0, opcode.src[1]);
    }
  }

  // The dword behind VOP1 and VOP2 with SRC0 = 250 (Vega ISA 13.3.8).
  void dpp() {
    const uint32_t w = words[1];
    out.dpp.enabled = true;
    out.dpp.control = static_cast<uint16_t>(field(w, 8, 9));
    out.dpp.bound_ctrl = field(w, 19, 1);
    out.neg = static_cast<uint8_t>(field(w, 20, 1) | field(w, 22, 1) << 1);
    out.abs = static_cast<uint8_t>(field(w, 21, 1) | field(w, 23, 1) << 1);
    out.dpp.bank_mask = static_cast<uint8_t>(field(w, 24, 4));
    out.dpp.row_mask = static_cast<uint8_t>(field(w, 28, 4));
    out.src[0] = vector(field(w, 0, 8));
  }

  // SRC0 of the 32-bit vector formats, with what may follow it.
  void vector_source0(bool compare) {
    const unsigned src0 = field(words[0], 0, 9);
    if (src0 == code::kSdwa) return sdwa(compare);
    if (src0 == code::kDpp) return dpp();
    take_literal(src0 == code::kLiteral);
    out.src[0] = source(src0, opcode.src[0]);
  }

  // The lane mask that v_cndmask_b32 and the carry ops read or write where no field names one.
  void implied_vcc() {
    const std::string_view name = opcode.mnemonic;
    const Operand vcc = scalar_register(scalar::kVcc);
    if (name == "v_cndmask_b32") out.src[2] = vcc;
    if (name.find("_co_") != name.npos) out.sdst = vcc;
    if (name.starts_with("v_addc_") || name.starts_with("v_subb_") ||
        name.starts_with("v_subbrev_")) {
      out.src[2] = vcc;
    }
  }

  void vop1() {
    out.dst = vector(field(words[0], 17, 8));
    vector_source0(false);
    const std::string_view name = opcode.mnemonic;
    if (name == "v_readfirstlane_b32") out.dst = scalar_register(field(words[0], 17, 8) & 127);
    if (name == "v_accvgpr_mov_b32") {
      out.dst.kind = OperandKind::kAcc;
      if (out.src[0].kind == OperandKind::kVector) out.src[0].kind = OperandKind::kAcc;
    }
    if (out.dst.kind == OperandKind::kScalar && field(words[0], 17, 8) > code::kSgprLast)
      problem = "has a destination that is no register";
    if (opcode.dst == Type::kNone) out.dst = {};
    if (opcode.src[0] == Type::kNone) out.src[0] = {};
  }

  void vop2() {
    const std::string_view name = opcode.mnemonic;
    out.dst = vector(field(words[0], 17, 8));
    out.src[1] = vector(field(words[0], 9, 8));
    if (name.starts_with("v_madmk_") || name.starts_with("v_madak_") ||
        name.starts_with("v_fmamk_") || name.starts_with("v_fmaak_")) {
      take_literal(true);
      out.src[0] = source(field(words[0], 0, 9), opcode.src[0]);
      out.src[2] = constant(literal_constant(out.literal, opcode.src[2]));
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
    const std::string_view name = opcode.mnemonic;
    const unsigned op = field(w0, 16, 10);
    const bool compare = op < 0x100;
    const bool has_sdst = name.find("_co_") != name.npos || name.starts_with("v_div_scale_") ||
                          name == "v_mad_u64_u32" || name == "v_mad_i64_i32";
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
    if (name == "v_readlane_b32" || name == "v_readfirstlane_b32")
      out.dst = scalar_register(vdst & 127);
    for (unsigned i = 0; i < 3; ++i) {
      if (opcode.src[i] != Type::kNone) out.src[i] = source(field(w1, 9 * i, 9), opcode.src[i]);
    }
    if (opcode.dst == Type::kNone) out.dst = {};
    if ((compare || out.dst.kind == OperandKind::kScalar) && vdst > code::kSgprLast)
      problem = "has a destination that is no register";
  }

  void vop3p() {
    const uint32_t w0 = words[0], w1 = words[1];
    out.dst = vector(field(w0, 0, 8));
    for (unsigned i = 0; i < 3; ++i) {
      if (opcode.src[i] != Type::kNone) out.src[i] = source(field(w1, 9 * i, 9), opcode.src[i]);
    }
    if (target.accumulators && field(w0, 16, 7) >= 0x40) {
      // VOP3P-MAI (MI100 ISA): cbsz, abid and blgp take the places of the modifiers; ACC bits say
      // which of the operands are AGPRs.
      const std::string_view name = opcode.mnemonic;
      const bool write = name == "v_accvgpr_write_b32" || name == "v_accvgpr_write";
      const bool read = name == "v_accvgpr_read_b32" || name == "v_accvgpr_read";
      if (!read && (write || !target.matrix_acc_cd_bit || field(w0, 15, 1)))
        out.dst.kind = OperandKind::kAcc;
      if (read && out.src[0].kind != OperandKind::kLdsDirect) out.src[0].kind = OperandKind::kAcc;
      if (!read && !write) {
        for (unsigned i = 0; i < 2; ++i) {
          if (out.src[i].kind == OperandKind::kVector && field(w1, 27 + i, 1))
            out.src[i].kind = OperandKind::kAcc;
        }
        if (out.src[2].kind == OperandKind::kVector) out.src[2].kind = out.dst.kind;
        out.abs = static_cast<uint8_t>(field(w0, 8, 3));      // CBSZ
        out.op_sel = static_cast<uint8_t>(field(w0, 11, 4));  // ABID
        out.neg = static_cast<uint8_t>(field(w1, 29, 3));     // BLGP
        matrix_modifiers();
      }
      return;
    }
    out.abs = static_cast<uint8_t>(field(w0, 8, 3));
    out.op_sel = static_cast<uint8_t>(field(w0, 11, 3));
    out.op_sel_hi = static_cast<uint8_t>(field(w1, 27, 2) | field(w0, 14, 1) << 2);
    out.clamp = field(w0, 15, 1);
    out.neg = static_cast<uint8_t>(field(w1, 29, 3));
    join_halves(out);
    negated_integers();
  }

  // What NEG makes of an integer is not documented (docs/virtual-gpu.md, "Open readings").
  void negated_integers() {
    for (unsigned i = 0; i < 3; ++i) {
      const Type type = opcode.src[i];
      const bool integer = type == Type::kB16 || type == Type::kB32 || type == Type::kPkB16;
      if (integer && ((out.neg | out.abs) >> i & 1) != 0)
        problem = "negates an integer (NEG_LO or NEG_HI), which is defined for floats only";
    }
  }

  // The combinations of the matrix instruction calculator. The others' effects are not documented.
  void matrix_modifiers() {
    unsigned m, n, k;
    const std::string_view name = opcode.mnemonic;
    if (std::sscanf(opcode.mnemonic, "v_mfma_%*3c_%ux%ux%u", &m, &n, &k) != 3) return;
    const auto is_register = [](const Operand& operand) {
      return operand.kind == OperandKind::kVector || operand.kind == OperandKind::kAcc;
    };
    if (!is_register(out.src[0]) || !is_register(out.src[1]))
      problem = "needs VGPRs or AGPRs as A and B";
    if (!is_register(out.src[2]) && out.src[2].kind != OperandKind::kConstant)
      problem = "needs VGPRs, AGPRs or an inline constant as C";
    const unsigned elements = dwords_of(opcode.dst) / (name.starts_with("v_mfma_f64") ? 2 : 1);
    const unsigned blocks = elements * 64 / (m * n);
    if (1u << out.abs > blocks) problem = "has a CBSZ that is larger than its number of blocks";
    if (out.op_sel >= 1u << out.abs) problem = "has an ABID that CBSZ does not allow";
    if (out.neg && name.starts_with("v_mfma_f64"))
      problem = "has BLGP, which matrix instructions of f64 do not have";
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
    if (opcode.dst != Type::kNone) out.dst = vector(field(w1, 24, 8));
    if (opcode.src[0] != Type::kNone) out.src[0] = vector(field(w1, 0, 8));
    if (opcode.src[1] != Type::kNone) out.src[1] = vector(field(w1, 8, 8));
    if (opcode.src[2] != Type::kNone) out.src[2] = vector(field(w1, 16, 8));
    out.data_dwords =
        static_cast<uint8_t>(std::max(dwords_of(opcode.dst), dwords_of(opcode.src[1])));
    use_accumulators(field(w0, 25, 1), true);
  }

  void flat() {
    const uint32_t w0 = words[0], w1 = words[1];
    out.lds = field(w0, 13, 1);
    out.segment = static_cast<uint8_t>(field(w0, 14, 2));
    out.glc = field(w0, 16, 1);
    out.slc = field(w0, 17, 1);
    // 13 bits signed for global and scratch, 12 bits unsigned for flat.
    out.offset = out.segment == 0 ? static_cast<int32_t>(field(w0, 0, 12))
                                  : static_cast<int32_t>(w0 << 19) >> 19;
    const unsigned saddr = field(w1, 16, 7);
    if (out.segment != 0 && saddr != 0x7f) out.src[2] = scalar_register(saddr);
    if (!(out.segment == 1 && saddr != 0x7f)) out.src[0] = vector(field(w1, 0, 8));
    if (opcode.src[1] != Type::kNone) out.src[1] = vector(field(w1, 8, 8));
    // Loads always return; atomics (which have data too) only with GLC.
    if (opcode.dst != Type::kNone && !out.lds && (opcode.src[1] == Type::kNone || out.glc))
      out.dst = vector(field(w1, 24, 8));
    out.data_dwords =
        static_cast<uint8_t>(std::max(dwords_of(opcode.dst), dwords_of(opcode.src[1])));
    use_accumulators(field(w1, 23, 1), true);
    if (out.segment == 3) problem = "has a segment that this processor does not have (3)";
    const bool loads_a_dword = opcode.src[1] == Type::kNone && dwords_of(opcode.dst) == 1;
    if (out.lds && (out.segment == 0 || !loads_a_dword))
      problem = "has the LDS bit, which only global and scratch loads of up to a dword have";
  }

  void buffer() {
    const uint32_t w0 = words[0], w1 = words[1];
    const bool typed = out.format == Format::kMtbuf;
    out.offset = static_cast<int32_t>(field(w0, 0, 12));
    out.offen = field(w0, 12, 1);
    out.idxen = field(w0, 13, 1);
    out.glc = field(w0, 14, 1);
    if (typed) {
      out.dfmt = static_cast<uint8_t>(field(w0, 19, 4));
      out.nfmt = static_cast<uint8_t>(field(w0, 23, 3));
      out.slc = field(w1, 22, 1);
    } else {
      out.lds = field(w0, 16, 1);
      out.slc = field(w0, 17, 1);
    }
    if (opcode.dst == Type::kNone && opcode.src[1] == Type::kNone) return;  // buffer_wbinvl1
    out.tfe = target.buffer_tfe && field(w1, 23, 1);
    out.dst = vector(field(w1, 8, 8));
    if (out.offen || out.idxen) out.src[0] = vector(field(w1, 0, 8));
    out.src[1] = scalar_register(field(w1, 16, 5) * 4);
    out.src[2] = source(field(w1, 24, 8), Type::kB32);
    out.data_dwords = static_cast<uint8_t>(dwords_of(opcode.dst));
    use_accumulators(field(w1, 23, 1), false);
    if (out.tfe && out.lds) problem = "has both the TFE and the LDS bit, which exclude each other";
  }
};

}  // namespace

Format format_of(uint32_t word0) {
  if (!(word0 >> 31)) {
    if (field(word0, 25, 6) == 0x3f) return Format::kVop1;
    if (field(word0, 25, 6) == 0x3e) return Format::kVopc;
    return Format::kVop2;
  }
  if (word0 >> 30 == 2) {
    if (word0 >> 23 == 0x17d) return Format::kSop1;
    if (word0 >> 23 == 0x17e) return Format::kSopc;
    if (word0 >> 23 == 0x17f) return Format::kSopp;
    if (word0 >> 28 == 0xb) return Format::kSopk;
    return Format::kSop2;
  }
  switch (word0 >> 26) {
    case 0x30:
      return Format::kSmem;
    case 0x31:
      return Format::kExp;
    case 0x34:
      return word0 >> 23 == 0x1a7 ? Format::kVop3p : Format::kVop3;
    case 0x35:
      return Format::kVintrp;
    case 0x36:
      return Format::kDs;
    case 0x37:
      return Format::kFlat;
    case 0x38:
      return Format::kMubuf;
    case 0x3a:
      return Format::kMtbuf;
    default:
      return Format::kMimg;
  }
}

const char* decode_fields(const Target& target, const Opcode& opcode, const uint32_t words[2],
                          unsigned size, Instruction& instruction) {
  instruction.format = format_of(words[0]);
  FieldReader reader{target, opcode, words, size, instruction};
  switch (instruction.format) {
    case Format::kSop1:
      reader.sop1();
      break;
    case Format::kSop2:
      reader.sop2();
      break;
    case Format::kSopc:
      reader.sopc();
      break;
    case Format::kSopk:
      reader.sopk();
      break;
    case Format::kSopp:
      reader.sopp();
      break;
    case Format::kSmem:
      reader.smem();
      break;
    case Format::kVop1:
      reader.vop1();
      break;
    case Format::kVop2:
      reader.vop2();
      break;
    case Format::kVopc:
      reader.vopc();
      break;
    case Format::kVop3:
      reader.vop3();
      break;
    case Format::kVop3p:
      reader.vop3p();
      break;
    case Format::kDs:
      reader.ds();
      break;
    case Format::kFlat:
      reader.flat();
      break;
    case Format::kMubuf:
    case Format::kMtbuf:
      reader.buffer();
      break;
    case Format::kVintrp:
    case Format::kMimg:
    case Format::kExp:
      return "belongs to the graphics pipeline, which the virtual GPU does not have";
  }
  if (reader.problem) return reader.problem;
  return lds_direct_problem(target, opcode, instruction);
}

}  // namespace halyard::vgpu::isa
