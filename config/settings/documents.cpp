#include "config/settings/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace halyard::config {

namespace {

using Json = nlohmann::ordered_json;

struct Row {
  const Key* key;
  std::vector<std::string_view> segments;
};

std::string number_pattern(const char* units) {
  return fmt::format("^(0|[1-9][0-9]*)?(\\.[0-9]+)?([eE][0-9]+)? *({})$", units);
}

// What stands for the whole of a URI's grammar, which the reader knows: a driver's name first.
const char* const kUriPattern = "^[a-z][a-z0-9_]*(:|\\?|$)";

Json leaf(const Key& key) {
  Json schema;
  switch (key.type) {
    case KeyType::kText:
      schema["type"] = Json::array({"string", "number", "boolean"});
      break;
    case KeyType::kLibrary:
    case KeyType::kProfile:
      schema = {{"type", "string"}, {"minLength", 1}};
      break;
    case KeyType::kPaths:
      schema = {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}};
      break;
    case KeyType::kDevices: {
      const Json uri = {{"type", "string"}, {"pattern", kUriPattern}};
      schema["anyOf"] =
          Json::array({uri, Json{{"type", "array"}, {"minItems", 1}, {"items", uri}}});
      break;
    }
    case KeyType::kBoolean:
      schema["type"] = "boolean";
      break;
    case KeyType::kInteger:
      schema = {{"type", "integer"},
                {"minimum", static_cast<uint64_t>(key.min)},
                {"maximum", static_cast<uint64_t>(key.max)}};
      break;
    case KeyType::kNumber:
      schema = {{"type", "number"}, {"minimum", key.min}, {"maximum", key.max}};
      break;
    case KeyType::kSize:
      schema = {{"type", "string"}, {"pattern", number_pattern("B|[KMGT]iB|[KMGT]B")}};
      break;
    case KeyType::kDuration:
      schema = {{"type", "string"}, {"pattern", number_pattern("ns|us|ms|s")}};
      break;
    case KeyType::kChoice:
      schema["enum"] = key.values;
      break;
  }
  schema["description"] = fmt::format("{} It is {}.", key.documentation, legal_values(key));
  if (key.type == KeyType::kBoolean && !key.fallback.empty()) {
    schema["default"] = key.fallback == "true";
  } else if (!key.fallback.empty()) {
    schema["default"] = key.fallback;
  }
  return schema;
}

// The pattern without the names that have rows of their own: JSON Schema would apply both.
std::string pattern_of(const NameRule& rule, const std::vector<std::string>& own) {
  std::vector<std::string> not_these = rule.not_these;
  for (const std::string& name : own) {
    const bool is_new = std::find(not_these.begin(), not_these.end(), name) == not_these.end();
    if (is_new && accepts(rule, name)) not_these.push_back(name);
  }
  const std::string lookahead =
      not_these.empty() ? "" : fmt::format("(?!({})$)", fmt::join(not_these, "|"));
  return fmt::format("^{}({})$", lookahead, rule.pattern);
}

Json level(const std::vector<Row>& rows, size_t depth) {
  if (rows.front().segments.size() == depth) return leaf(*rows.front().key);
  std::vector<std::string> names;
  std::vector<std::string_view> placeholders;
  for (const Row& row : rows) {
    const std::string_view segment = row.segments[depth];
    const auto add = [&](auto& list) {
      if (std::find(list.begin(), list.end(), segment) == list.end()) list.emplace_back(segment);
    };
    if (is_placeholder(segment)) {
      add(placeholders);
    } else {
      add(names);
    }
  }
  Json schema = {{"type", "object"}};
  for (const std::string& name : names) {
    std::vector<Row> inner;
    for (const Row& row : rows) {
      const std::string_view segment = row.segments[depth];
      const bool fits =
          is_placeholder(segment) ? accepts(name_rule(segment), name) : segment == name;
      if (fits) inner.push_back(row);
    }
    schema["properties"][name] = level(inner, depth + 1);
  }
  for (const std::string_view placeholder : placeholders) {
    std::vector<Row> inner;
    for (const Row& row : rows) {
      if (row.segments[depth] == placeholder) inner.push_back(row);
    }
    schema["patternProperties"][pattern_of(name_rule(placeholder), names)] =
        level(inner, depth + 1);
  }
  schema["additionalProperties"] = false;
  return schema;
}

std::string wrapped(std::string_view text) {
  constexpr size_t kWidth = 100;
  std::istringstream words{std::string(text)};
  std::string lines;
  size_t column = 0;
  for (std::string word; words >> word;) {
    if (column != 0 && column + 1 + word.size() > kWidth) {
      lines += "\n";
      column = 0;
    }
    if (column != 0) lines += " ";
    lines += word;
    column += (column != 0 ? 1 : 0) + word.size();
  }
  return lines;
}

}  // namespace

std::string json_schema(std::span<const Key> table) {
  std::vector<Row> rows;
  for (const Key& key : table) rows.push_back({&key, segments_of(key.path)});
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "Config of Halyard"},
                 {"$comment", "Generated from config/settings/key_table.cpp."}};
  schema.update(level(rows, 0));
  return schema.dump(2) + "\n";
}

std::string key_reference(std::span<const Key> table) {
  std::string text;
  for (const Key& key : table) {
    text += fmt::format("### `{}`\n\n", key.path);
    std::string facts = fmt::format("- {}", legal_values(key));
    if (!key.fallback.empty()) facts += fmt::format("; without the key `{}`", key.fallback);
    facts += fmt::format("\n- for example `{}: {}`\n", segments_of(key.path).back(), key.example);
    if (!key.environment.empty()) facts += fmt::format("- environment: `{}`\n", key.environment);
    if (!key.flag.empty()) facts += fmt::format("- flag: `{}`\n", key.flag);
    if (!key.uri_parameter.empty()) {
      facts += fmt::format("- parameter of a device URI: `?{}=…`\n", key.uri_parameter);
    }
    for (const std::string_view segment : segments_of(key.path)) {
      if (!is_placeholder(segment)) continue;
      facts += fmt::format("- `{}`: {}\n", segment, name_rule(segment).description);
    }
    text += facts + "\n" + wrapped(key.documentation) + "\n\n";
  }
  text.pop_back();
  return text;
}

}  // namespace halyard::config
