#include "registry/device_uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hal/error.h"
#include "hal/text.h"
#include "registry/load_report.h"

namespace halyard {
namespace {

constexpr const char* kForms =
    "A device URI is driver, driver:ordinal or driver://uuid, with ?key=value&… behind it.";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
}
bool is_key(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}
bool is_uuid(char c) {
  return is_key(c);
}
// What may stand unescaped in a value: anything that is printable ASCII and no part of the syntax.
bool is_plain_value(char c) {
  return c > 0x20 && c < 0x7f && c != '&' && c != '%' && c != '#';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Status parse(DeviceUri& uri) {
    HALYARD_RETURN_IF_ERROR(parse_driver(uri));
    if (text_.substr(at_).starts_with("://")) {
      at_ += 3;
      HALYARD_RETURN_IF_ERROR(parse_uuid(uri));
    } else if (peek() == ':') {
      ++at_;
      HALYARD_RETURN_IF_ERROR(parse_ordinal(uri));
    }
    if (peek() == '?') {
      do {
        ++at_;
        HALYARD_RETURN_IF_ERROR(parse_option(uri));
      } while (peek() == '&');
    }
    if (at_ < text_.size()) {
      return fail(uri.options.empty() ? "here the URI must end, or go on with :ordinal, ://uuid or "
                                        "?key=value"
                                      : "here the URI must end, or go on with &key=value (write a "
                                        "special character in a value as %XX)");
    }
    return {};
  }

 private:
  static constexpr char kEnd = '\0';

  // The next character; kEnd also stands for a NUL in the text, which nothing accepts.
  char peek() const { return at_ < text_.size() ? text_[at_] : kEnd; }

  template <typename Accept>
  std::string_view take_while(Accept accept) {
    const size_t begin = at_;
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Status fail(std::string_view what) const {
    const std::string found =
        at_ < text_.size() ? "\"" + printable(text_.substr(at_, 1)) + "\"" : "the end";
    return error(StatusCode::kInvalidArgument,
                 "The device URI ({}) is malformed at character {} ({}): {}. {}",
                 printable(text_, 200), at_ + 1, found, what, kForms);
  }

  Status parse_driver(DeviceUri& uri) {
    if (!(peek() >= 'a' && peek() <= 'z')) {
      return fail("it must start with the name of a driver, a lower-case letter first");
    }
    uri.driver = take_while(is_name);
    if (uri.driver.size() <= 64) return {};
    at_ = 64;
    return fail("a driver's name has at most 64 characters");
  }

  Status parse_uuid(DeviceUri& uri) {
    uri.uuid = take_while(is_uuid);
    if (!uri.uuid.empty()) return {};
    return fail("a UUID is expected, such as GPU-0123456789abcdef");
  }

  Status parse_ordinal(DeviceUri& uri) {
    const size_t begin = at_;
    const std::string_view digits = take_while(is_digit);
    if (digits.empty()) return fail("a device's ordinal is expected, a number from 0 on");
    uint64_t value = 0;
    for (const char c : digits) {
      value = value * 10 + static_cast<uint64_t>(c - '0');
      if (value > UINT32_MAX) {
        at_ = begin;
        return fail("the ordinal is larger than 4294967295");
      }
    }
    uri.ordinal = static_cast<uint32_t>(value);
    return {};
  }

  Status parse_option(DeviceUri& uri) {
    const size_t begin = at_;
    DeviceUriOption option;
    if (is_letter(peek())) option.key = take_while(is_key);
    if (option.key.empty()) return fail("a key is expected, a letter first");
    const auto same_key = [&](const DeviceUriOption& o) { return o.key == option.key; };
    if (std::any_of(uri.options.begin(), uri.options.end(), same_key)) {
      at_ = begin;
      return fail("the key " + option.key + " is given twice");
    }
    if (peek() != '=') return fail("= and a value are expected behind the key " + option.key);
    ++at_;
    HALYARD_RETURN_IF_ERROR(parse_value(option.value));
    uri.options.push_back(std::move(option));
    return {};
  }

  Status parse_value(std::string& value) {
    while (true) {
      value += take_while(is_plain_value);
      if (peek() != '%') return {};
      const int high = at_ + 1 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
      const int low = at_ + 2 < text_.size() ? hex_digit(text_[at_ + 2]) : -1;
      if (high < 0 || low < 0) return fail("% must be followed by two hexadecimal digits");
      if (high == 0 && low == 0) return fail("a value cannot hold a NUL");
      value += static_cast<char>(high * 16 + low);
      at_ += 3;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c + 0; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// "amdgpu:0 (Radeon RX Vega 64, gfx900, GPU-…)"
std::string describe(const std::string& driver, const DeviceSummary& device) {
  std::string text = fmt::format("{}:{} ({}", driver, device.ordinal, device.name);
  if (!device.target.empty()) text += fmt::format(", {}", device.target);
  if (!device.uuid.empty()) text += fmt::format(", {}", device.uuid);
  return text + ")";
}

std::string list_devices(const std::string& driver, const std::vector<DeviceSummary>& devices) {
  std::vector<std::string> texts;
  texts.reserve(devices.size());
  for (const DeviceSummary& device : devices) texts.push_back(describe(driver, device));
  return list_of(std::vector<std::string_view>(texts.begin(), texts.end()));
}

}  // namespace

Result<DeviceUri> parse_device_uri(std::string_view text) {
  DeviceUri uri;
  HALYARD_RETURN_IF_ERROR(Parser(text).parse(uri));
  return uri;
}

std::string to_string(const DeviceUri& uri) {
  std::string text = uri.driver;
  auto out = std::back_inserter(text);
  if (uri.ordinal) fmt::format_to(out, ":{}", *uri.ordinal);
  if (!uri.uuid.empty()) fmt::format_to(out, "://{}", uri.uuid);
  char separator = '?';
  for (const DeviceUriOption& option : uri.options) {
    fmt::format_to(out, "{}{}=", separator, option.key);
    for (const char c : option.value) {
      if (is_plain_value(c)) {
        text += c;
      } else {
        fmt::format_to(out, "%{:02X}", static_cast<unsigned char>(c));
      }
    }
    separator = '&';
  }
  return text;
}

Result<size_t> select_device(const DeviceUri& uri, const std::vector<DeviceSummary>& devices) {
  if (devices.empty()) {
    return error(StatusCode::kNotFound, "The driver {} finds no device.", uri.driver);
  }
  if (!uri.uuid.empty()) {
    for (size_t i = 0; i < devices.size(); ++i) {
      if (equal_ignoring_case(devices[i].uuid.view(), uri.uuid)) return i;
    }
    return error(StatusCode::kNotFound,
                 "The driver {} has no device with the UUID ({}). It has {}.", uri.driver, uri.uuid,
                 list_devices(uri.driver, devices));
  }
  if (!uri.ordinal) return size_t{0};
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].ordinal == *uri.ordinal) return i;
  }
  return error(StatusCode::kNotFound,
               "The driver {} has no device with the ordinal ({}). It has {}.", uri.driver,
               *uri.ordinal, list_devices(uri.driver, devices));
}

}  // namespace halyard
