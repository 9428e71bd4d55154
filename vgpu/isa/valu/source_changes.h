// What NEG, ABS, op_sel and SDWA make of an operation's sources, before it reads them.
#pragma once

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/valu/operands.h"

namespace halyard::vgpu::isa::valu {

// Rows that a source's changed copy takes at most: packed f32 has two.
inline constexpr unsigned kChangedRows = 2;

// Where a changed copy replaces a row, `args` has it afterwards. `copies` has kChangedRows for each
// source; no row of `args` may be one of them.
void change_sources(const Instruction& in, const Shape& shape, LaneArgs& args, LaneBuffer* copies);

// Packed f32 of VOP3P: the halves are rows, so that selecting one takes its address. Then NEG.
inline void select_rows(const Instruction& in, unsigned source, const uint32_t** rows) {
  if (in.format != Format::kVop3 && in.format != Format::kVop3p) return;
  const uint32_t* const old[] = {rows[0], rows[1]};
  rows[0] = old[in.op_sel >> source & 1];
  rows[1] = old[in.op_sel_hi >> source & 1];
}
void negate_rows(const Instruction& in, unsigned sources, LaneArgs& args, LaneBuffer* copies);

// The same for v_mad_mix and its kin: a source is an f32, or, with its op_sel_hi bit, the half of a
// dword that op_sel says, which becomes an f32.
void mix_sources(const Instruction& in, const FloatMode& mode, LaneArgs& args, LaneBuffer* copies);

}  // namespace halyard::vgpu::isa::valu
