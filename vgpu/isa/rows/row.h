// What everything but a lane function must know of an instruction: one row for each (notation.h).
//
// The decoder, register needs, checks, counts, coherence, coverage and block ends read rows. Names
// are for people.
#pragma once

#include <cstdint>
#include <span>

#include "vgpu/isa/generation.h"
#include "vgpu/isa/op.h"

namespace halyard::vgpu::isa {

enum class Format : uint8_t {
  kSop1,
  kSop2,
  kSopc,
  kSopk,
  kSopp,
  kSmem,
  kVop1,
  kVop2,
  kVopc,
  kVop3,  // VOP3A and VOP3B, and the 64-bit forms of VOP1, VOP2 and VOPC
  kVop3p,
  kVintrp,
  kDs,
  kFlat,  // flat, global and scratch: Encoding::segment
  kMubuf,
  kMtbuf,
  kMimg,
  kExp,
  kLdsDirect,  // from gfx11 on
  kVinterp,
  kVopd,  // two VALU instructions in one
};
// VOP1, VOP2, VOPC, VOP3 and VOP3P.
constexpr bool is_vector_alu(Format format) {
  return format >= Format::kVop1 && format <= Format::kVop3p;
}
// SOP and SMEM.
constexpr bool is_scalar(Format format) {
  return format <= Format::kSmem;
}

inline constexpr unsigned kFormats = static_cast<unsigned>(Format::kVopd) + 1;

// The type of an operand: its number of dwords, and the meaning of an inline constant or a literal
// (Vega ISA, table "Scalar/vector source operand encodings").
enum class Type : uint8_t {
  kNone,
  kB16,  // integer or bits
  kF16,
  kB32,
  kF32,
  kB64,    // a literal is zero-extended
  kI64,    // a literal is sign-extended
  kF64,    // a literal is the upper half
  kPkB16,  // two 16-bit integers
  kPkF16,  // two f16
  kPkF32,  // two f32 (gfx90a)
  kB96,
  kB128,
  kB256,
  kB512,
  kB1024,
  kF64x4,  // four f64 in a row (gfx90a's matrix instructions)
  kMask,   // a lane mask in scalars
  kB192,   // 32 values of 6 bits (gfx950)
  kBF16,
  kPkBF16,  // two bf16
};

// How many dwords of a register file an operand of this type spans.
constexpr unsigned dwords_of(Type type) {
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

// One encoding of an instruction. The number is that of its format's OP field.
struct Encoding {
  Format format = Format::kSop1;
  uint8_t segment = 0;  // FLAT: 0 flat, 1 scratch, 2 global
  uint16_t number = 0;
  Generation first = Generation::kGfx900;
  Generation last = kNewestGfx9;
  const char* name = nullptr;  // where this generation spells the instruction in another way
  bool sdwa = false;           // has a form with SDWA
  bool dpp = false;            // has a form with DPP
  // It stands for the 64-bit form of a VOP1, VOP2 or VOPC of the row.
  bool is_long_form = false;

  constexpr bool is_of(Generation g) const { return first <= g && g <= last; }
};

// Registers that no field of the encoding names.
enum Implied : uint8_t {
  kImpliesScc = 1,
  kImpliesVcc = 2,
  kImpliesExec = 4,
  kImpliesM0 = 8,
  kImpliesMode = 16,
  kImpliesFlatScratch = 32,
};

enum class Access : uint8_t {
  kNone,
  kLoad,   // to registers, or from memory to LDS
  kStore,  // from registers
  kAtomic,
  kCache,  // what Memory::cache says
  kClock,  // returns a time as a load returns data
  kProbe,  // asks for a translation, and returns nothing
};

// What an atomic makes of the old value (Vega ISA, chapter 12).
enum class AtomicOp : uint8_t {
  kNone,
  kSwap,
  kCmpswap,
  kAdd,
  kSub,
  kRsub,
  kSmin,
  kUmin,
  kSmax,
  kUmax,
  kAnd,
  kOr,
  kXor,
  kInc,
  kDec,
  kMskor,
  kWrap,
  kFcmpswap,
  kFmin,
  kFmax,
  kFadd,
  kPkFaddF16,
  kPkFaddBf16,
  kAppend,
  kConsume,
  kCondxchg,
  kSubClamp,    // 0 where it would be negative
  kCondSub,     // only where it is not negative
  kOrderedAdd,  // in the order of the work-groups
};

enum class CacheOp : uint8_t {
  kNone,
  kInvalidateVector,  // the L1 of vectors (buffer_wbinvl1)
  kWriteBackL2,
  kInvalidateL2,
  kInvalidateScoped,  // buffer_inv: which caches, SC0 and SC1 say
  kInvalidateScalar,
  kWriteBackScalar,
  kDiscardScalar,
  kInvalidateCode,
  kInvalidateGl1,  // the L1 of a shader array (gfx10, gfx11)
  kWriteBackScoped,
  kWriteBackInvalidateScoped,
};

// Of a lane's access. Where it goes, the format and its segment say.
struct Memory {
  Access access = Access::kNone;
  uint8_t bytes = 0;  // of one element; 0: the buffer's format says
  uint8_t count = 1;  // elements: two for ds_read2 and its like
  uint8_t unit = 1;   // the elements' offsets count in so many elements (64: ds_read2st64)
  AtomicOp atomic = AtomicOp::kNone;
  CacheOp cache = CacheOp::kNone;
};

enum class Flow : uint8_t {
  kNext,
  kJump,    // always goes elsewhere
  kBranch,  // may go elsewhere
  kFork,    // s_cbranch_g_fork, s_cbranch_i_fork: pushes the path that is not taken
  kJoin,    // s_cbranch_join
  kBarrier,
  kYield,
  kTrap,
  kMayEnd,  // s_setkill, s_sendmsghalt, s_sethalt
  kEnd,
};

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0, blocks = 0;
};

enum Trait : uint32_t {
  kMaskResult = 1u << 0,        // writes a lane mask: SDST, or VCC where no field names it
  kScalarResult = 1u << 1,      // a vector instruction whose result is a scalar
  kAccumulates = 1u << 2,       // reads its destination as a further source
  kLiteralK = 1u << 3,          // a literal always follows; v_madmk and v_madak have it in src[2]
  kSwaps = 1u << 4,             // src[0] is written too
  kRelativeSource = 1u << 5,    // s_movrels: M0 is added to the source's number
  kRelativeResult = 1u << 6,    // s_movreld
  kCrossLane = 1u << 7,         // a lane's result depends on other lanes' sources
  kIgnoresExec = 1u << 8,       // acts on inactive lanes too
  kAccSource = 1u << 9,         // src[0] is an AGPR (v_accvgpr_read, _mov)
  kAccResult = 1u << 10,        // the result is an AGPR (v_accvgpr_write, _mov)
  kLowHalf = 1u << 11,          // moves or makes 16 bits, of the register's lower half
  kHighHalf = 1u << 12,         // of its upper half
  kToLds = 1u << 13,            // always loads to LDS
  kMayLoadToLds = 1u << 14,     // does so with the LDS bit
  kGdsOnly = 1u << 15,          // needs the GDS bit
  kByLane = 1u << 16,           // the address is M0, and four bytes for each lane
  kPermutes = 1u << 17,         // a DS instruction that uses no memory
  kWait = 1u << 18,             // s_waitcnt: its operand says for what
  kMessage = 1u << 19,          // s_sendmsg and its like
  kMatrix = 1u << 20,           // a matrix multiplication
  kSparse = 1u << 21,           // whose A is sparse: src[2] has its indices, dst the accumulator
  kReverses = 1u << 22,         // takes its first two sources in reverse
  kGraphics = 1u << 23,         // of the graphics pipeline, or of GWS: never executed
  kGprIndexControl = 1u << 24,  // s_set_gpr_idx_*
  kNoPermutes = 1u << 25,       // a matrix instruction without CBSZ, ABID and BLGP
  kMixesTypes = 1u << 26,       // OP_SEL_HI says which sources are f16 (v_mad_mix, v_fma_mix)
  kScratchScalar = 1u << 27,    // s_scratch_*: scalar memory instructions of private memory
  kSelectsTypes = 1u << 28,     // CBSZ and BLGP are the types of A and B (f8f6f4)
  kKeepsRest = 1u << 30,        // keeps the part of its destination that it does not write
  kNoOperand = 1u << 29,        // SOPP without SIMM16
  kHalfLast = 1u << 31,         // from gfx11 on its last source has 16 bits
};

// Which modifiers the 64-bit encodings have; SDWA and DPP have fields of their own.
enum Modifier : uint8_t {
  kSignOf0 = 1,  // NEG and ABS of src[0]
  kSignOf1 = 2,
  kSignOf2 = 4,
  kTakesClamp = 8,
  kTakesOmod = 16,
};

struct Row {
  static constexpr unsigned kMostEncodings = 10;

  const char* name = "";
  Encoding encodings[kMostEncodings];
  uint8_t encoding_count = 0;
  Type dst = Type::kNone;
  Type src[3] = {Type::kNone, Type::kNone, Type::kNone};
  uint8_t reads = 0;   // Implied
  uint8_t writes = 0;  // Implied
  Flow flow = Flow::kNext;
  uint32_t traits = 0;    // Trait
  uint8_t modifiers = 0;  // Modifier
  uint8_t op_sel = 15;    // the bits of OP_SEL that it may have
  Memory memory;
  MatrixShape matrix;

  constexpr bool has(Trait trait) const { return (traits & trait) != 0; }
  constexpr std::span<const Encoding> all_encodings() const { return {encodings, encoding_count}; }
};

// The row of an instruction; of Op::none a row with no encoding.
const Row& row_of(Op op);

// How generation `g` spells it: for people.
const char* name_of(Op op, Generation g);

// The Op that `name` spells in any generation, or Op::none. For tools and tests.
Op find_op(const char* name);

}  // namespace halyard::vgpu::isa
