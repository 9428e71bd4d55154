// The codes of source operand fields, and the operands that they stand for.
#pragma once

#include <cstdint>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {

// Source operand encodings (Vega ISA, table "SGPR, constants and VGPR operand encodings").
namespace code {
inline constexpr unsigned kSgprLast = 127;  // SGPRs, FLAT_SCRATCH, XNACK_MASK, VCC, TTMPs, M0, EXEC
inline constexpr unsigned kIntegerZero = 128;
inline constexpr unsigned kIntegerMaximum = 192;
inline constexpr unsigned kIntegerMinimum = 208;
inline constexpr unsigned kDpp8 = 233;  // from gfx10 on
inline constexpr unsigned kDpp8Fi = 234;
inline constexpr unsigned kSharedBase = 235;
inline constexpr unsigned kPrivateLimit = 238;
inline constexpr unsigned kFloatFirst = 240;
inline constexpr unsigned kFloatLast = 248;
inline constexpr unsigned kSdwa = 249;
inline constexpr unsigned kDpp = 250;
inline constexpr unsigned kVccz = 251;
inline constexpr unsigned kExecz = 252;
inline constexpr unsigned kScc = 253;
inline constexpr unsigned kLdsDirect = 254;
inline constexpr unsigned kLiteral = 255;
inline constexpr unsigned kVgpr0 = 256;
}  // namespace code

constexpr bool is_dpp_code(unsigned source) {
  return source == code::kDpp || source == code::kDpp8 || source == code::kDpp8Fi;
}

constexpr uint32_t field(uint32_t word, unsigned low, unsigned width) {
  return (word >> low) & ((1u << width) - 1);
}

inline Operand vector(unsigned index) {
  Operand operand;
  operand.kind = OperandKind::kVector;
  operand.index = static_cast<uint16_t>(index);
  return operand;
}

inline Operand scalar_register(unsigned index) {
  Operand operand;
  operand.kind = OperandKind::kScalar;
  operand.index = static_cast<uint16_t>(index);
  return operand;
}

// `value` is one that an inline constant or a literal can have.
inline Operand constant(uint64_t value) {
  const auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  auto widening = Widening::kZero;
  uint32_t bits = low;
  if (value == Operand::kInverseOf2Pi) {
    widening = Widening::kInverseOf2Pi;
  } else if (high == ~0u && low >> 31 != 0) {
    widening = Widening::kSign;
  } else if (high != 0) {
    widening = Widening::kHigh;
    bits = high;
  }
  return {OperandKind::kConstant, static_cast<uint16_t>(widening), bits};
}

// A literal as an operand of this type sees it.
uint64_t literal_constant(uint32_t literal, Type type);

// What the 9-bit field `value` names. `literal` is the instruction's, null if it has none. Sets
// `problem`, the end of the sentence "<mnemonic> …", where there is no such operand.
Operand decode_source(unsigned value, Type type, const uint32_t* literal, const char*& problem);

}  // namespace halyard::vgpu::isa
