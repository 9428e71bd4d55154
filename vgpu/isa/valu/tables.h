// The parts of SimdBuild::vector, one for each file of tables.
#pragma once

#include <span>

#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa::valu {

std::span<const Opcode> integer_opcodes();
std::span<const Opcode> float32_opcodes();
std::span<const Opcode> float64_opcodes();
std::span<const Opcode> float16_opcodes();
std::span<const Opcode> integer16_opcodes();
std::span<const Opcode> packed_opcodes();
std::span<const Opcode> transcendental_opcodes();
std::span<const Opcode> byte_opcodes();
std::span<const Opcode> conversion_opcodes();
std::span<const Opcode> compare_float_opcodes();
std::span<const Opcode> compare_integer_opcodes();
std::span<const Opcode> lane_access_opcodes();
std::span<const Opcode> small_float_opcodes();
std::span<const Opcode> scaled_conversion_opcodes();
std::span<const Opcode> truth_table_opcodes();

}  // namespace halyard::vgpu::isa::valu
