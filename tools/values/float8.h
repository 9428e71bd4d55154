// The 8-bit floating-point formats of OCP's specifications (OFP8 1.0, MX 1.0) and of AMD's first
// processors with them (FNUZ), as bits. LLVM's APFloat has the same names.
#pragma once

#include <cstdint>
#include <optional>

namespace halyard::values {

enum class Float8 : uint8_t {
  kE5M2,      // as IEEE 754 would have it: with infinities
  kE4M3Fn,    // finite, with one NaN of each sign
  kE5M2Fnuz,  // finite; 0x80 is the NaN, so there is no -0
  kE4M3Fnuz,
  kE8M0Fnu,  // a power of two: no sign, no zero
};

// To nearest, ties to even. Nothing for a value that the format does not have: one that rounds to
// more than its largest number, an infinity or a NaN, a sign, or zero.
std::optional<uint8_t> float8_from_double(Float8 format, double value) noexcept;

// Exact.
float float8_to_float(Float8 format, uint8_t bits) noexcept;

float float8_largest(Float8 format) noexcept;
bool float8_has_infinity(Float8 format) noexcept;

}  // namespace halyard::values
