// The two 16-bit floating-point formats, as bits: IEEE 754 binary16 and bfloat16.
#pragma once

#include <cstdint>

namespace halyard::values {

// To nearest, ties to even; too large values become infinity; a NaN becomes a quiet NaN.
uint16_t f16_from_double(double value) noexcept;
uint16_t bf16_from_double(double value) noexcept;

// Exact.
float f16_to_float(uint16_t bits) noexcept;
float bf16_to_float(uint16_t bits) noexcept;

}  // namespace halyard::values
