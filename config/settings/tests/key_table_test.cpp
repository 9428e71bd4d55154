// The table's rows make sense, types that no key has so far are read, and the schema says what the
// reader does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "config/settings/documents.h"
#include "config/settings/reader.h"

namespace halyard::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(KeyTable, EveryRowIsComplete) {
  std::set<std::string_view> paths;
  for (const Key& key : key_table()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path << " is there twice";
    EXPECT_GT(key.documentation.size(), 20u) << key.path;
    EXPECT_TRUE(key.documentation.ends_with('.')) << key.path;
    EXPECT_FALSE(key.example.empty()) << key.path;
    for (const std::string_view segment : segments_of(key.path)) {
      if (!is_placeholder(segment)) continue;
      EXPECT_EQ(name_rule(segment).placeholder, segment);
    }
  }
}

// "drivers.<driver>.enabled" → "drivers: {amdgpu: {enabled: …}}", with a legal name.
std::string config_with(const Key& key, std::string_view value) {
  std::string before;
  std::string after;
  const std::vector<std::string_view> segments = segments_of(key.path);
  for (size_t i = 0; i < segments.size(); ++i) {
    std::string name(segments[i]);
    if (name == "<driver>") name = "mine";
    if (name == "<device>") name = "trainer";
    if (name == "<option>") name = "speed";
    if (name == "<vgpu>") name = "small";
    if (name == "<processor>") name = "gfx900";
    if (name == "<type>") name = "f32";
    before += name + ": " + (i + 1 < segments.size() ? "{" : "");
    after += i + 1 < segments.size() ? "}" : "";
  }
  return before + std::string(value) + after + "\n";
}

TEST(KeyTable, ExamplesAndFallbacksAreLegal) {
  for (const Key& key : key_table()) {
    for (const std::string_view value : {key.example, key.fallback}) {
      if (value.empty()) continue;
      Diagnostics diagnostics;
      SettingMap settings;
      EXPECT_TRUE(read_config_text(config_with(key, value), "f.yaml", {}, diagnostics, settings))
          << diagnostics.text();
      EXPECT_EQ(settings.size(), 1u) << key.path;
    }
  }
}

TEST(KeyTable, TypesForKeysToComeAreRead) {
  const std::vector<Key> table = {
      {.path = "wait.spin", .type = KeyType::kDuration, .min = 0, .max = 1e9},
      {.path = "pool.<driver>.limit", .type = KeyType::kSize, .min = 0, .max = 0x1p40}};
  Diagnostics diagnostics;
  SettingMap settings;
  ReadOptions options;
  options.table = table;
  EXPECT_TRUE(read_config_text("wait: {spin: 50us}\npool: {amdgpu: {limit: 1GiB}}\n", "f.yaml",
                               options, diagnostics, settings))
      << diagnostics.text();
  EXPECT_EQ(settings.at("wait.spin").value().number, 50000u);
  EXPECT_EQ(settings.at("pool.amdgpu.limit").value().number, uint64_t{1} << 30);
  EXPECT_FALSE(read_config_text("wait: {spin: 50}\n", "f.yaml", options, diagnostics, settings));
  EXPECT_THAT(diagnostics.errors(), ElementsAre(StartsWith("f.yaml:1:14: wait.spin (50) is not")));
}

// As much of JSON Schema as the schema uses.
bool fits(const nlohmann::json& schema, const nlohmann::json& value) {
  if (schema.contains("anyOf")) {
    return std::any_of(schema["anyOf"].begin(), schema["anyOf"].end(),
                       [&](const auto& one) { return fits(one, value); });
  }
  if (schema.contains("enum")) {
    const auto& words = schema["enum"];
    return std::find(words.begin(), words.end(), value) != words.end();
  }
  const auto is = [&](const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return value.is_string();
  };
  const auto& type = schema["type"];
  const bool is_type =
      type.is_array() ? std::any_of(type.begin(), type.end(), is) : is(type.get<std::string>());
  if (!is_type) return false;
  if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>())
    return false;
  if (schema.contains("maximum") && value.get<double>() > schema["maximum"].get<double>())
    return false;
  if (schema.contains("pattern") &&
      !std::regex_search(value.get<std::string>(),
                         std::regex(schema["pattern"].get<std::string>()))) {
    return false;
  }
  if (value.is_array()) {
    return value.size() >= schema.value("minItems", 0u) &&
           std::all_of(value.begin(), value.end(),
                       [&](const auto& item) { return fits(schema["items"], item); });
  }
  if (!value.is_object()) return true;
  const nlohmann::json rules = schema.value("patternProperties", nlohmann::json::object());
  for (const auto& [name, inner] : value.items()) {
    bool known = false;
    if (schema.contains("properties") && schema["properties"].contains(name)) {
      known = true;
      if (!fits(schema["properties"][name], inner)) return false;
    }
    for (const auto& [pattern, rule] : rules.items()) {
      if (!std::regex_search(name, std::regex(pattern))) continue;
      known = true;
      if (!fits(rule, inner)) return false;
    }
    if (!known) return false;
  }
  return true;
}

// JSON is YAML: the same text goes to both.
TEST(ConfigSchema, SaysWhatTheReaderSays) {
  const nlohmann::json schema = nlohmann::json::parse(json_schema());
  const std::vector<std::pair<bool, const char*>> texts = {
      {true, R"({})"},
      {true, R"({"plugins": {"paths": ["/opt/a", "b"]}})"},
      {false, R"({"plugins": {"paths": "/opt/a"}})"},
      {false, R"({"plugins": {"path": ["/opt/a"]}})"},
      {true, R"({"drivers": {"amdgpu": {"libhsa": "/opt", "enabled": true}}})"},
      {true, R"({"drivers": {"mine": {"options": {"a": 1, "b": "x"}}}})"},
      {false, R"({"drivers": {"mine": {"libhsa": "/opt"}}})"},
      {false, R"({"drivers": {"Mine": {"enabled": true}}})"},
      {true, R"({"devices": {"a": "amdgpu:0", "b": ["hip", "hip:1?x=y"]}})"},
      {false, R"({"devices": {"a": []}})"},
      {false, R"({"devices": {"a": "Amdgpu"}})"},
      {false, R"({"devices": {"amdgpu": "amdgpu:0"}})"},
      {true, R"({"virtual_gpus": {"s-1": {"memory_size": "1.5GiB", "compute_units": 8}}})"},
      {false, R"({"virtual_gpus": {"s": {"memory_size": "4"}}})"},
      {false, R"({"virtual_gpus": {"s": {"memory_size": "04GiB"}}})"},
      {false, R"({"virtual_gpus": {"s": {"compute_units": 513}}})"},
      {true, R"({"logging": {"level": "note"}})"},
      {false, R"({"logging": {"level": "notes"}})"},
      {true, R"({"processors": {"gfx90a": {"tolerances": {"f32": {"absolute": 0.5}}}}})"},
      {false, R"({"processors": {"gfx90a": {"tolerances": {"f33": {"absolute": 0.5}}}}})"},
      {false, R"({"processors": {"gfx": {"tolerances": {}}}})"},
      {false, R"({"processors": {"gfx900": {"tolerances": {"f32": {"absolute": "x"}}}}})"},
  };
  for (const auto& [good, text] : texts) {
    Diagnostics diagnostics;
    SettingMap settings;
    EXPECT_EQ(read_config_text(text, "f.yaml", {}, diagnostics, settings), good)
        << text << diagnostics.text();
    EXPECT_EQ(fits(schema, nlohmann::json::parse(text)), good) << text;
  }
}

TEST(ConfigReference, HasASectionForEveryKey) {
  const std::string page = key_reference();
  for (const Key& key : key_table()) {
    EXPECT_THAT(page, HasSubstr("### `" + std::string(key.path) + "`\n"));
  }
  size_t column = 0;
  for (const char c : page) {
    column = c == '\n' ? 0 : column + 1;
    ASSERT_LE(column, 120u);
  }
}

}  // namespace
}  // namespace halyard::config
