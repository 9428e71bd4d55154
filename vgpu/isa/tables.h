// The parts that the families' opcode tables are put together from, one for each source file.
#pragma once

#include <span>

#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {

std::span<const Opcode> scalar_alu_opcodes();      // scalar_alu.cpp
std::span<const Opcode> scalar_control_opcodes();  // scalar_control.cpp
std::span<const Opcode> scalar_memory_opcodes();   // scalar_memory.cpp
std::span<const Opcode> buffer_format_opcodes();   // buffer_format.cpp

// Of the build that calls (simd.h); all others go by simd_build().
std::span<const Opcode> flat_opcodes();         // flat.cpp
std::span<const Opcode> buffer_opcodes();       // buffer.cpp
std::span<const Opcode> simd_matrix_opcodes();  // matrix.cpp
std::span<const Opcode> simd_lds_opcodes();     // lds.cpp

}  // namespace halyard::vgpu::isa
