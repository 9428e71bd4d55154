// The floats of 4 to 32 bits that matrix instructions multiply.
//
// gfx942's 8-bit floats are FNUZ (one zero, one NaN, no infinity), gfx950's are those of the Open
// Compute Project, as are its floats of 6 and 4 bits ("OCP Microscaling Formats", 5.3), which have
// neither infinities nor NaNs.
#pragma once

#include <cstdint>

#include "vgpu/isa/valu/small_floats.h"

namespace halyard::vgpu::isa::matrix {

enum class ElementFormat : uint8_t {
  kF16,
  kBf16,
  kXf32,  // f32 whose low 13 bits are ignored
  kFp8Fnuz,
  kBf8Fnuz,
  kFp8,
  kBf8,
  kFp6,  // E2M3
  kBf6,  // E3M2
  kFp4,  // E2M1
};

constexpr valu::FloatFormat float_format(ElementFormat format) {
  switch (format) {
    case ElementFormat::kF16:
      return valu::kBinary16;
    case ElementFormat::kBf16:
      return valu::kBrain16;
    case ElementFormat::kXf32:
      return {8, 10, 127, valu::Specials::kIeee};
    case ElementFormat::kFp8Fnuz:
      return valu::kE4M3Fnuz;
    case ElementFormat::kBf8Fnuz:
      return valu::kE5M2Fnuz;
    case ElementFormat::kFp8:
      return valu::kE4M3;
    case ElementFormat::kBf8:
      return valu::kE5M2;
    case ElementFormat::kFp6:
      return valu::kE2M3;
    case ElementFormat::kBf6:
      return valu::kE3M2;
    case ElementFormat::kFp4:
      return valu::kE2M1;
  }
  return {};
}

// That an element takes.
constexpr unsigned bits_of(ElementFormat format) {
  return format == ElementFormat::kXf32 ? 32 : float_format(format).bits();
}

}  // namespace halyard::vgpu::isa::matrix
