// src_lds_direct: a dword of LDS as a source of a vector instruction, the same in all lanes (Vega
// ISA 11.3.1, "LDS Direct Reads").
#pragma once

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// Where in LDS the operand reads, by M0.
struct LdsDirect {
  uint32_t offset = 0;  // in the work-group's LDS
  uint32_t bytes = 4;   // 1, 2 or 4
  bool is_signed = false;
};

// M0[15:0] is the byte address and M0[18:16] the type: 0 unsigned byte, 1 unsigned short, 2 dword,
// 4 signed byte, 5 signed short; the others, which have no meaning, are dwords here. The ISA
// document wants an aligned address; the bits below the type's size are left out, as an LDS atomic
// does.
LdsDirect lds_direct_of(uint32_t m0);

// What the operand is worth: extended to 32 bits, 0 if it is not inside the work-group's LDS.
[[gnu::cold]] uint32_t read_lds_direct(const Wave& wave);

// Null, or why `instruction` may not have the operands of kind kLdsDirect that it has, as the end
// of the sentence "<mnemonic> …" (LLVM, AMDGPUAsmParser::validateLdsDirect).
const char* lds_direct_problem(const Target& target, const Opcode& opcode,
                               const Instruction& instruction);

}  // namespace halyard::vgpu::isa
