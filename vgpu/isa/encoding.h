// Takes the operand fields out of an instruction's encoding (Vega ISA, chapter 13, "Microcode
// Formats").
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/matrix_layout.h"
#include "vgpu/isa/op_table.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {

// The size of an encoding in bytes; 0 if it is none.
unsigned find_size(const Target& target, const OpTable::Entry& entry, Format format,
                   const uint32_t words[]);
// Of gfx10 and later.
unsigned find_rdna_size(const Target& target, const OpTable::Entry& entry, Format format,
                        const uint32_t words[]);
// An SDWA dword with a selection that has no meaning (Vega ISA 13.3.7; gfx10 has the same dword).
bool has_reserved_selection(Format format, uint32_t w1);

// Fills the operands and modifiers. Returns null, or what cannot be executed, as the end of the
// sentence "<mnemonic> …". `words` are zero behind the instruction's end; `instruction` has its
// op, format and size.
const char* decode_fields(const Target& target, const uint32_t words[], Instruction& instruction);
// Of gfx10 and later.
const char* decode_rdna_fields(const Target& target, const uint32_t words[],
                               Instruction& instruction);

// Makes the numbers of runs of SGPRs what the hardware takes them for. Returns null, or the
// mistake.
const char* align_scalars(const Target& target, Instruction& instruction);

// True if the encoding carries a modifier that only Opcode::general understands.
bool has_modifier(const Instruction& instruction);

// How many dwords of its register file source `s` spans; 0 if the instruction has none.
unsigned source_dwords(const Instruction& instruction, unsigned s);
// And its result.
unsigned result_dwords(const Instruction& instruction);

// Where the scales of v_mfma_scale_* are; nothing of other instructions.
std::optional<Scales> scales_of(const Instruction& instruction);

// Sets Instruction::needs. Returns null, or the mistake in a register operand, as the end of the
// sentence "<mnemonic> …".
const char* register_needs(const Target& target, const Instruction& instruction, uint32_t& needs);

}  // namespace halyard::vgpu::isa
