// What the decoder must know of an opcode: its handlers and the types of its operands.
//
// Each family of instructions (scalar, vector ALU, memory, LDS) exports one table of these; the
// decoder looks a mnemonic up in all of them. A mnemonic in no table decodes to an instruction
// whose handler faults and names it.
#pragma once

#include <cstdint>
#include <span>

#include "vgpu/isa/instruction.h"

namespace halyard::vgpu::isa {

// The type of an operand for decoding: its number of dwords, and the meaning of an inline constant
// or a literal (Vega ISA, table "Scalar/vector source operand encodings").
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
  kMask,   // a 64-bit lane mask in scalars
  kB192,   // 32 values of 6 bits (gfx950)
  kBF16,
  kPkBF16,  // two bf16
};

struct Opcode {
  const char* mnemonic;  // lower case, without _e32, _e64, _sdwa, _dpp
  // Used when the encoding has no modifier (no neg, abs, omod, clamp, op_sel, SDWA, DPP); null if
  // there is no separate fast form.
  Handler plain;
  // Handles every modifier that the opcode's encodings allow.
  Handler general;
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

}  // namespace halyard::vgpu::isa
