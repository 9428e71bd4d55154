// The operand fields of gfx10 and later (RDNA 2, RDNA 3 and RDNA 4 ISA, "Microcode Formats").

#include <algorithm>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/field_reading.h"
#include "vgpu/isa/source_codes.h"

namespace halyard::vgpu::isa {
namespace {

bool is_16bit(Type type) {
  return type == Type::kB16 || type == Type::kF16 || type == Type::kBF16;
}

bool is_null(const Operand& operand) {
  return operand.kind == OperandKind::kScalar && operand.index == scalar::kNull;
}

// Decodes one instruction's fields; `problem` collects what went wrong.
struct RdnaReader {
  const Target& target;
  const Row& row;
  const uint32_t* words;
  Instruction& out;
  const Layout layout = layout_of(target.generation);
  const uint32_t* literal = nullptr;
  const char* problem = nullptr;

  // M0 and NULL have exchanged their numbers from gfx11 on.
  Operand scalar_of(unsigned number) const {
    const bool is_exchanged = number == scalar::kM0 || number == scalar::kNull;
    if (layout >= Layout::kGfx11 && is_exchanged) number = scalar::kM0 + scalar::kNull - number;
    return scalar_register(number);
  }

  Operand source(unsigned value, Type type) {
    if (value <= code::kSgprLast) return scalar_of(value);
    return decode_source(value, type, literal, problem);
  }

  // The type that the encoding gives source `i`.
  Type type_of(unsigned i) const {
    const bool is_last = i == 2 || row.src[i + 1] == Type::kNone;
    return row.has(kHalfLast) && is_last ? Type::kB16 : row.src[i];
  }

  // A VGPR of a 32-bit format. From gfx11 on the top bit of its number says which half has the 16
  // bits (RDNA 3 ISA, "16-bit Math and VGPRs").
  Operand short_vector(unsigned value, Type type, unsigned half_bit) {
    if (layout < Layout::kGfx11 || !is_16bit(type)) return vector(value);
    out.op_sel |= static_cast<uint8_t>((value >> 7 & 1) << half_bit);
    return vector(value & 127);
  }

  void sop1() {
    const unsigned src0 = field(words[0], 0, 8);
    if (row.dst != Type::kNone) out.dst = scalar_of(field(words[0], 16, 7));
    if (row.has(kMessage)) out.offset = static_cast<int32_t>(src0);
    if (row.src[0] == Type::kNone) return;
    if (src0 == code::kLiteral) literal = &words[1];
    out.src[0] = source(src0, row.src[0]);
  }

  void sop2() {
    const unsigned src0 = field(words[0], 0, 8), src1 = field(words[0], 8, 8);
    if (row.has(kLiteralK) || src0 == code::kLiteral || src1 == code::kLiteral) literal = &words[1];
    if (row.dst != Type::kNone) out.dst = scalar_of(field(words[0], 16, 7));
    out.src[0] = source(src0, row.src[0]);
    out.src[1] = source(src1, row.src[1]);
    if (row.has(kLiteralK)) out.src[2] = constant(literal_constant(words[1], row.src[2]));
  }

  void sopc() {
    const unsigned src0 = field(words[0], 0, 8), src1 = field(words[0], 8, 8);
    if (src0 == code::kLiteral || src1 == code::kLiteral) literal = &words[1];
    out.src[0] = source(src0, row.src[0]);
    out.src[1] = source(src1, row.src[1]);
  }

  void sopk() {
    out.offset = static_cast<int16_t>(field(words[0], 0, 16));
    const Operand immediate = constant(static_cast<uint32_t>(out.offset));
    const Operand reg = scalar_of(field(words[0], 16, 7));
    if (row.dst != Type::kNone) {
      out.dst = reg;
      out.src[0] = immediate;
    } else if (row.src[0] != Type::kNone) {
      out.src[0] = row.has(kLiteralK) ? constant(words[1]) : reg;
      out.src[1] = immediate;
    }
  }

  void sopp() { out.offset = static_cast<int16_t>(field(words[0], 0, 16)); }

  void smem() {
    const uint32_t w0 = words[0], w1 = words[1];
    if (row.dst != Type::kNone) out.dst = scalar_of(field(w0, 6, 7));
    if (layout == Layout::kGfx12) {
      out.extra->scope = static_cast<uint8_t>(field(w0, 21, 2));
      out.extra->temporal_hint = static_cast<uint8_t>(field(w0, 23, 2));
    } else {
      out.glc = field(w0, layout == Layout::kGfx10 ? 16 : 14, 1);
      out.extra->dlc = field(w0, layout == Layout::kGfx10 ? 14 : 13, 1);
    }
    // 24 bits with a sign, or 21.
    const unsigned unused = layout == Layout::kGfx12 ? 8 : 11;
    out.offset = static_cast<int32_t>(w1 << unused) >> unused;
    if (row.src[0] != Type::kNone) out.src[0] = scalar_register(field(w0, 0, 6) * 2);
    const Operand offset = scalar_of(field(w1, 25, 7));
    const bool has_offset = row.src[0] != Type::kNone || row.memory.access == Access::kProbe;
    if (has_offset && !is_null(offset)) out.src[1] = offset;
  }

  // The dword behind the others where SRC0 is one of DPP's codes.
  void dpp(uint32_t w, unsigned src0) {
    out.has_dpp = true;
    Dpp& d = out.extra->dpp;
    out.src[0] = vector(field(w, 0, 8));
    if (src0 != code::kDpp) {
      d.is_dpp8 = true;
      d.fetch_inactive = src0 == code::kDpp8Fi;
      d.selects = w >> 8;
      return;
    }
    d.control = static_cast<uint16_t>(field(w, 8, 9));
    d.fetch_inactive = field(w, 18, 1);
    d.bound_ctrl = field(w, 19, 1);
    d.bank_mask = static_cast<uint8_t>(field(w, 24, 4));
    d.row_mask = static_cast<uint8_t>(field(w, 28, 4));
    // The 64-bit formats have these in fields of their own.
    if (out.format == Format::kVop3 || out.format == Format::kVop3p) return;
    out.neg = static_cast<uint8_t>(field(w, 20, 1) | field(w, 22, 1) << 1);
    out.abs = static_cast<uint8_t>(field(w, 21, 1) | field(w, 23, 1) << 1);
  }

  // gfx10's, which is gfx9's.
  void sdwa(bool compare) {
    const uint32_t w = words[1];
    Sdwa& s = out.extra->sdwa;
    out.has_sdwa = true;
    if (compare) {
      out.sdst = scalar_of(field(w, 15, 1) ? field(w, 8, 7) : unsigned{scalar::kVcc});
    } else {
      s.dst_sel = static_cast<SubDword>(std::min(field(w, 8, 3), 6u));
      s.dst_unused = static_cast<DstUnused>(std::min(field(w, 11, 2), 2u));
      out.clamp = field(w, 13, 1);
      out.omod = static_cast<uint8_t>(field(w, 14, 2));
    }
    for (unsigned i = 0; i < 2; ++i) {
      s.src_sel[i] = static_cast<SubDword>(std::min(field(w, 16 + 8 * i, 3), 6u));
      s.sext[i] = field(w, 19 + 8 * i, 1);
      out.neg |= static_cast<uint8_t>(field(w, 20 + 8 * i, 1) << i);
      out.abs |= static_cast<uint8_t>(field(w, 21 + 8 * i, 1) << i);
    }
    const unsigned src0 = field(w, 0, 8), src1 = field(words[0], 9, 8);
    out.src[0] = source(field(w, 23, 1) ? src0 : src0 + code::kVgpr0, row.src[0]);
    if (row.src[1] != Type::kNone)
      out.src[1] = source(field(w, 31, 1) ? src1 : src1 + code::kVgpr0, row.src[1]);
  }

  // SRC0 of the 32-bit vector formats, with what may follow it.
  void short_source0(bool compare) {
    const unsigned src0 = field(words[0], 0, 9);
    if (row.src[0] == Type::kNone) return;
    if (src0 == code::kSdwa && layout == Layout::kGfx10) return sdwa(compare);
    if (is_dpp_code(src0)) {
      dpp(words[1], src0);
      out.src[0] = short_vector(out.src[0].index, type_of(0), 0);
      return;
    }
    if (src0 == code::kLiteral) literal = &words[1];
    out.src[0] = src0 >= code::kVgpr0 ? short_vector(src0 - code::kVgpr0, type_of(0), 0)
                                      : source(src0, row.src[0]);
  }

  // VCC is the lane mask where no field names one.
  void implied_vcc() {
    const Operand vcc = scalar_register(scalar::kVcc);
    if (row.has(kMaskResult)) out.sdst = vcc;
    if (row.src[2] == Type::kMask) out.src[2] = vcc;
  }

  void vop1() {
    constexpr unsigned kResultHalf = 3;
    const unsigned vdst = field(words[0], 17, 8);
    short_source0(false);
    if (row.has(kScalarResult)) {
      out.dst = scalar_of(vdst & 127);
      if (vdst > code::kSgprLast) problem = "has a destination that is no register";
    } else if (row.dst != Type::kNone) {
      out.dst = short_vector(vdst, row.dst, kResultHalf);
    }
  }

  void vop2() {
    constexpr unsigned kResultHalf = 3;
    if (row.dst == Type::kNone) return;  // v_illegal
    out.dst = short_vector(field(words[0], 17, 8), row.dst, kResultHalf);
    out.src[1] = short_vector(field(words[0], 9, 8), type_of(1), 1);
    if (row.has(kLiteralK)) literal = &words[1];
    short_source0(false);
    if (row.has(kLiteralK)) out.src[2] = constant(literal_constant(words[1], row.src[2]));
    implied_vcc();
  }

  // From gfx10 on v_cmpx writes EXEC only.
  Operand mask_result(unsigned number) const {
    return (row.writes & kImpliesExec) != 0 ? scalar_register(scalar::kExec) : scalar_of(number);
  }

  void vopc() {
    out.sdst = mask_result(scalar::kVcc);
    out.src[1] = short_vector(field(words[0], 9, 8), type_of(1), 1);
    short_source0(true);
    if (out.has_sdwa && (row.writes & kImpliesExec) != 0) out.sdst = mask_result(0);
  }

  // Of the 64-bit formats: from gfx11 on DPP, whose dword is the third, as the literal.
  void long_sources() {
    const uint32_t w1 = words[1];
    for (unsigned i = 0; i < 3; ++i) {
      if (field(w1, 9 * i, 9) == code::kLiteral) literal = &words[2];
    }
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned value = field(w1, 9 * i, 9);
      if (row.src[i] == Type::kNone) continue;
      if (i == 0 && layout >= Layout::kGfx11 && is_dpp_code(value)) {
        dpp(words[2], value);
        continue;
      }
      const bool is_f16 = row.has(kMixesTypes) && (out.op_sel_hi >> i & 1) != 0;
      out.src[i] = source(value, is_f16 ? Type::kF16 : row.src[i]);
    }
  }

  void vop3() {
    const uint32_t w0 = words[0], w1 = words[1];
    const bool compare = row.dst == Type::kMask;
    const bool has_sdst = row.has(kMaskResult) && !compare;
    const unsigned vdst = field(w0, 0, 8);
    out.clamp = field(w0, 15, 1);
    out.omod = static_cast<uint8_t>(field(w1, 27, 2));
    out.neg = static_cast<uint8_t>(field(w1, 29, 3));
    if (has_sdst) {
      out.sdst = scalar_of(field(w0, 8, 7));
    } else {
      out.abs = static_cast<uint8_t>(field(w0, 8, 3));
      out.op_sel = static_cast<uint8_t>(field(w0, 11, 4));
    }
    if (compare) {
      out.sdst = mask_result(vdst & 127);
    } else if (row.has(kScalarResult)) {
      out.dst = scalar_of(vdst & 127);
    } else if (row.dst != Type::kNone) {
      out.dst = vector(vdst);
    }
    long_sources();
    const bool is_exec = (row.writes & kImpliesExec) != 0;
    if (((compare && !is_exec) || row.has(kScalarResult)) && vdst > code::kSgprLast)
      problem = "has a destination that is no register";
  }

  void vop3p() {
    const uint32_t w0 = words[0], w1 = words[1];
    out.dst = vector(field(w0, 0, 8));
    out.op_sel_hi = static_cast<uint8_t>(field(w1, 27, 2) | field(w0, 14, 1) << 2);
    out.abs = static_cast<uint8_t>(field(w0, 8, 3));
    out.op_sel = static_cast<uint8_t>(field(w0, 11, 3));
    out.clamp = field(w0, 15, 1);
    out.neg = static_cast<uint8_t>(field(w1, 29, 3));
    long_sources();
    join_halves(out);
  }

  void ds() {
    const uint32_t w0 = words[0], w1 = words[1];
    out.offset = static_cast<int32_t>(field(w0, 0, 16));
    out.gds = layout != Layout::kGfx12 && field(w0, 17, 1);
    if (row.dst != Type::kNone) out.dst = vector(field(w1, 24, 8));
    for (unsigned i = 0; i < 3; ++i) {
      if (row.src[i] != Type::kNone) out.src[i] = vector(field(w1, 8 * i, 8));
    }
  }

  // Of FLAT: where each generation has its fields.
  struct FlatFields {
    unsigned vdst, vaddr, vdata, saddr;
    bool sve;  // scratch has a VADDR
  };

  FlatFields flat_fields() {
    const uint32_t w0 = words[0], w1 = words[1], w2 = words[2];
    out.segment = static_cast<uint8_t>(segment_of(layout, Format::kFlat, w0));
    if (layout == Layout::kGfx12) {
      out.offset = static_cast<int32_t>(w2) >> 8;
      out.extra->scope = static_cast<uint8_t>(field(w1, 18, 2));
      out.extra->temporal_hint = static_cast<uint8_t>(field(w1, 20, 3));
      out.glc = field(w1, 20, 1);  // of an atomic: returns the old value
      return {field(w1, 0, 8), field(w2, 0, 8), field(w1, 23, 8), field(w0, 0, 7),
              field(w1, 17, 1) != 0};
    }
    // gfx10 has 12 bits, of flat 11 without a sign; gfx11 13, of flat 12.
    const bool is_gfx11 = layout == Layout::kGfx11;
    const unsigned bits = is_gfx11 ? 13 : 12;
    out.offset = out.segment == 0 ? static_cast<int32_t>(field(w0, 0, bits - 1))
                                  : static_cast<int32_t>(w0 << (32 - bits)) >> (32 - bits);
    out.extra->dlc = field(w0, is_gfx11 ? 13 : 12, 1);
    out.lds = !is_gfx11 && field(w0, 13, 1);
    out.glc = field(w0, is_gfx11 ? 14 : 16, 1);
    out.slc = field(w0, is_gfx11 ? 15 : 17, 1);
    const unsigned saddr = field(w1, 16, 7);
    return {field(w1, 24, 8), field(w1, 0, 8), field(w1, 8, 8), saddr,
            is_gfx11 ? field(w1, 23, 1) != 0 : is_null(scalar_of(saddr))};
  }

  void flat() {
    const FlatFields f = flat_fields();
    // On gfx10 this is none too; of scratch, neither is there a VADDR then.
    constexpr unsigned kScratch = 1, kOff = 0x7f;
    const bool is_off =
        (layout == Layout::kGfx10 && f.saddr == kOff) || is_null(scalar_of(f.saddr));
    if (row.memory.access == Access::kCache) return;
    if (out.segment != 0 && !is_off) out.src[2] = scalar_of(f.saddr);
    const bool has_vaddr = row.src[0] != Type::kNone && (out.segment != kScratch || f.sve);
    if (has_vaddr) out.src[0] = vector(f.vaddr);
    if (row.src[1] != Type::kNone) out.src[1] = vector(f.vdata);
    // Loads always return; atomics (which have data too) only where they are asked to.
    if (row.dst != Type::kNone && !out.lds && (row.src[1] == Type::kNone || out.glc))
      out.dst = vector(f.vdst);
  }

  void buffer() {
    const uint32_t w0 = words[0], w1 = words[1], w2 = words[2];
    if (row.memory.access == Access::kCache) return;
    const bool typed = out.format == Format::kMtbuf;
    unsigned vaddr = field(w1, 0, 8), vdata = field(w1, 8, 8);
    if (layout == Layout::kGfx12) {
      out.offset = static_cast<int32_t>(field(w2, 8, 24));
      out.extra->scope = static_cast<uint8_t>(field(w1, 18, 2));
      out.extra->temporal_hint = static_cast<uint8_t>(field(w1, 20, 3));
      out.glc = field(w1, 20, 1);
      out.offen = field(w1, 30, 1);
      out.idxen = field(w1, 31, 1);
      out.tfe = field(w0, 22, 1);
      if (typed) out.extra->buffer_format = static_cast<uint8_t>(field(w1, 23, 7));
      vdata = field(w1, 0, 8);
      vaddr = field(w2, 0, 8);
      out.src[1] = scalar_register(field(w1, 9, 9));
      const Operand offset = scalar_of(field(w0, 0, 7));
      if (!is_null(offset)) out.src[2] = offset;
    } else {
      const bool is_gfx11 = layout == Layout::kGfx11;
      out.offset = static_cast<int32_t>(field(w0, 0, 12));
      out.glc = field(w0, 14, 1);
      out.extra->dlc = field(w0, is_gfx11 ? 13 : 15, 1);
      out.slc = is_gfx11 ? field(w0, 12, 1) : field(w1, 22, 1);
      out.offen = is_gfx11 ? field(w1, 22, 1) : field(w0, 12, 1);
      out.idxen = is_gfx11 ? field(w1, 23, 1) : field(w0, 13, 1);
      out.tfe = field(w1, is_gfx11 ? 21 : 23, 1);
      out.lds = !typed && !is_gfx11 && field(w0, 16, 1);
      if (typed) out.extra->buffer_format = static_cast<uint8_t>(field(w0, 19, 7));
      out.src[1] = scalar_register(field(w1, 16, 5) * 4);
      out.src[2] = source(field(w1, 24, 8), Type::kB32);
      if (is_null(out.src[2])) out.src[2] = constant(0);
    }
    if (!out.lds) out.dst = vector(vdata);
    if (out.offen || out.idxen) out.src[0] = vector(vaddr);
  }
};

}  // namespace

const char* decode_rdna_fields(const Target& target, const uint32_t words[],
                               Instruction& instruction) {
  RdnaReader reader{target, row_of(instruction.op), words, instruction};
  read_fields(reader, instruction.format);
  return reader.problem ? reader.problem : align_scalars(target, instruction);
}

}  // namespace halyard::vgpu::isa
