// Reads and writes scalar operands.
#pragma once

#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// What the kinds other than registers and constants read as. Rare: kept out of line.
[[gnu::cold]] uint64_t read_special(const Wave& wave, const Operand& operand);

inline uint32_t read32(const Wave& wave, const Operand& operand) {
  if (operand.kind == OperandKind::kScalar) return wave.sgpr[operand.index];
  if (operand.kind == OperandKind::kConstant) return operand.bits;
  return static_cast<uint32_t>(read_special(wave, operand));
}

inline uint64_t read64(const Wave& wave, const Operand& operand) {
  if (operand.kind == OperandKind::kScalar) return wave.scalar64(operand.index);
  if (operand.kind == OperandKind::kConstant) return operand.value();
  return read_special(wave, operand);
}

template <class T>
T read(const Wave& wave, const Operand& operand) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(read64(wave, operand));
  } else {
    return static_cast<T>(read32(wave, operand));
  }
}

template <class T>
void write(Wave& wave, const Register& operand, T value) {
  if constexpr (sizeof(T) == 8) {
    wave.set_scalar64(operand.index, static_cast<uint64_t>(value));
  } else {
    wave.sgpr[operand.index] = static_cast<uint32_t>(value);
  }
}

}  // namespace halyard::vgpu::isa
