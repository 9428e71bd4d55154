// Fetching the 64 lanes of an operand, the modifiers around an operation, and storing its result.
//
// Everything here works on raw dwords of all 64 lanes and is compiled once, however many
// instructions use it. apply.h puts the typed loop over lanes in the middle.
#pragma once

#include <cstdint>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::valu {

inline constexpr unsigned kMaxDwords = 4;

struct alignas(64) LaneBuffer {
  uint32_t lane[kLanes];
};

// What a loop over lanes reads and writes. A value of several dwords has a row for each, the lowest
// first. Outputs never overlap inputs, so a loop may read and write in any order.
struct LaneArgs {
  const uint32_t* src[3][kMaxDwords];
  const uint32_t* flag_in;  // 0 or all ones
  uint32_t* out[kMaxDwords];
  uint32_t* flag_out;  // 0 or all ones
};

// Where an operation's carry-in, or v_cndmask's condition, comes from.
enum class FlagInput : uint8_t { kNone, kSource2, kVcc };

// What the code around the loop must know of an operation.
struct Shape {
  Type dst = Type::kNone;
  Type src[3] = {Type::kNone, Type::kNone, Type::kNone};
  uint8_t dst_dwords = 0;  // 0: the result is a lane mask only
  uint8_t src_dwords[3] = {0, 0, 0};
  uint8_t sources = 0;
  bool float_result = false;          // clamp and omod mean the float modifiers
  bool flag_result = false;           // writes a lane mask to sdst
  bool exec_result = false;           // v_cmpx: the mask goes to EXEC too
  bool accumulates = false;           // the last source is the destination's old value
  bool literal_multiplicand = false;  // v_madmk: the instruction's src[1] and src[2] trade places
  bool keeps_other = false;           // a 16-bit result leaves the other half of the dword alone
  bool to_high = false;               // a 16-bit result goes to the upper half
  bool mixed_sources = false;         // v_mad_mix: op_sel_hi says which sources are f16
  FlagInput flag_input = FlagInput::kNone;
};

using Core = void (*)(const LaneArgs&, const FloatMode&);

constexpr uint8_t dwords_of(Type type) {
  switch (type) {
    case Type::kNone:
    case Type::kMask:
      return 0;
    case Type::kB64:
    case Type::kI64:
    case Type::kF64:
    case Type::kPkF32:
      return 2;
    case Type::kB128:
      return 4;
    default:
      return 1;
  }
}

// Fills `buffer` with dword `index` of an operand that is the same in all lanes.
void splat(const Wave& w, const Operand& operand, unsigned index, LaneBuffer& buffer);

// The row of dword `index` of an operand: the register itself, or `buffer` filled.
inline const uint32_t* row(const Wave& w, const Operand& operand, unsigned index,
                           LaneBuffer& buffer) {
  if (operand.kind == OperandKind::kVector) return w.vgpr[operand.index + index].lane;
  if (operand.kind == OperandKind::kAcc) return w.agpr[operand.index + index].lane;
  splat(w, operand, index, buffer);
  return buffer.lane;
}

// The operand's value in scalars or as a constant (not for vector operands).
uint64_t uniform_value(const Wave& w, const Operand& operand);

// The operand that an operation's source `i` is read from.
inline const Operand& source_operand(const Instruction& in, const Shape& shape, unsigned i) {
  if (shape.accumulates && i + 1u == shape.sources) return in.dst;
  if (shape.literal_multiplicand && i != 0) return in.src[3 - i];
  return in.src[i];
}

// 64 bits to rows of 0 or all ones, and back.
void expand_mask(uint64_t mask, LaneBuffer& buffer);
uint64_t pack_mask(const LaneBuffer& buffer);

// Writes rows to a vector destination, in the lanes of `exec`.
void commit(Wave& w, const Operand& dst, const LaneBuffer* rows, unsigned dwords, uint64_t exec);

// Writes a lane mask to an SGPR pair.
inline void commit_mask(Wave& w, const Operand& sdst, uint64_t mask) {
  if (sdst.kind == OperandKind::kScalar && sdst.index + 1u < scalar::kCount) {
    w.set_scalar64(sdst.index, mask);
  }
}

// True if any lane has its flag set, or holds a NaN; of f16, if either half does.
bool any_flag(const LaneBuffer& flags);
bool any_nan16(const LaneBuffer& row);
bool any_nan32(const LaneBuffer& row);
bool any_nan64(const LaneBuffer& low, const LaneBuffer& high);

// The host's rounding mode, for the time of a loop that computes in a mode other than nearest even.
class RoundingScope {
 public:
  explicit RoundingScope(unsigned rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int saved_;
};

// Executes an operation with every modifier that an encoding can carry.
Outcome run_general(Wave& w, const Instruction& in, const Shape& shape, Core core);

}  // namespace halyard::vgpu::isa::valu
