// src_lds_direct: a dword of LDS as a source of a vector instruction, the same in all lanes (Vega
// ISA 11.3.1, "LDS Direct Reads").
#pragma once

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// What the operand is worth: extended to 32 bits, 0 if it is not inside the work-group's LDS.
[[gnu::cold]] uint32_t read_lds_direct(const Wave& wave);

// Null, or why `instruction` may not have the operands of kind kLdsDirect that it has, as the end
// of the sentence "<mnemonic> …" (LLVM, AMDGPUAsmParser::validateLdsDirect).
const char* lds_direct_problem(const Target& target, const Instruction& instruction);

}  // namespace halyard::vgpu::isa
