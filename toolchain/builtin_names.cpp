#include "toolchain/builtin_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace halyard::toolchain {
namespace {

struct MangledType;
using TypeRef = std::shared_ptr<const MangledType>;

struct MangledType {
  enum class Kind {
    kBuiltin,    // "f", "Dh"
    kNamed,      // "12memory_order"
    kWrapped,    // "Dv4_" or "U7_Atomic" in front of the inner type
    kQualified,  // address space and const or volatile; only behind a pointer
    kPointer,
  };
  Kind kind = Kind::kBuiltin;
  std::string text = {};   // of kQualified: "VK" and the like
  std::string space = {};  // of kQualified: the number; empty for the generic one
  TypeRef inner = {};
};
using Kind = MangledType::Kind;

// "_" is 0, "0_" is 1, "A_" is 11.
constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

class NameReader {
 public:
  explicit NameReader(std::string_view text) : rest_(text) {}

  // "_Z5fract", up to the parameters.
  std::optional<std::string_view> function() {
    const std::string_view all = rest_;
    if (!take("_Z") || !source_name()) return std::nullopt;
    return all.substr(0, all.size() - rest_.size());
  }
  bool at_end() const { return rest_.empty(); }

  // Null for a type that no builtin has.
  TypeRef type() {
    if (depth_ == kDeepest) return nullptr;
    ++depth_;
    TypeRef type = type_within();
    --depth_;
    return type;
  }

 private:
  // Itanium C++ ABI, "Builtin types": void to double, and the ellipsis.
  static constexpr std::string_view kBuiltins = "vwbcahstijlmxyfdez";
  static constexpr size_t kDeepest = 16;

  TypeRef type_within() {
    if (take("P")) return pointer();
    if (take("S")) return substitution();
    const std::string_view before = rest_;
    if (take("Dv")) {
      const size_t end = rest_.find('_');
      if (end == std::string_view::npos) return nullptr;
      rest_.remove_prefix(end + 1);
      return wrapped(before);
    }
    if (take("U")) return source_name() ? wrapped(before) : nullptr;
    if (take("Dh")) return make({Kind::kBuiltin, "Dh"});
    if (const auto name = source_name()) return remember({Kind::kNamed, std::string(*name)});
    if (rest_.empty() || kBuiltins.find(rest_.front()) == std::string_view::npos) return nullptr;
    const std::string letter(rest_.substr(0, 1));
    rest_.remove_prefix(1);
    return make({Kind::kBuiltin, letter});
  }
  static TypeRef make(MangledType type) {
    return std::make_shared<const MangledType>(std::move(type));
  }
  TypeRef remember(MangledType type) {
    substitutes_.push_back(make(std::move(type)));
    return substitutes_.back();
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  // "5fract", whole.
  std::optional<std::string_view> source_name() {
    size_t length = 0;
    const char* const begin = rest_.data();
    const auto [end, wrong] = std::from_chars(begin, begin + rest_.size(), length);
    const auto digits = static_cast<size_t>(end - begin);
    if (wrong != std::errc() || length > rest_.size() - digits) return std::nullopt;
    const std::string_view whole = rest_.substr(0, digits + length);
    rest_.remove_prefix(whole.size());
    return whole;
  }
  // What has been taken since `before`, and the type behind it.
  TypeRef wrapped(std::string_view before) {
    const std::string text(before.substr(0, before.size() - rest_.size()));
    const TypeRef inner = type();
    return inner ? remember({Kind::kWrapped, text, "", inner}) : nullptr;
  }
  TypeRef pointer() {
    std::string space;
    std::string qualifiers;
    const std::string_view before = rest_;
    if (rest_.starts_with('U')) {
      rest_.remove_prefix(1);
      const auto name = source_name();
      const size_t at = name ? name->find("AS") : std::string_view::npos;
      if (at == std::string_view::npos) {
        rest_ = before;  // _Atomic, which is a type
      } else {
        space = name->substr(at + 2);
      }
    }
    while (!rest_.empty() &&
           std::string_view("rVK").find(rest_.front()) != std::string_view::npos) {
      qualifiers += rest_.front();
      rest_.remove_prefix(1);
    }
    if (space == "0") space.clear();
    TypeRef pointee = type();
    if (!pointee) return nullptr;
    // Counts among the substitutes even where it is not spelled.
    if (pointee->kind != Kind::kQualified) {
      pointee = remember({Kind::kQualified, qualifiers, space, pointee});
    }
    return remember({Kind::kPointer, "", "", pointee});
  }
  TypeRef substitution() {
    size_t number = 0;
    for (bool is_first = true; !take("_"); is_first = false) {
      const size_t digit = rest_.empty() ? kDigits.npos : kDigits.find(rest_.front());
      if (digit == kDigits.npos || number > substitutes_.size()) return nullptr;
      number = is_first ? digit + 1 : (number - 1) * kDigits.size() + digit + 1;
      rest_.remove_prefix(1);
    }
    return number < substitutes_.size() ? substitutes_[number] : nullptr;
  }

  std::string_view rest_;
  std::vector<TypeRef> substitutes_;
  size_t depth_ = 0;
};

class NameWriter {
 public:
  explicit NameWriter(bool spelled) : spelled_(spelled) {}

  std::string type(const MangledType& type) {
    if (type.kind == Kind::kBuiltin) return type.text;
    const std::string key = key_of(type);
    const auto found = std::find(written_.begin(), written_.end(), key);
    if (found != written_.end()) return reference(static_cast<size_t>(found - written_.begin()));
    std::string text = head_of(type);
    if (type.inner) text += this->type(*type.inner);
    written_.push_back(key);
    return text;
  }

 private:
  std::string head_of(const MangledType& type) const {
    if (type.kind == Kind::kPointer) return "P";
    if (type.kind != Kind::kQualified) return type.text;
    if (type.space.empty()) return (spelled_ ? "U3AS0" : "") + type.text;
    return "U" + std::to_string(type.space.size() + 2) + "AS" + type.space + type.text;
  }
  // The same for equal types, and only for them.
  static std::string key_of(const MangledType& type) {
    std::string key = type.kind == Kind::kPointer ? "P" : type.text;
    if (type.kind == Kind::kQualified) key += "AS" + type.space + "_";
    return key + (type.inner ? key_of(*type.inner) : "");
  }
  static std::string reference(size_t number) {
    std::string digits;
    for (size_t rest = number; rest > 0; rest = (rest - 1) / kDigits.size()) {
      digits.insert(digits.begin(), kDigits[(rest - 1) % kDigits.size()]);
    }
    return "S" + digits + "_";
  }

  bool spelled_;
  std::vector<std::string> written_;
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

// The name at the beginning of the text.
std::string_view name_at(std::string_view text) {
  return text.substr(
      0, static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_name_letter) -
                             text.begin()));
}

// The declared functions with another name in the library.
std::map<std::string, std::string, std::less<>> renamings(const BuiltinLibrary& library,
                                                          std::string_view ir) {
  std::map<std::string, std::string, std::less<>> names;
  for (size_t line = 0; line < ir.size();) {
    const size_t end = std::min(ir.find('\n', line), ir.size());
    const std::string_view text = ir.substr(line, end - line);
    const size_t at = text.find("@_Z");
    if (text.starts_with("declare ") && at != std::string_view::npos) {
      const std::string_view name = name_at(text.substr(at + 1));
      if (auto other = library.other_name(name)) names.emplace(name, *std::move(other));
    }
    line = end + 1;
  }
  return names;
}

}  // namespace

std::optional<std::string> respelled(std::string_view name, bool spelled) {
  NameReader reader(name);
  const auto function = reader.function();
  if (!function) return std::nullopt;
  std::string text(*function);
  NameWriter writer(spelled);
  while (!reader.at_end()) {
    const TypeRef type = reader.type();
    if (!type) return std::nullopt;
    text += writer.type(*type);
  }
  return text;
}

bool BuiltinLibrary::has(std::string_view name) const {
  // Bitcode has the names of its symbols as plain text, one behind the other.
  return text_.find(name) != std::string_view::npos;
}

std::optional<std::string> BuiltinLibrary::other_name(std::string_view name) const {
  for (const bool spelled : {true, false}) {
    std::optional<std::string> other = respelled(name, spelled);
    if (other && *other != name && has(*other) && !has(name)) return other;
  }
  return std::nullopt;
}

bool needs_other_names(std::span<const std::byte> object, const BuiltinLibrary& library) {
  const std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
  constexpr std::string_view kBegin("\0_Z", 3);
  for (size_t at = text.find(kBegin); at != std::string_view::npos;
       at = text.find(kBegin, at + 1)) {
    if (library.other_name(name_at(text.substr(at + 1)))) return true;
  }
  return false;
}

std::string with_names_of(const BuiltinLibrary& library, std::string_view ir) {
  const auto names = renamings(library, ir);
  std::string text;
  for (size_t at = 0; at < ir.size();) {
    // Up to the next name; strings and comments stay as they are.
    const size_t next = std::min(ir.find_first_of("@\";", at), ir.size());
    text += ir.substr(at, next - at);
    at = next;
    if (at == ir.size()) break;
    if (ir[at] == '@') {
      const std::string_view name = name_at(ir.substr(at + 1));
      const auto found = names.find(name);
      text += '@';
      text += found == names.end() ? name : std::string_view(found->second);
      at += 1 + name.size();
    } else {
      const size_t end = ir.find(ir[at] == '"' ? '"' : '\n', at + 1);
      const size_t behind = end == std::string_view::npos ? ir.size() : end + 1;
      text += ir.substr(at, behind - at);
      at = behind;
    }
  }
  return text;
}

}  // namespace halyard::toolchain
