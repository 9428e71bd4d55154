#include "vgpu/isa/source_codes.h"

namespace halyard::vgpu::isa {
namespace {

bool is_64bit(Type type) {
  switch (type) {
    case Type::kB64:
    case Type::kI64:
    case Type::kF64:
    case Type::kF64x4:
    case Type::kMask:
      return true;
    default:
      return false;
  }
}

// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2π), as the operand's type sees them.
uint64_t float_constant(unsigned index, Type type) {
  static constexpr uint16_t kF16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                      0xc000, 0x4400, 0xc400, 0x3118};
  static constexpr uint32_t kF32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  static constexpr uint64_t kF64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
  if (type == Type::kF16 || type == Type::kPkF16) return kF16[index];
  // Those of bf16 are the upper halves of f32's (LLVM, SIDefines and isInlinableLiteralBF16).
  if (type == Type::kBF16 || type == Type::kPkBF16) return kF32[index] >> 16;
  return is_64bit(type) ? kF64[index] : kF32[index];
}

// -1 … -16, as wide as the type; halves of packed types are those of the 32-bit number.
uint64_t integer_constant(unsigned value, Type type) {
  const int64_t number = static_cast<int64_t>(code::kIntegerMaximum) - static_cast<int>(value);
  return is_64bit(type) ? static_cast<uint64_t>(number) : static_cast<uint32_t>(number);
}

Operand special(OperandKind kind, unsigned index = 0) {
  Operand operand;
  operand.kind = kind;
  operand.index = static_cast<uint16_t>(index);
  return operand;
}

}  // namespace

uint64_t literal_constant(uint32_t literal, Type type) {
  switch (type) {
    case Type::kI64:
      return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(literal)));
    case Type::kF64:
      return static_cast<uint64_t>(literal) << 32;
    case Type::kB16:
    case Type::kF16:
    case Type::kBF16:
      return literal & 0xffff;
    default:
      return literal;
  }
}

Operand decode_source(unsigned value, Type type, const uint32_t* literal, const char*& problem) {
  if (value >= code::kVgpr0) return vector(value - code::kVgpr0);
  if (value <= code::kSgprLast) return scalar_register(value);
  if (value <= code::kIntegerMaximum) return constant(value - code::kIntegerZero);
  if (value <= code::kIntegerMinimum) return constant(integer_constant(value, type));
  if (value >= code::kSharedBase && value <= code::kPrivateLimit)
    return special(OperandKind::kAperture, value - code::kSharedBase);
  if (value >= code::kFloatFirst && value <= code::kFloatLast)
    return constant(float_constant(value - code::kFloatFirst, type));
  switch (value) {
    case code::kVccz:
      return special(OperandKind::kVccz);
    case code::kExecz:
      return special(OperandKind::kExecz);
    case code::kScc:
      return special(OperandKind::kScc);
    case code::kLdsDirect:
      return special(OperandKind::kLdsDirect);
    case code::kLiteral:
      if (!literal) problem = "has a literal operand but no literal";
      return constant(literal ? literal_constant(*literal, type) : 0);
    default:
      problem = "has a source operand that this processor does not have";
      return {};
  }
}

}  // namespace halyard::vgpu::isa
