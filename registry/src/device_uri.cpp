#include "registry/device_uri.h"

#include <fmt/format.h>

#include <algorithm>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {
namespace {

constexpr const char* kForms =
    "A device URI is driver, driver:ordinal or driver://selector,selector…, followed by "
    "?key=value&…; a selector is an ordinal, a UUID, a PCI address or a processor.";

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
// What UUIDs, PCI addresses and processors are made of.
bool is_selector(char c) {
  return is_key(c) || c == ':';
}
// What may stand unescaped in a value: anything that is printable ASCII and no part of the syntax.
bool is_plain_value(char c) {
  return c > 0x20 && c < 0x7f && c != '&' && c != '%' && c != '#';
}

constexpr const char* kOneDriver =
    "a logical device has GPUs of one driver only, which is named once, in front; for devices of "
    "two drivers give two URIs";

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Whether `text` has the form of `pattern`, in which x stands for a hexadecimal digit.
bool has_form(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(),
                    [](char c, char p) { return p == 'x' ? hex_digit(c) >= 0 : c == p; });
}

// "hip:1", which no PCI address looks like.
bool names_another_driver(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view name = text.substr(0, colon);
  const std::string_view ordinal = text.substr(colon + 1);
  return std::all_of(name.begin(), name.end(), is_name) &&
         std::any_of(name.begin(), name.end(), [](char c) { return hex_digit(c) < 0; }) &&
         std::all_of(ordinal.begin(), ordinal.end(), is_digit);
}

DeviceSelector::Kind kind_of(std::string_view text) {
  using Kind = DeviceSelector::Kind;
  if (std::all_of(text.begin(), text.end(), is_digit)) return Kind::kOrdinal;
  if (text.find(':') != std::string_view::npos) return Kind::kPciAddress;
  return text.starts_with("gfx") ? Kind::kProcessor : Kind::kUuid;
}

// What distinguishes a selector from others: neither the case of a letter nor a 0 in front does.
std::string canonical(const DeviceSelector& selector) {
  std::string text;
  for (const char c : selector.text) {
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  if (selector.kind == DeviceSelector::Kind::kOrdinal) {
    text.erase(0, std::min(text.find_first_not_of('0'), text.size() - 1));
  }
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Status parse(DeviceUri& uri) {
    HALYARD_RETURN_IF_ERROR(parse_driver(uri));
    if (text_.substr(at_).starts_with("://")) {
      at_ += 3;
      HALYARD_RETURN_IF_ERROR(parse_selectors(uri));
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
    if (at_ < text_.size()) return fail(what_may_follow(uri));
    return {};
  }

 private:
  static constexpr char kEnd = '\0';

  // Where the URI could have ended.
  const char* what_may_follow(const DeviceUri& uri) const {
    if (!uri.options.empty()) {
      return "here the URI must end, or go on with &key=value (write a special character in a "
             "value "
             "as %XX)";
    }
    if (!uri.selectors.empty()) {
      return "here the URI must end, or go on with ,selector or ?key=value";
    }
    if (uri.ordinal && peek() == ',') {
      return "only one ordinal can follow a single colon; for one device of several GPUs write "
             "driver://0,1";
    }
    if (uri.ordinal && text_.substr(at_).starts_with("://")) {
      return "no selector can follow an ordinal; write driver://0,1 for several GPUs";
    }
    if (uri.ordinal) return "here the URI must end, or go on with ?key=value";
    if (peek() == ',') return kOneDriver;
    return "here the URI must end, or go on with :ordinal, ://selector or ?key=value";
  }

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

  Status parse_selectors(DeviceUri& uri) {
    HALYARD_RETURN_IF_ERROR(parse_selector(uri));
    while (peek() == ',') {
      ++at_;
      HALYARD_RETURN_IF_ERROR(parse_selector(uri));
    }
    return {};
  }

  Status parse_selector(DeviceUri& uri) {
    const size_t begin = at_;
    const auto fail_at = [&](size_t at, std::string_view what) {
      at_ = at;
      return fail(what);
    };
    DeviceSelector selector;
    selector.text = take_while(is_selector);
    if (selector.text.empty()) {
      return fail(
          "a selector is expected, such as 0, GPU-0123456789abcdef, 0000:c1:00.0 or gfx90a");
    }
    if (selector.text.ends_with(':') && text_.substr(at_).starts_with("//")) {
      return fail_at(at_ - 1, kOneDriver);
    }
    if (names_another_driver(selector.text)) return fail_at(begin, kOneDriver);
    selector.kind = kind_of(selector.text);
    if (selector.kind == DeviceSelector::Kind::kPciAddress &&
        !has_form(selector.text, "xxxx:xx:xx.x")) {
      return fail_at(begin,
                     "with a colon in it the selector must be a PCI address in hexadecimal digits, "
                     "dddd:bb:dd.f (domain, bus, device, function)");
    }
    if (selector.kind == DeviceSelector::Kind::kOrdinal && !ordinal_of(selector.text)) {
      return fail_at(begin, "the ordinal is larger than 4294967295");
    }
    const auto same = [&](const DeviceSelector& o) { return canonical(o) == canonical(selector); };
    if (std::any_of(uri.selectors.begin(), uri.selectors.end(), same)) {
      return fail_at(begin, "the selector " + selector.text + " is given twice");
    }
    uri.selectors.push_back(std::move(selector));
    return {};
  }

  // Nothing if it does not fit.
  static std::optional<uint32_t> ordinal_of(std::string_view digits) {
    uint64_t value = 0;
    for (const char c : digits) {
      value = value * 10 + static_cast<uint64_t>(c - '0');
      if (value > UINT32_MAX) return {};
    }
    return static_cast<uint32_t>(value);
  }

  Status parse_ordinal(DeviceUri& uri) {
    const size_t begin = at_;
    const std::string_view digits = take_while(is_digit);
    if (digits.empty()) return fail("a device's ordinal is expected, a number from 0 on");
    uri.ordinal = ordinal_of(digits);
    if (!uri.ordinal) {
      at_ = begin;
      return fail("the ordinal is larger than 4294967295");
    }
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
    if (peek() != '=') return fail("= and a value are expected after the key " + option.key);
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

}  // namespace

Result<DeviceUri> parse_device_uri(std::string_view text) {
  DeviceUri uri;
  HALYARD_RETURN_IF_ERROR(Parser(text).parse(uri));
  return uri;
}

std::string to_string(const DeviceUri& uri) {
  std::string text = uri.driver;
  if (uri.ordinal) text += fmt::format(":{}", *uri.ordinal);
  const char* before = "://";
  for (const DeviceSelector& selector : uri.selectors) {
    text += fmt::format("{}{}", before, selector.text);
    before = ",";
  }
  char separator = '?';
  for (const DeviceUriOption& option : uri.options) {
    text += fmt::format("{}{}=", separator, option.key);
    for (const char c : option.value) {
      if (is_plain_value(c)) {
        text += c;
      } else {
        text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
      }
    }
    separator = '&';
  }
  return text;
}

}  // namespace halyard
