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
  kConstant,  // Operand::value: an inline constant or a literal
  kAperture,  // SRC_SHARED_BASE … SRC_PRIVATE_LIMIT: Wave::apertures[index]
  kVccz,
  kExecz,
  kScc,
  kLdsDirect,  // SRC_LDS_DIRECT: what M0 names in LDS (lds_direct.h)
};

// A source or destination. `index` is the register's number in its file; an operand of several
// dwords starts there. `value` holds a constant as the operand's type sees it: a float inline
// constant is already an f16, f32 or f64 bit pattern, an integer one is sign-extended, and a
// literal of a 64-bit operand is extended as the ISA says (upper half for f64, sign for i64).
struct Operand {
  OperandKind kind = OperandKind::kNone;
  uint16_t index = 0;
  uint64_t value = 0;
};

// Scalar register numbers, as encodings give them (gfx9).
namespace scalar {
inline constexpr uint16_t kFlatScratch = 102;
inline constexpr uint16_t kXnackMask = 104;
inline constexpr uint16_t kVcc = 106;
inline constexpr uint16_t kTtmp0 = 108;
inline constexpr uint16_t kM0 = 124;
inline constexpr uint16_t kExec = 126;
inline constexpr uint16_t kCount = 128;
}  // namespace scalar

// SDWA_SEL values (Vega ISA 13.3.7): which part of a dword a source reads or a result writes.
enum class SubDword : uint8_t { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };
// SDWA_DST_UNUSED: what becomes of the rest of the destination.
enum class DstUnused : uint8_t { kPad, kSext, kPreserve };

struct Sdwa {
  bool enabled = false;
  SubDword dst_sel = SubDword::kDword;
  DstUnused dst_unused = DstUnused::kPad;
  SubDword src_sel[2] = {SubDword::kDword, SubDword::kDword};
  bool sext[2] = {false, false};
};

// What VOP3P says of one source: its bits of op_sel, op_sel_hi, neg_lo and neg_hi.
enum HalvesBits : uint8_t { kOpSel = 1, kOpSelHi = 2, kNegLo = 4, kNegHi = 8 };

struct Dpp {
  bool enabled = false;
  uint16_t control = 0;  // DPP_CTRL, 9 bits (Vega ISA 13.3.8)
  uint8_t bank_mask = 0xf;
  uint8_t row_mask = 0xf;
  bool bound_ctrl = false;  // the BC bit: a lane out of bounds reads 0 instead of being disabled
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
struct Instruction {
  Handler execute = nullptr;
  // For people only: as this processor spells it. Lives as long as the process.
  const char* mnemonic = "";
  uint64_t encoding = 0;  // the first 8 bytes (less if the instruction is shorter)
  uint32_t literal = 0;   // the dword behind the encoding, if `has_literal`
  Op op = Op::none;       // none: it cannot be executed
  uint8_t size = 0;       // bytes
  Format format = Format::kSop1;
  bool has_literal = false;

  Operand dst;         // vdst, sdst, vdata or data destination
  Operand sdst;        // VOP3B's and VOPC's scalar result, VCC where the encoding implies it
  Operand src[3];      // src0..2; memory formats use src as their handler file documents
  uint8_t neg = 0;     // bit i: negate src[i] (VOP3, DPP, SDWA); VOP3P: neg_lo
  uint8_t abs = 0;     // bit i: absolute value of src[i]; VOP3P: neg_hi
  uint8_t op_sel = 0;  // VOP3: op_sel[0..3]; VOP3P: op_sel
  uint8_t op_sel_hi = 0;
  uint8_t halves[3] = {0, 0, 0};  // VOP3P: the four above for each source (HalvesBits)
  uint8_t omod = 0;               // 0 none, 1 ×2, 2 ×4, 3 ÷2
  bool clamp = false;
  Sdwa sdwa;
  Dpp dpp;

  int32_t offset = 0;       // memory: byte offset, sign-extended; SOPK, SOPP: simm16, sign-extended
  uint8_t data_dwords = 0;  // memory: dwords moved per lane
  bool glc = false;         // SC0, where memory instructions have scope bits (Target::scope_bits)
  bool slc = false;         // NT there
  bool sc1 = false;
  bool lds = false;
  bool offen = false;   // MUBUF
  bool idxen = false;   // MUBUF
  bool gds = false;     // DS
  uint8_t segment = 0;  // FLAT: 0 flat, 1 scratch, 2 global
  bool tfe = false;     // MUBUF, MTBUF: a VGPR behind the data belongs to dst
  uint8_t dfmt = 0;     // MTBUF: data and number format
  uint8_t nfmt = 0;

  // How much of the register files it touches: VGPRs in bits 15:0, SGPRs in bits 31:16, AGPRs in
  // bits 47:32, each the highest index plus one. Checked against Wave::allocated before it is
  // executed.
  uint64_t needs = 0;
  Handler observed = nullptr;  // the real handler, if `execute` tells observers (observer.h)
};

// Fills `halves` from the modifiers that it joins.
inline void join_halves(Instruction& in) {
  for (unsigned i = 0; i < 3; ++i) {
    const auto bit = [i](unsigned sources) { return sources >> i & 1; };
    in.halves[i] = static_cast<uint8_t>(bit(in.op_sel) * kOpSel | bit(in.op_sel_hi) * kOpSelHi |
                                        bit(in.neg) * kNegLo | bit(in.abs) * kNegHi);
  }
}

}  // namespace halyard::vgpu::isa
