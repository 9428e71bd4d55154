#include "tools/values/element_type.h"

#include <fmt/format.h>
#include <locale.h>
#include <stdlib.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tools/values/float16.h"
#include "tools/values/float8.h"

namespace halyard::values {
namespace {

struct TypeRow {
  const char* name;
  uint8_t size;  // bytes of one element
  bool is_float;
  bool is_signed;
};
constexpr TypeRow kTypes[] = {
    {"i1", 1, false, false},       {"i8", 1, false, true},       {"i16", 2, false, true},
    {"i32", 4, false, true},       {"i64", 8, false, true},      {"u8", 1, false, false},
    {"u16", 2, false, false},      {"u32", 4, false, false},     {"u64", 8, false, false},
    {"f16", 2, true, true},        {"bf16", 2, true, true},      {"f32", 4, true, true},
    {"f64", 8, true, true},        {"i4", 1, false, true},       {"u4", 1, false, false},
    {"f8E5M2", 1, true, true},     {"f8E4M3FN", 1, true, true},  {"f8E5M2FNUZ", 1, true, true},
    {"f8E4M3FNUZ", 1, true, true}, {"f8E8M0FNU", 1, true, true}, {"cf64", 8, true, true},
    {"cf128", 16, true, true},
};

std::optional<Float8> float8_of(ElementType type) noexcept {
  if (type < ElementType::kF8E5M2 || type > ElementType::kF8E8M0Fnu) return std::nullopt;
  return static_cast<Float8>(static_cast<uint8_t>(type) -
                             static_cast<uint8_t>(ElementType::kF8E5M2));
}

const TypeRow& row(ElementType type) {
  return kTypes[static_cast<size_t>(type)];
}

template <typename T>
T load(const void* source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

template <typename T>
void store(void* target, T value) {
  std::memcpy(target, &value, sizeof(T));
}

// The low half of a byte as a number from -8 to 7.
int signed_half(uint8_t byte) {
  return ((byte & 0xf) ^ 8) - 8;
}

// Text of a user's for a message: shortened, and without what would garble a terminal.
std::string quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string result = "\"";
  for (const char c : text.substr(0, kMost)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result + (text.size() > kMost ? "…\"" : "\"");
}

std::string not_a_number(ElementType type, std::string_view text) {
  return fmt::format("{} is not a number of type {}", quoted(text), to_string(type));
}

std::optional<std::string> parse_integer(ElementType type, std::string_view text, void* target) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) base = 16;
  if (digits.starts_with("0b") || digits.starts_with("0B")) base = 2;
  if (base != 10) digits.remove_prefix(2);

  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || end != digits.data() + digits.size()) return not_a_number(type, text);

  // i1 is stored in a byte but holds one bit.
  const unsigned bits = type == ElementType::kI1 ? 1
                        : is_half_byte(type)     ? 4
                                                 : static_cast<unsigned>(byte_size(type) * 8);
  const bool is_signed = is_signed_integer(type);
  const uint64_t highest = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
  const uint64_t limit = negative ? (is_signed ? highest + 1 : 0) : highest;
  if (error == std::errc::result_out_of_range || magnitude > limit) {
    return is_signed ? fmt::format("{} does not fit {}, which holds -{} to {}", quoted(text),
                                   to_string(type), highest + 1, highest)
                     : fmt::format("{} does not fit {}, which holds 0 to {}", quoted(text),
                                   to_string(type), highest);
  }
  // The low bytes of the two's complement, little endian.
  const uint64_t value = negative ? 0 - magnitude : magnitude;
  std::memcpy(target, &value, byte_size(type));
  return std::nullopt;
}

// strtod and strtof in the C locale, regardless of the process's. The locale is a static of libc.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

std::optional<std::string> parse_float(ElementType type, std::string_view text, void* target) {
  const std::string copy(text);
  // strtod skips white space, and takes "nan(…)" and "infinity" too: harmless.
  if (copy.empty() || std::isspace(static_cast<unsigned char>(copy[0])) != 0 ||
      copy.find('\0') != std::string::npos) {
    return not_a_number(type, text);
  }
  char* end = nullptr;
  // f32 has its own conversion because rounding twice is not rounding once. f16 and bf16 do go
  // through f64: that differs only for text within 2^-53 of a tie.
  double value = 0;
  if (type == ElementType::kF32) {
    const float narrow = strtof_l(copy.c_str(), &end, c_locale());
    store(target, narrow);
    value = narrow;
  } else {
    value = strtod_l(copy.c_str(), &end, c_locale());
    if (type == ElementType::kF64) store(target, value);
    if (type == ElementType::kF16) {
      store(target, f16_from_double(value));
      value = f16_to_float(load<uint16_t>(target));
    }
    if (type == ElementType::kBf16) {
      store(target, bf16_from_double(value));
      value = bf16_to_float(load<uint16_t>(target));
    }
  }
  if (end != copy.c_str() + copy.size()) return not_a_number(type, text);
  const bool says_infinity = copy.find_first_of("iI") != std::string::npos;
  if (std::isinf(value) && !says_infinity) {
    const char* largest = type == ElementType::kF16    ? "65504"
                          : type == ElementType::kBf16 ? "3.39e+38"
                          : type == ElementType::kF32  ? "3.40282347e+38"
                                                       : "1.7976931348623157e+308";
    return fmt::format("{} does not fit {}, whose largest number is {}", quoted(text),
                       to_string(type), largest);
  }
  return std::nullopt;
}

std::optional<std::string> parse_float8(ElementType type, std::string_view text, void* target) {
  double value = 0;
  if (parse_float(ElementType::kF64, text, &value)) return not_a_number(type, text);
  const Float8 format = *float8_of(type);
  const std::optional<uint8_t> bits = float8_from_double(format, value);
  if (!bits) {
    return fmt::format("{} does not fit {}, which holds {} to {}{}", quoted(text), to_string(type),
                       type == ElementType::kF8E8M0Fnu ? "powers of two from 2^-127" : "numbers up",
                       float8_largest(format), float8_has_infinity(format) ? "" : " and nan");
  }
  store(target, *bits);
  return std::nullopt;
}

// "1.5-2i", "2i", "3"; as Python writes it also "(1+2j)".
std::optional<std::string> parse_complex(ElementType type, std::string_view text, void* target) {
  const ElementType part = *complex_part(type);
  auto* const parts = static_cast<std::byte*>(target);
  std::memset(parts, 0, byte_size(type));
  std::string_view rest = text;
  if (rest.starts_with('(') && rest.ends_with(')')) rest = rest.substr(1, rest.size() - 2);
  std::string_view imaginary;
  if (rest.ends_with('i') || rest.ends_with('j')) {
    imaginary = rest.substr(0, rest.size() - 1);
    // The last sign that is not an exponent's.
    size_t at = imaginary.size();
    while (at > 0) {
      --at;
      if (imaginary[at] != '+' && imaginary[at] != '-') continue;
      const char before = at == 0 ? '\0' : imaginary[at - 1];
      if (before != 'e' && before != 'E' && before != 'p' && before != 'P') break;
    }
    rest = imaginary.substr(0, at);
    imaginary.remove_prefix(at);
    if (imaginary.empty() || parse_float(part, imaginary, parts + byte_size(part)))
      return not_a_number(type, text);
  }
  if (rest.empty() && !imaginary.empty()) return std::nullopt;
  if (parse_float(part, rest, parts)) return not_a_number(type, text);
  return std::nullopt;
}

// The shortest text that rounds to the same bits.
std::string format_float8(ElementType type, uint8_t bits) {
  const Float8 format = *float8_of(type);
  const float value = float8_to_float(format, bits);
  if (!std::isfinite(value)) return fmt::format("{}", value);
  double read = value;
  for (int digits = 1; digits <= 9; ++digits) {
    read = strtod_l(fmt::format("{:.{}g}", value, digits).c_str(), nullptr, c_locale());
    if (float8_from_double(format, read) == bits) break;
  }
  // Whole numbers are exact.
  return fmt::format("{}", std::fabs(value) < 65536 && value == std::trunc(value) ? value : read);
}

std::string format_complex(ElementType type, const void* source) {
  const ElementType part = *complex_part(type);
  const auto* const parts = static_cast<const std::byte*>(source);
  const std::string imaginary = format_element(part, parts + byte_size(part));
  return fmt::format("{}{}{}i", format_element(part, parts), imaginary.starts_with('-') ? "" : "+",
                     imaginary);
}

std::string format_float16(ElementType type, uint16_t bits) {
  const bool half = type == ElementType::kF16;
  const float value = half ? f16_to_float(bits) : bf16_to_float(bits);
  // Whole numbers up to f16's largest are exact, though fewer digits would do (65500 for 65504).
  const bool whole = std::fabs(value) < 65536 && value == std::trunc(value);
  if (!std::isfinite(value) || whole) return fmt::format("{}", value);
  // 5 digits tell any two binary16 numbers apart, 4 any two bfloat16 ones.
  double read = 0;
  for (int digits = 1; digits <= 5; ++digits) {
    read = strtod_l(fmt::format("{:.{}g}", value, digits).c_str(), nullptr, c_locale());
    if ((half ? f16_from_double(read) : bf16_from_double(read)) == bits) break;
  }
  return fmt::format("{}", read);
}

}  // namespace

const char* to_string(ElementType type) noexcept {
  return row(type).name;
}

std::optional<ElementType> element_type_from_name(std::string_view name) noexcept {
  if (name == "complex<f32>") return ElementType::kCf64;
  if (name == "complex<f64>") return ElementType::kCf128;
  if (name.starts_with("si")) {
    const auto type = element_type_from_name(name.substr(1));
    if (!type || *type == ElementType::kI1 || !is_signed_integer(*type)) return std::nullopt;
    return type;
  }
  if (name == "ui4") return ElementType::kU4;
  if (name.starts_with("ui")) {
    const auto type = element_type_from_name(name.substr(1));  // "ui8" → "i8"
    if (!type || *type == ElementType::kI1 || !is_signed_integer(*type)) return std::nullopt;
    constexpr auto kToUnsigned =
        static_cast<uint8_t>(ElementType::kU8) - static_cast<uint8_t>(ElementType::kI8);
    return static_cast<ElementType>(static_cast<uint8_t>(*type) + kToUnsigned);
  }
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (name == kTypes[i].name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

const std::string& element_type_names() {
  static const std::string names = [] {
    std::string list;
    for (const TypeRow& type : kTypes) list += (list.empty() ? "" : ", ") + std::string(type.name);
    return list;
  }();
  return names;
}

size_t byte_size(ElementType type) noexcept {
  return row(type).size;
}
bool is_half_byte(ElementType type) noexcept {
  return type == ElementType::kI4 || type == ElementType::kU4;
}
std::optional<ElementType> complex_part(ElementType type) noexcept {
  if (type == ElementType::kCf64) return ElementType::kF32;
  if (type == ElementType::kCf128) return ElementType::kF64;
  return std::nullopt;
}
bool is_float(ElementType type) noexcept {
  return row(type).is_float;
}
bool is_signed_integer(ElementType type) noexcept {
  return row(type).is_signed && !row(type).is_float;
}

std::optional<std::string> parse_element(ElementType type, std::string_view text, void* target) {
  if (complex_part(type)) return parse_complex(type, text, target);
  if (float8_of(type)) return parse_float8(type, text, target);
  if (is_float(type)) return parse_float(type, text, target);
  if (type == ElementType::kI1 && (text == "true" || text == "false")) {
    store<uint8_t>(target, text == "true" ? 1 : 0);
    return std::nullopt;
  }
  return parse_integer(type, text, target);
}

std::string format_element(ElementType type, const void* source) {
  switch (type) {
    case ElementType::kI8:
      return fmt::format("{}", static_cast<int>(load<int8_t>(source)));
    case ElementType::kI16:
      return fmt::format("{}", load<int16_t>(source));
    case ElementType::kI32:
      return fmt::format("{}", load<int32_t>(source));
    case ElementType::kI64:
      return fmt::format("{}", load<int64_t>(source));
    // A kernel can leave any byte in an i1 buffer: other values than 0 and 1 are shown unchanged.
    case ElementType::kI1:
    case ElementType::kU8:
      return fmt::format("{}", static_cast<unsigned>(load<uint8_t>(source)));
    case ElementType::kU16:
      return fmt::format("{}", load<uint16_t>(source));
    case ElementType::kU32:
      return fmt::format("{}", load<uint32_t>(source));
    case ElementType::kU64:
      return fmt::format("{}", load<uint64_t>(source));
    case ElementType::kF16:
    case ElementType::kBf16:
      return format_float16(type, load<uint16_t>(source));
    case ElementType::kF32:
      return fmt::format("{}", load<float>(source));
    case ElementType::kF64:
      return fmt::format("{}", load<double>(source));
    case ElementType::kI4:
      return fmt::format("{}", signed_half(load<uint8_t>(source)));
    case ElementType::kU4:
      return fmt::format("{}", load<uint8_t>(source) & 0xf);
    case ElementType::kF8E5M2:
    case ElementType::kF8E4M3Fn:
    case ElementType::kF8E5M2Fnuz:
    case ElementType::kF8E4M3Fnuz:
    case ElementType::kF8E8M0Fnu:
      return format_float8(type, load<uint8_t>(source));
    case ElementType::kCf64:
    case ElementType::kCf128:
      return format_complex(type, source);
  }
  return {};
}

long double element_as_number(ElementType type, const void* source) noexcept {
  switch (type) {
    case ElementType::kI8:
      return load<int8_t>(source);
    case ElementType::kI16:
      return load<int16_t>(source);
    case ElementType::kI32:
      return load<int32_t>(source);
    case ElementType::kI64:
      return static_cast<long double>(load<int64_t>(source));
    case ElementType::kI1:
    case ElementType::kU8:
      return load<uint8_t>(source);
    case ElementType::kU16:
      return load<uint16_t>(source);
    case ElementType::kU32:
      return load<uint32_t>(source);
    case ElementType::kU64:
      return static_cast<long double>(load<uint64_t>(source));
    case ElementType::kF16:
      return f16_to_float(load<uint16_t>(source));
    case ElementType::kBf16:
      return bf16_to_float(load<uint16_t>(source));
    case ElementType::kF32:
      return load<float>(source);
    case ElementType::kF64:
    case ElementType::kCf128:
      return load<double>(source);
    case ElementType::kCf64:
      return load<float>(source);
    case ElementType::kI4:
      return signed_half(load<uint8_t>(source));
    case ElementType::kU4:
      return load<uint8_t>(source) & 0xf;
    case ElementType::kF8E5M2:
    case ElementType::kF8E4M3Fn:
    case ElementType::kF8E5M2Fnuz:
    case ElementType::kF8E4M3Fnuz:
    case ElementType::kF8E8M0Fnu:
      return float8_to_float(*float8_of(type), load<uint8_t>(source));
  }
  return 0;
}

}  // namespace halyard::values
