// Instructions that move data between lanes, scalars and register files, or do nothing.
// v_readlane, v_writelane and v_readfirstlane ignore EXEC (Vega ISA 12.10, 12.15).

#include <bit>
#include <utility>

#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

// One lane of a source that need not be a vector.
uint32_t lane_value(const Wave& w, const Operand& operand, unsigned lane) {
  if (operand.kind == OperandKind::kVector) return w.vgpr[operand.index].lane[lane];
  if (operand.kind == OperandKind::kAcc) return w.agpr[operand.index].lane[lane];
  return static_cast<uint32_t>(uniform_value(w, operand));
}

void write_scalar(Wave& w, const Operand& dst, uint32_t value) {
  if (dst.kind == OperandKind::kScalar) w.sgpr[dst.index] = value;
}

Outcome read_lane(Wave& w, const Instruction& in) {
  const unsigned lane = static_cast<unsigned>(uniform_value(w, in.src[1])) % kLanes;
  write_scalar(w, in.dst, lane_value(w, in.src[0], lane));
  return Outcome::kNext;
}

Outcome read_first_lane(Wave& w, const Instruction& in) {
  const uint64_t exec = w.exec();
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  write_scalar(w, in.dst, lane_value(w, in.src[0], lane));
  return Outcome::kNext;
}

Outcome write_lane(Wave& w, const Instruction& in) {
  const uint32_t value = static_cast<uint32_t>(uniform_value(w, in.src[0]));
  const unsigned lane = static_cast<unsigned>(uniform_value(w, in.src[1])) % kLanes;
  if (in.dst.kind == OperandKind::kVector) w.vgpr[in.dst.index].lane[lane] = value;
  return Outcome::kNext;
}

Outcome swap(Wave& w, const Instruction& in) {
  if (in.dst.kind != OperandKind::kVector || in.src[0].kind != OperandKind::kVector) {
    return Outcome::kNext;
  }
  const uint64_t exec = w.exec();
  uint32_t* a = w.vgpr[in.dst.index].lane;
  uint32_t* b = w.vgpr[in.src[0].index].lane;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((exec >> lane & 1) != 0) std::swap(a[lane], b[lane]);
  }
  return Outcome::kNext;
}

// v_permlane16_swap, v_permlane32_swap: of each pair of groups of `kGroup` lanes, the upper one of
// VDST changes places with the lower one of SRC0 (CDNA 4 ISA, V_PERMLANE16_SWAP_B32). An active
// lane whose partner is not active is as for DPP: it takes the partner's value with FI (op_sel[0]),
// a zero with BC (op_sel[1]), and else stays (LLVM's operands `fi` and `bound_ctrl`).
template <unsigned kGroup>
Outcome swap_groups(Wave& w, const Instruction& in) {
  if (in.dst.kind != OperandKind::kVector || in.src[0].kind != OperandKind::kVector) {
    return Outcome::kNext;
  }
  const uint64_t exec = w.exec();
  const bool fetches_inactive = (in.op_sel & 1) != 0, bound_control = (in.op_sel & 2) != 0;
  uint32_t* const upper = w.vgpr[in.dst.index].lane;
  uint32_t* const lower = w.vgpr[in.src[0].index].lane;
  const auto is_active = [exec](unsigned lane) { return (exec >> lane & 1) != 0; };
  const auto value_for = [&](uint32_t own, uint32_t partner, unsigned partner_lane) {
    if (fetches_inactive || is_active(partner_lane)) return partner;
    return bound_control ? 0 : own;
  };
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (lane / kGroup % 2 != 0) continue;
    const unsigned partner = lane + kGroup;
    const uint32_t to_upper = value_for(upper[partner], lower[lane], lane);
    const uint32_t to_lower = value_for(lower[lane], upper[partner], partner);
    if (is_active(partner)) upper[partner] = to_upper;
    if (is_active(lane)) lower[lane] = to_lower;
  }
  return Outcome::kNext;
}

// v_accvgpr_read, v_accvgpr_write, v_accvgpr_mov: the operands' kinds say which file.
Outcome acc_move(Wave& w, const Instruction& in) {
  LaneBuffer scratch;
  LaneBuffer copy;
  const uint32_t* from = row(w, in.src[0], 0, scratch);
  for (unsigned lane = 0; lane < kLanes; ++lane) copy.lane[lane] = from[lane];
  commit(w, in.dst, &copy, 1, w.exec());
  return Outcome::kNext;
}

Outcome nothing(Wave&, const Instruction&) {
  return Outcome::kNext;
}

constexpr Opcode kOpcodes[] = {
    op(Op::v_readlane_b32, read_lane),
    op(Op::v_readfirstlane_b32, read_first_lane),
    op(Op::v_writelane_b32, write_lane),
    op(Op::v_swap_b32, swap),
    op(Op::v_permlane16_swap_b32, swap_groups<16>),
    op(Op::v_permlane32_swap_b32, swap_groups<32>),
    op(Op::v_accvgpr_read_b32, acc_move),
    op(Op::v_accvgpr_write_b32, acc_move),
    op(Op::v_accvgpr_mov_b32, acc_move),
    op(Op::v_nop, nothing),
    // Float exceptions are not recorded, so there is nothing to clear.
    op(Op::v_clrexcp, nothing),
};

}  // namespace

std::span<const Opcode> lane_access_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
