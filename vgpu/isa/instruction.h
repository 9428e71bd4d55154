// One AMDGCN instruction, decoded once and executed many times.
//
// The decoder (decode.h) finds the row of the instruction (rows/row.h) and takes the operand fields
// from the encoding, as the "Vega" ISA document, chapter 13 ("Microcode Formats"), lays them out. A
// handler then never looks at encodings again.
#pragma once

#include <cstdint>

#include "vgpu/isa/rows/row.h"

namespace halyard::vgpu::isa {

struct Wave;
struct Instruction;

inline constexpr unsigned kLanes = 64;

// Why a handler returns to the scheduler. kNext is the normal path.
enum class Outcome : uint8_t {
  kNext,     // go on with the next instruction
  kJump,     // the handler has set wave.pc
  kBarrier,  // s_barrier: wait for the work-group
  kYield,    // s_sleep and the like: let another wave run
  kEnd,      // s_endpgm
  kFault,    // wave.fault says what and why
  kWait,     // s_waitcnt of memory: as kNext, and hardware may run other waves meanwhile
  kMode,     // as kNext, but VGPR indexing, VSKIP or the code itself has changed: look again
};

using Handler = Outcome (*)(Wave&, const Instruction&);

enum class OperandKind : uint8_t {
  kNone,
  kScalar,    // Wave::sgpr[index]; EXEC, VCC, M0, FLAT_SCRATCH and the TTMPs are scalars too
  kVector,    // Wave::vgpr[index]
  kAcc,       // Wave::agpr[index] (gfx908 and gfx90a)
  kConstant,  // Operand::value(): an inline constant or a literal
  kAperture,  // SRC_SHARED_BASE … SRC_PRIVATE_LIMIT: Wave::apertures[index]
  kVccz,
  kExecz,
  kScc,
  kLdsDirect,  // SRC_LDS_DIRECT: what M0 names in LDS (lds_direct.h)
};

// How the 32 bits that a constant has become 64 for an operand of 64.
enum class Widening : uint16_t {
  kZero,
  kSign,
  kHigh,         // they are the upper half: floats
  kInverseOf2Pi  // 1/(2π) as f64, the one inline constant with two halves that are not 0
};

// A source. `index` is the register's number in its file; an operand of several dwords starts
// there. A constant is as the operand's type sees it: a float inline constant is already an f16,
// f32 or f64 bit pattern, an integer one is sign-extended, and a literal of a 64-bit operand is
// extended as the ISA says (upper half for f64, sign for i64).
struct Operand {
  OperandKind kind = OperandKind::kNone;
  uint16_t index = 0;  // of a constant: Widening
  uint32_t bits = 0;   // of a constant

  uint64_t value() const {
    switch (static_cast<Widening>(index)) {
      case Widening::kZero:
        break;
      case Widening::kSign:
        return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(bits)));
      case Widening::kHigh:
        return uint64_t{bits} << 32;
      case Widening::kInverseOf2Pi:
        return kInverseOf2Pi;
    }
    return bits;
  }
  static constexpr uint64_t kInverseOf2Pi = 0x3fc45f306dc9c882;
};

// A destination: a register, or none.
struct Register {
  OperandKind kind = OperandKind::kNone;
  uint16_t index = 0;

  Register() = default;
  Register(const Operand& operand) : kind(operand.kind), index(operand.index) {}
  operator Operand() const { return {kind, index, 0}; }
};

// Scalar register numbers, as encodings of gfx9 and gfx10 give them. gfx11 has M0 and NULL
// exchanged, which only the decoder knows.
namespace scalar {
inline constexpr uint16_t kFlatScratch = 102;
inline constexpr uint16_t kXnackMask = 104;
inline constexpr uint16_t kVcc = 106;
inline constexpr uint16_t kTtmp0 = 108;
inline constexpr uint16_t kM0 = 124;
inline constexpr uint16_t kNull = 125;  // from gfx10 on: reads 0, and what is written is lost
inline constexpr uint16_t kExec = 126;
inline constexpr uint16_t kCount = 128;
}  // namespace scalar

// SDWA_SEL values (Vega ISA 13.3.7): which part of a dword a source reads or a result writes.
enum class SubDword : uint8_t { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };
// SDWA_DST_UNUSED: what becomes of the rest of the destination.
enum class DstUnused : uint8_t { kPad, kSext, kPreserve };

struct Sdwa {
  SubDword dst_sel = SubDword::kDword;
  DstUnused dst_unused = DstUnused::kPad;
  SubDword src_sel[2] = {SubDword::kDword, SubDword::kDword};
  bool sext[2] = {false, false};
};

// What VOP3P says of one source: its bits of op_sel, op_sel_hi, neg_lo and neg_hi.
enum HalvesBits : uint8_t { kOpSel = 1, kOpSelHi = 2, kNegLo = 4, kNegHi = 8 };

struct Dpp {
  uint16_t control = 0;  // DPP_CTRL, 9 bits (Vega ISA 13.3.8)
  uint8_t bank_mask = 0xf;
  uint8_t row_mask = 0xf;
  bool bound_ctrl = false;  // the BC bit: a lane out of bounds reads 0 instead of being disabled
  // From gfx10 on (RDNA 2 ISA, "DPP8" and "DPP16").
  bool fetch_inactive = false;  // inactive lanes are read too
  bool is_dpp8 = false;
  uint32_t selects = 0;  // DPP8: for each of eight lanes, the lane that it reads; 3 bits each
};

// Which field holds what, where the names below leave it open:
//
//   VOPC              sdst is the lane mask (VCC in the 32-bit and, with SD = 0, the SDWA form);
//                     dst is kNone.
//   VOP2 carry ops    sdst is the carry out, src[2] the carry in (v_addc, v_subb, v_subbrev); both
//                     are VCC in the 32-bit, SDWA and DPP forms.
//   v_cndmask_b32     src[2] is the lane mask; VCC in the 32-bit, SDWA and DPP forms.
//   v_madmk, v_madak  src[0] and src[1] are SRC0 and VSRC1; src[2] is the literal K, of the type
//                     that the opcode's src[2] says. (D = S0 * K + S1, and D = S0 * S1 + K.)
//   v_mac, v_fmac, v_dot2c and others that accumulate: the handler reads dst itself.
//   v_div_fmas        reads VCC itself.  v_div_scale, v_mad_u64_u32, v_mad_i64_i32: sdst.
//   v_readlane_b32, v_readfirstlane_b32: dst is kScalar.
//   v_writelane_b32   dst is the vector, src[0] the value, src[1] the lane.
//   v_swap_b32        dst and src[0] are both read and written.
//   SDWA, DPP         src[0] is the real source; neg and abs come from the second dword.
//   op_sel            VOP3 of 16-bit operands: bits 0..2 choose a source's half, bit 3 the
//                     result's. VOP3P: op_sel and op_sel_hi have one bit for each source;
//                     "no modifier" means op_sel = 0 and op_sel_hi = 1 for every source in use.
//   SOPK              src[0] is the 16-bit constant, sign-extended; s_cmpk_* have the register in
//                     src[0] and the constant in src[1].
//   SMEM              dst is SDATA (also of a store), src[0] SBASE, src[1] the offset register.
//   FLAT              dst is VDST, src[0] ADDR, src[1] DATA, src[2] SADDR (kNone where "off").
//   MUBUF, MTBUF      dst is VDATA (also of a store), src[0] VADDR, src[1] SRSRC, src[2] SOFFSET.
//   DS                dst is VDST, src[0] ADDR, src[1] DATA0, src[2] DATA1; offset is the 16-bit
//                     offset, whose bytes are offset0 and offset1.
//
// VGPR indexing (s_set_gpr_idx_on) is applied before a handler sees the instruction.
// It fills one cache line: what few instructions have, or few ask for, stands beside it.
struct InstructionExtra {
  // For people only: as this processor spells it. Lives as long as the process.
  const char* mnemonic = "";
  uint64_t encoding = 0;          // the first 8 bytes (less if the instruction is shorter)
  Handler observed = nullptr;     // the real handler, if `execute` tells observers (observer.h)
  const char* problem = nullptr;  // why it cannot be executed; lives as long as the process
  Sdwa sdwa;                      // if has_sdwa
  Dpp dpp;                        // if has_dpp
  uint8_t dfmt = 0;               // MTBUF: data and number format
  uint8_t nfmt = 0;
  uint8_t buffer_format = 0;  // MTBUF from gfx10 on
  // Cache policies: of gfx10 and gfx11 a third bit beside GLC and SLC, of gfx12 SCOPE and TH.
  bool dlc = false;
  uint8_t scope = 0;
  uint8_t temporal_hint = 0;
};

struct alignas(64) Instruction {
  Handler execute = nullptr;
  InstructionExtra* extra = nullptr;  // not null if decoded; lives as long as the instruction

  Operand src[3];      // src0..2; memory formats use src as their handler file documents
  Register dst;        // vdst, sdst, vdata or data destination
  Register sdst;       // VOP3B's and VOPC's scalar result, VCC where the encoding implies it
  uint32_t needs = 0;  // registers, packed as pack_registers() does
  Op op = Op::none;    // none: it cannot be executed
  uint8_t size = 0;    // bytes
  Format format = Format::kSop1;

  // Memory: byte offset, sign-extended; SOPK, SOPP: simm16, sign-extended.
  int32_t offset : 24 = 0;
  int32_t halves_of_0_and_1 : 8 = 0;

  uint8_t neg : 3 = 0;     // bit i: negate src[i] (VOP3, DPP, SDWA); VOP3P: neg_lo
  uint8_t abs : 3 = 0;     // bit i: absolute value of src[i]; VOP3P: neg_hi
  uint8_t omod : 2 = 0;    // 0 none, 1 ×2, 2 ×4, 3 ÷2
  uint8_t op_sel : 4 = 0;  // VOP3: op_sel[0..3]; VOP3P: op_sel
  uint8_t op_sel_hi : 3 = 0;
  bool clamp : 1 = false;
  bool glc : 1 = false;  // SC0, where memory instructions have scope bits (Target::scope_bits)
  bool slc : 1 = false;  // NT there
  bool sc1 : 1 = false;
  bool lds : 1 = false;
  bool offen : 1 = false;   // MUBUF
  bool idxen : 1 = false;   // MUBUF
  bool gds : 1 = false;     // DS
  bool tfe : 1 = false;     // MUBUF, MTBUF: a VGPR behind the data belongs to dst
  uint8_t segment : 2 = 0;  // FLAT: 0 flat, 1 scratch, 2 global
  bool has_sdwa : 1 = false;
  bool has_dpp : 1 = false;
  uint8_t halves_of_2 : 4 = 0;

  // VOP3P: the bits of source `i` (HalvesBits), which join_halves() has joined.
  uint8_t halves(unsigned i) const {
    return i == 2 ? halves_of_2 : static_cast<uint8_t>(halves_of_0_and_1 >> 4 * i & 15);
  }
};
static_assert(sizeof(Instruction) <= 64);

// Fills halves() from the modifiers that it joins.
inline void join_halves(Instruction& in) {
  const auto joined = [&in](unsigned i) {
    const auto bit = [i](unsigned sources) { return sources >> i & 1; };
    return bit(in.op_sel) * kOpSel | bit(in.op_sel_hi) * kOpSelHi | bit(in.neg) * kNegLo |
           bit(in.abs) * kNegHi;
  };
  in.halves_of_0_and_1 = static_cast<int8_t>(joined(0) | joined(1) << 4);
  in.halves_of_2 = static_cast<uint8_t>(joined(2));
}

// An instruction with what stands beside it; `extra` points into it, so it is not copied.
struct DecodedInstruction : Instruction {
  InstructionExtra own;

  DecodedInstruction() { extra = &own; }
  DecodedInstruction(const DecodedInstruction&) = delete;
  DecodedInstruction& operator=(const DecodedInstruction&) = delete;
};

inline const char* name_of(const Instruction& instruction) {
  return instruction.extra ? instruction.extra->mnemonic : "";
}

// How much of the register files something has or touches, at most 256 VGPRs, 255 SGPRs and 256
// AGPRs, with a guard bit above each number.
constexpr uint32_t pack_registers(unsigned vgprs, unsigned sgprs, unsigned agprs) {
  return vgprs | sgprs << 10 | agprs << 20;
}
struct RegisterCounts {
  unsigned vgprs, sgprs, agprs;
};
constexpr RegisterCounts unpack_registers(uint32_t packed) {
  return {packed & 0x1ff, packed >> 10 & 0x1ff, packed >> 20 & 0x1ff};
}

}  // namespace halyard::vgpu::isa
