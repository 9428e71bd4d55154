#include "tools/runner/source_type.h"

#include <algorithm>

namespace halyard::runner {
namespace {

using values::ElementType;

struct NameRow {
  std::string_view name;
  ElementType type;
};
// OpenCL C's names, and C's.
constexpr NameRow kNames[] = {
    {"bool", ElementType::kI1},           {"char", ElementType::kI8},
    {"signed char", ElementType::kI8},    {"uchar", ElementType::kU8},
    {"unsigned char", ElementType::kU8},  {"short", ElementType::kI16},
    {"ushort", ElementType::kU16},        {"unsigned short", ElementType::kU16},
    {"int", ElementType::kI32},           {"uint", ElementType::kU32},
    {"unsigned int", ElementType::kU32},  {"unsigned", ElementType::kU32},
    {"long", ElementType::kI64},          {"ulong", ElementType::kU64},
    {"unsigned long", ElementType::kU64}, {"size_t", ElementType::kU64},
    {"half", ElementType::kF16},          {"_Float16", ElementType::kF16},
    {"__bf16", ElementType::kBf16},       {"float", ElementType::kF32},
    {"double", ElementType::kF64},
};

struct VectorRow {
  std::string_view suffix;
  uint32_t lanes;
};
constexpr VectorRow kVectors[] = {{"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Without the qualifiers that may stand on either side.
std::string_view unqualified(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view qualifier : {"const", "volatile", "restrict", "__restrict"}) {
    if (text.starts_with(qualifier) && text.substr(qualifier.size()).starts_with(' ')) {
      return unqualified(text.substr(qualifier.size()));
    }
    if (!text.ends_with(qualifier)) continue;
    const std::string_view rest = text.substr(0, text.size() - qualifier.size());
    if (rest.ends_with(' ') || rest.ends_with('*')) return unqualified(rest);
  }
  return text;
}

}  // namespace

std::optional<SourceType> source_type(std::string_view name) {
  SourceType type;
  name = unqualified(name);
  if (name.ends_with('*')) {
    type.is_pointer = true;
    name = unqualified(name.substr(0, name.size() - 1));
  }
  const auto find = [](std::string_view n) {
    return std::find_if(std::begin(kNames), std::end(kNames),
                        [&](const NameRow& row) { return row.name == n; });
  };
  const auto* row = find(name);
  for (const VectorRow& vector : kVectors) {
    if (row != std::end(kNames) || !name.ends_with(vector.suffix)) continue;
    row = find(name.substr(0, name.size() - vector.suffix.size()));
    type.lanes = vector.lanes;
  }
  if (row == std::end(kNames)) return std::nullopt;
  type.element = row->type;
  return type;
}

bool is_compatible(ElementType given, ElementType declared) noexcept {
  if (given == declared) return true;
  return !is_float(given) && !is_float(declared) && byte_size(given) == byte_size(declared);
}

}  // namespace halyard::runner
