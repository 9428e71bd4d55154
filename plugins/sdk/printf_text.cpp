#include "plugins/sdk/printf_text.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace halyard {
namespace {

// Fields of more characters are cut off there: a kernel must not make the host run out of memory.
constexpr int64_t kWidest = 1 << 16;

// Where the arguments come from, one after the other. Nothing: there is none left.
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  virtual ~Arguments() = default;

  // Of a vector of `elements`, the i-th of them; those of one vector are asked for in order.
  // Integers are those of their size, extended with zeros.
  virtual std::optional<uint64_t> integer(uint32_t elements, uint32_t i) = 0;
  virtual std::optional<double> real(uint32_t elements, uint32_t i) = 0;
  virtual std::optional<std::string_view> text() = 0;
};

// Up to its 0, or to the end.
std::string_view text_in(const void* bytes, size_t size) {
  const auto* const begin = static_cast<const char*>(bytes);
  return {begin, strnlen(begin, size)};
}

class MessageArguments final : public Arguments {
 public:
  explicit MessageArguments(Span<const uint64_t> words) : words_(words) {}

  std::optional<uint64_t> integer(uint32_t, uint32_t) override {
    if (next_ >= words_.size()) return std::nullopt;
    return words_[next_++];
  }
  std::optional<double> real(uint32_t, uint32_t) override {
    const auto word = integer(1, 0);
    if (!word) return std::nullopt;
    return std::bit_cast<double>(*word);
  }
  std::optional<std::string_view> text() override {
    if (next_ >= words_.size()) return std::nullopt;
    const std::string_view text =
        text_in(words_.data() + next_, (words_.size() - next_) * sizeof(uint64_t));
    next_ += std::min(text.size() / sizeof(uint64_t) + 1, words_.size() - next_);
    return text;
  }

 private:
  Span<const uint64_t> words_;
  size_t next_ = 0;
};

double widened(_Float16 half) {
  return static_cast<double>(half);
}

class RecordArguments final : public Arguments {
 public:
  RecordArguments(const PrintfFormat& format, Span<const std::byte> bytes, size_t short_strings)
      : sizes_(format.sizes),
        bytes_(bytes),
        strings_(count_strings(format.text)),
        short_strings_(std::min(short_strings, strings_)) {}

  std::optional<uint64_t> integer(uint32_t elements, uint32_t i) override {
    const auto part = element(elements, i);
    if (!part || part->size() > sizeof(uint64_t)) return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, part->data(), part->size());
    return value;
  }
  std::optional<double> real(uint32_t elements, uint32_t i) override {
    const auto part = element(elements, i);
    if (!part) return std::nullopt;
    switch (part->size()) {
      case sizeof(_Float16):
        return widened(load<_Float16>(*part));
      case sizeof(float):
        return load<float>(*part);
      case sizeof(double):
        return load<double>(*part);
      default:
        return std::nullopt;
    }
  }
  std::optional<std::string_view> text() override {
    const size_t start = at_;
    const auto whole = element(1, 0);
    if (!whole) return std::nullopt;
    size_t size = whole->size();
    if (is_short(*whole)) {
      --short_strings_;
      size -= sizeof(uint32_t);
      at_ = start + size;
    }
    if (strings_ > 0) --strings_;
    return text_in(whole->data(), size);
  }

 private:
  template <typename T>
  static T load(const Span<const std::byte>& bytes) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  // Whether the next argument begins in the last word of the string. Where only some of the strings
  // that are left are short, by what that word looks like: the end of a string, or not.
  bool is_short(const Span<const std::byte>& whole) const {
    if (short_strings_ == 0 || whole.size() < 2 * sizeof(uint32_t)) return false;
    if (short_strings_ >= strings_) return true;
    const auto last =
        load<uint32_t>({whole.data() + whole.size() - sizeof(uint32_t), sizeof(uint32_t)});
    const bool has_text = (last & 0xff) != 0;
    const bool ends = (last & 0xff00) == 0     ? (last >> 8) == 0
                      : (last & 0xff0000) == 0 ? (last >> 16) == 0
                                               : (last >> 24) == 0;
    return !(has_text && ends);
  }
  // A vector of three takes as much as one of four.
  std::optional<Span<const std::byte>> element(uint32_t elements, uint32_t i) {
    if (next_ >= sizes_.size() || sizes_[next_] > bytes_.size() - at_) return std::nullopt;
    const size_t size = sizes_[next_];
    const size_t one = size / (elements == 3 ? 4 : elements);
    const Span<const std::byte> found(bytes_.data() + at_ + i * one, one);
    if (i + 1 == elements) {
      at_ += size;
      ++next_;
    }
    return found;
  }

  const std::vector<uint32_t>& sizes_;
  Span<const std::byte> bytes_;
  size_t strings_;        // that are left
  size_t short_strings_;  // of them
  size_t next_ = 0;
  size_t at_ = 0;
};

// What stands between "%" and the next conversion.
struct Conversion {
  std::string flags;
  int64_t width = -1;      // -1: not given
  int64_t precision = -1;  // -1: not given
  uint32_t elements = 1;   // OpenCL's %v4f: of a vector
  std::string length;      // "", "hh", "h", "hl" (of vectors), "l", "ll", "j", "z", "t", "L"
  char kind = 0;           // the letter
};

bool is_one_of(char c, const char* characters) {
  return c != 0 && std::strchr(characters, c) != nullptr;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number or a "*" at `*at`; nothing if a "*" has no argument. -1 if there is neither.
std::optional<int64_t> read_number(std::string_view format, size_t* at, Arguments& arguments) {
  if (*at < format.size() && format[*at] == '*') {
    ++*at;
    const auto word = arguments.integer(1, 0);
    if (!word) return std::nullopt;
    return static_cast<int32_t>(*word);
  }
  if (*at >= format.size() || !is_digit(format[*at])) return -1;
  int64_t number = 0;
  for (; *at < format.size() && is_digit(format[*at]); ++*at) {
    number = std::min(number * 10 + (format[*at] - '0'), kWidest);
  }
  return number;
}

// `*at` is behind the "%" and comes to be behind the conversion. Nothing if there is none.
std::optional<Conversion> read_conversion(std::string_view format, size_t* at,
                                          Arguments& arguments) {
  Conversion conversion;
  while (*at < format.size() && is_one_of(format[*at], "-+ #0")) {
    conversion.flags += format[(*at)++];
  }
  auto width = read_number(format, at, arguments);
  if (!width) return std::nullopt;
  // A negative "*" is a flag and a width.
  if (*width < -1 || (*width == -1 && *at > 0 && format[*at - 1] == '*')) {
    conversion.flags += '-';
    width = -*width;
  }
  conversion.width = std::min(*width, kWidest);
  if (*at < format.size() && format[*at] == '.') {
    ++*at;
    const size_t before = *at;
    const auto precision = read_number(format, at, arguments);
    if (!precision) return std::nullopt;
    const bool is_given = *at != before;
    conversion.precision = is_given ? std::clamp<int64_t>(*precision, -1, kWidest) : 0;
  }
  if (*at < format.size() && format[*at] == 'v') {
    ++*at;
    const auto elements = read_number(format, at, arguments);
    if (!elements ||
        (*elements != 2 && *elements != 3 && *elements != 4 && *elements != 8 && *elements != 16)) {
      return std::nullopt;
    }
    conversion.elements = static_cast<uint32_t>(*elements);
  }
  while (*at < format.size() && is_one_of(format[*at], "hljztL")) {
    conversion.length += format[(*at)++];
  }
  if (*at >= format.size()) return std::nullopt;
  conversion.kind = format[(*at)++];
  return conversion;
}

// The conversion as C's printf takes it, for an argument of `length`.
std::string specification(const Conversion& conversion, const char* length) {
  std::string text = "%" + conversion.flags;
  if (conversion.width >= 0) text += std::to_string(conversion.width);
  if (conversion.precision >= 0) text += "." + std::to_string(conversion.precision);
  return text + length + conversion.kind;
}

template <typename T>
void append(std::string& text, const std::string& specification, T value) {
  // NOLINTBEGIN(clang-diagnostic-format-nonliteral): specification() makes it to fit T.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(nullptr, 0, specification.c_str(), value);
  if (length <= 0) return;
  const size_t before = text.size();
  text.resize(before + static_cast<size_t>(length) + 1);
  std::snprintf(text.data() + before, static_cast<size_t>(length) + 1, specification.c_str(),
                value);
  text.pop_back();
#pragma GCC diagnostic pop
  // NOLINTEND(clang-diagnostic-format-nonliteral)
}

int64_t as_signed(const std::string& length, uint64_t word) {
  if (length == "hh") return static_cast<int8_t>(word);
  if (length == "h") return static_cast<int16_t>(word);
  const bool is_int = length.empty() || length == "hl";
  return is_int ? static_cast<int32_t>(word) : static_cast<int64_t>(word);
}

uint64_t as_unsigned(const std::string& length, uint64_t word) {
  if (length == "hh") return static_cast<uint8_t>(word);
  if (length == "h") return static_cast<uint16_t>(word);
  const bool is_int = length.empty() || length == "hl";
  return is_int ? static_cast<uint32_t>(word) : word;
}

// False if there is no argument for it.
bool append_text(std::string& text, const Conversion& conversion, Arguments& arguments) {
  const auto string = arguments.text();
  if (!string) return false;
  Conversion bounded = conversion;
  const auto length = static_cast<int64_t>(string->size());
  bounded.precision = conversion.precision < 0 ? length : std::min(conversion.precision, length);
  append(text, specification(bounded, ""), string->data());
  return true;
}

bool append_real(std::string& text, const Conversion& conversion, Arguments& arguments,
                 uint32_t i) {
  const auto value = arguments.real(conversion.elements, i);
  if (value) append(text, specification(conversion, ""), *value);
  return value.has_value();
}

bool append_integer(std::string& text, const Conversion& conversion, Arguments& arguments,
                    uint32_t i) {
  const auto word = arguments.integer(conversion.elements, i);
  if (!word) return false;
  switch (conversion.kind) {
    case 'd':
    case 'i':
      append(text, specification(conversion, "ll"),
             static_cast<long long>(as_signed(conversion.length, *word)));
      return true;
    case 'c':
      append(text, specification(conversion, ""), static_cast<int>(*word));
      return true;
    case 'p':
      append(text, specification(conversion, ""), reinterpret_cast<const void*>(*word));
      return true;
    case 'n':
      return true;
    default:
      append(text, specification(conversion, "ll"),
             static_cast<unsigned long long>(as_unsigned(conversion.length, *word)));
      return true;
  }
}

// False if there is no argument for it, or the conversion is not known.
bool append_conversion(std::string& text, const Conversion& conversion, Arguments& arguments) {
  if (conversion.kind == 's') return append_text(text, conversion, arguments);
  const bool is_real = is_one_of(conversion.kind, "fFeEgGaA");
  if (!is_real && !is_one_of(conversion.kind, "diouxXcpn")) return false;
  for (uint32_t i = 0; i < conversion.elements; ++i) {
    if (i > 0) text += ',';
    const bool found = is_real ? append_real(text, conversion, arguments, i)
                               : append_integer(text, conversion, arguments, i);
    if (!found) return false;
  }
  return true;
}

std::string fill_in(std::string_view format, Arguments& arguments) {
  std::string text;
  for (size_t at = 0; at < format.size();) {
    const size_t percent = std::min(format.find('%', at), format.size());
    text += format.substr(at, percent - at);
    at = percent + 1;
    if (percent == format.size()) break;
    if (at < format.size() && format[at] == '%') {
      text += '%';
      ++at;
      continue;
    }
    const auto conversion = read_conversion(format, &at, arguments);
    if (!conversion || !append_conversion(text, *conversion, arguments)) break;
  }
  return text;
}

}  // namespace

std::string printf_text(Span<const uint64_t> words) {
  MessageArguments arguments(words);
  const std::string_view format = arguments.text().value_or(std::string_view());
  return fill_in(format, arguments);
}

std::string printf_text(const PrintfFormat& format, Span<const std::byte> arguments,
                        size_t short_strings) {
  RecordArguments record(format, arguments, short_strings);
  return fill_in(format.text, record);
}

size_t count_strings(std::string_view format) {
  size_t count = 0;
  for (size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    at = format.find_first_of("%diouxXfFeEgGaAcspn", at + 1);
    if (at == std::string_view::npos) break;
    if (format[at++] == 's') ++count;
  }
  return count;
}

}  // namespace halyard
