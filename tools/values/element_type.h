// The element types that buffers and scalars have on the command line and in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halyard::values {

enum class ElementType : uint8_t {
  kI1,  // one byte, 0 or 1
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBf16,
  kF32,
  kF64,
  kI4,  // in a tensor two to a byte, the first in its low half
  kU4,
  kF8E5M2,
  kF8E4M3Fn,
  kF8E5M2Fnuz,
  kF8E4M3Fnuz,
  kF8E8M0Fnu,
  kCf64,  // complex: two f32, the real part first
  kCf128,
};

// "i32", "u8", "bf16", "f8E4M3FN".
const char* to_string(ElementType type) noexcept;
// Also takes MLIR's and IREE's "ui8" … "ui64", "si8" … "si64", and "complex<f32>".
std::optional<ElementType> element_type_from_name(std::string_view name) noexcept;
// "i1, i8, …", for messages.
const std::string& element_type_names();

// Of one element on its own.
size_t byte_size(ElementType type) noexcept;
// Whether a byte of a tensor holds two elements.
bool is_half_byte(ElementType type) noexcept;
bool is_float(ElementType type) noexcept;
// The type of the two parts of a complex number; nothing for other types.
std::optional<ElementType> complex_part(ElementType type) noexcept;
bool is_signed_integer(ElementType type) noexcept;

// Reads one number and writes its byte_size(type) bytes to `target`, little endian. Integers:
// decimal, 0x… and 0b…, with a sign; i1 also true and false. Floats: decimal, hexadecimal
// (0x1.8p3), inf and nan; rounded to nearest even. Complex: "1+2i", "2i", "3". A number that the
// type cannot hold is an error, as is a float that rounds to infinity. Returns a sentence that says
// what is wrong.
std::optional<std::string> parse_element(ElementType type, std::string_view text, void* target);

// The shortest text that parse_element reads back as the same value.
std::string format_element(ElementType type, const void* source);

// The value as a number; of a complex one the real part. Exact: x86's long double holds every
// 64-bit integer.
long double element_as_number(ElementType type, const void* source) noexcept;

}  // namespace halyard::values
