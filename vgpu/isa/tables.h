// The parts that the families' opcode tables are put together from, one for each source file.
#pragma once

#include <span>

#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {

std::span<const Opcode> scalar_alu_opcodes();      // scalar_alu.cpp
std::span<const Opcode> scalar_control_opcodes();  // scalar_control.cpp
std::span<const Opcode> scalar_memory_opcodes();   // scalar_memory.cpp
std::span<const Opcode> flat_opcodes();            // flat.cpp
std::span<const Opcode> buffer_opcodes();          // buffer.cpp
std::span<const Opcode> buffer_format_opcodes();   // buffer_format.cpp

}  // namespace halyard::vgpu::isa
