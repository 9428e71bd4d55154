// Takes the operand fields out of an instruction's encoding (Vega ISA, chapter 13, "Microcode
// Formats").
#pragma once

#include <cstdint>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {

// The format that the first dword belongs to.
Format format_of(uint32_t word0);

// Fills everything but execute, mnemonic, opcode and size. `size` is what LLVM says; `words` are
// the first two dwords of the instruction, zero where it is shorter. Returns null, or what cannot
// be decoded, as the end of the sentence "<mnemonic> …".
const char* decode_fields(const Target& target, const Opcode& opcode, const uint32_t words[2],
                          unsigned size, Instruction& instruction);

// True if the encoding carries a modifier that only Opcode::general understands.
bool has_modifier(const Instruction& instruction);

// Sets Instruction::needs. Returns null, or the mistake in a register operand, as the end of the
// sentence "<mnemonic> …".
const char* register_needs(const Target& target, const Instruction& instruction, uint64_t& needs);

// How many dwords of a register file an operand of this type spans.
unsigned dwords_of(Type type);

}  // namespace halyard::vgpu::isa
