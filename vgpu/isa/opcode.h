// The handlers of an instruction: what executes it. All else, its row says (rows/row.h).
//
// Each family of instructions (scalar, vector ALU, memory, LDS) exports one table of these; what is
// in no table decodes to an instruction whose handler faults and names it.
#pragma once

#include <cstdint>
#include <span>

#include "vgpu/isa/instruction.h"

namespace halyard::vgpu::isa {

struct Opcode {
  Op op;
  // Used when the encoding has no modifier (no neg, abs, omod, clamp, op_sel, SDWA, DPP); null if
  // there is no separate fast form.
  Handler plain;
  // Handles every modifier that the opcode's encodings allow.
  Handler general;
  // The operand types that a lane function's signature tells; a test compares them with the row.
  bool is_typed = false;
  Type dst = Type::kNone;
  Type src[3] = {Type::kNone, Type::kNone, Type::kNone};
  // Used instead of both if Target::d16_loads_clear, for the loads that this concerns; else null.
  Handler clearing = nullptr;

  consteval Opcode or_clearing(Handler handler) const {
    Opcode both = *this;
    both.clearing = handler;
    return both;
  }
};

std::span<const Opcode> scalar_opcodes();  // SOP1, SOP2, SOPC, SOPK, SOPP, SMEM
std::span<const Opcode> vector_opcodes();  // VOP1, VOP2, VOPC, VOP3, VOP3P
std::span<const Opcode> matrix_opcodes();  // VOP3P-MAI: matrix multiply-accumulate
std::span<const Opcode> memory_opcodes();  // FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF
std::span<const Opcode> lds_opcodes();     // DS

// The handlers of an instruction, or null if the engine does not execute it.
const Opcode* find_opcode(Op op);

}  // namespace halyard::vgpu::isa
