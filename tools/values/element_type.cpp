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

namespace halyard::values {
namespace {

struct TypeRow {
  const char* name;
  uint8_t size;  // bytes
  bool is_float;
  bool is_signed;
};
constexpr TypeRow kTypes[] = {
    {"i1", 1, false, false},  {"i8", 1, false, true},   {"i16", 2, false, true},
    {"i32", 4, false, true},  {"i64", 8, false, true},  {"u8", 1, false, false},
    {"u16", 2, false, false}, {"u32", 4, false, false}, {"u64", 8, false, false},
    {"f16", 2, true, true},   {"bf16", 2, true, true},  {"f32", 4, true, true},
    {"f64", 8, true, true},
};

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
  const unsigned bits = type == ElementType::kI1 ? 1 : static_cast<unsigned>(byte_size(type) * 8);
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
bool is_float(ElementType type) noexcept {
  return row(type).is_float;
}
bool is_signed_integer(ElementType type) noexcept {
  return row(type).is_signed && !row(type).is_float;
}

std::optional<std::string> parse_element(ElementType type, std::string_view text, void* target) {
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
      return load<double>(source);
  }
  return 0;
}

}  // namespace halyard::values
