#include "config/settings/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "config/scalars.h"
#include "hal/status.h"
#include "registry/device_uri.h"

namespace halyard::config {

namespace {

// A row of the table with its path taken apart.
struct KeyRow {
  const Key* key;
  std::vector<std::string_view> segments;
};

bool matches(std::string_view segment, std::string_view name) {
  if (!is_placeholder(segment)) return segment == name;
  return accepts(name_rule(segment), name);
}

// The mistake in a text as a value of the key; nothing if it is set in `value`.
std::string read_value(const Key& key, std::string_view text, Value& value) {
  value.text = text;
  const auto min = static_cast<uint64_t>(key.min);
  const auto max = static_cast<uint64_t>(key.max);
  switch (key.type) {
    case KeyType::kBoolean:
      return read_boolean(text, value.truth);
    case KeyType::kInteger:
      return read_integer(text, value.number, min, max);
    case KeyType::kNumber:
      return read_number(text, value.real, key.min, key.max);
    case KeyType::kSize:
      return read_quantity(text, Quantity::kSize, value.number, min, max);
    case KeyType::kDuration:
      return read_quantity(text, Quantity::kDuration, value.number, min, max);
    case KeyType::kChoice:
      return read_choice(text, value.text, key.values);
    case KeyType::kDevices: {
      const Result<DeviceUri> uri = parse_device_uri(text);
      if (uri.ok()) return {};
      return fmt::format("is not a device URI. {}", uri.status().message().view());
    }
    case KeyType::kText:
    case KeyType::kLibrary:
    case KeyType::kPaths:
    case KeyType::kProfile:
      break;
  }
  if (text.find('\0') != std::string_view::npos) return "contains a NUL character.";
  const bool may_be_empty = key.type == KeyType::kText;
  return text.empty() && !may_be_empty ? fmt::format("is empty; it must be {}.", legal_values(key))
                                       : std::string();
}

// Paths in a file are relative to the file's folder.
void make_absolute(const Key& key, const std::string& file, Value& value) {
  namespace fs = std::filesystem;
  const std::string name = value.text.substr(0, value.text.find(','));
  const bool has_slash = value.text.find('/') != std::string::npos;
  const bool is_path = key.type == KeyType::kPaths ||
                       (key.type == KeyType::kLibrary && has_slash) ||
                       (key.type == KeyType::kProfile && (has_slash || name.ends_with(".yaml")));
  if (!is_path || fs::path(value.text).is_absolute()) return;
  std::error_code code;
  const fs::path folder = fs::absolute(fs::path(file).parent_path(), code);
  value.text = (folder / value.text).lexically_normal().string();
}

class TableReader {
 public:
  TableReader(const ReadOptions& options, const std::string& file, Diagnostics& diagnostics,
              SettingMap& settings)
      : options_(options), file_(file), diagnostics_(diagnostics), settings_(settings) {}

  void read(const Map& root) {
    std::vector<KeyRow> rows;
    for (const Key& key : options_.table) rows.push_back({&key, segments_of(key.path)});
    size_t depth = 0;
    if (!options_.below.empty()) {
      for (const std::string_view name : segments_of(options_.below)) {
        rows = below(rows, depth++, name);
      }
    }
    read_level(root, rows, depth, options_.below);
  }

 private:
  static std::vector<KeyRow> below(const std::vector<KeyRow>& rows, size_t depth,
                                   std::string_view name) {
    std::vector<KeyRow> inner;
    for (const KeyRow& row : rows) {
      if (row.segments.size() > depth && matches(row.segments[depth], name)) inner.push_back(row);
    }
    return inner;
  }

  void read_level(Map map, const std::vector<KeyRow>& rows, size_t depth, const std::string& path) {
    for (const KeyRow& row : rows) map.expect(row.segments[depth]);
    std::set<std::string> seen;
    for (const std::string& name : map.keys()) {
      if (!seen.insert(name).second) continue;  // the Map has reported the second one
      const std::vector<KeyRow> inner = below(rows, depth, name);
      if (inner.empty()) {
        refuse_name(map, rows, depth, name, path);
        continue;
      }
      const std::string full = path.empty() ? name : path + "." + name;
      if (inner.front().segments.size() == depth + 1) {
        read_leaf(map, *inner.front().key, name, full);
      } else {
        read_level(map.child(name), inner, depth + 1, full);
      }
    }
    map.finish();
  }

  // Says which names are legal where the author chooses them; finish() says the rest.
  static void refuse_name(Map& map, const std::vector<KeyRow>& rows, size_t depth,
                          const std::string& name, const std::string& path) {
    const auto chosen = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& row) {
      return is_placeholder(row.segments[depth]);
    });
    if (chosen == rows.end()) return;
    map.expect(name);
    map.fail_key(name, fmt::format("The name ({}) in {} is not legal; it must be {}.", name, path,
                                   name_rule(chosen->segments[depth]).description));
  }

  void read_leaf(Map& map, const Key& key, const std::string& name, const std::string& full) {
    const bool is_list = key.type == KeyType::kPaths || key.type == KeyType::kDevices;
    std::vector<LocatedText> texts;
    if (is_list) {
      if (!map.strings(name, texts, key.type == KeyType::kDevices)) return;
      if (texts.empty() && key.type == KeyType::kDevices) {
        map.fail(name, fmt::format("{} is an empty list; it must be {}.", full, legal_values(key)));
        return;
      }
    } else {
      std::string text;
      if (!map.string(name, text)) return;
      texts.push_back({text, map.location(name)});
    }
    Setting setting{full, &key, {}};
    for (const LocatedText& text : texts) {
      Value value;
      const std::string problem = read_value(key, text.text, value);
      if (!problem.empty()) {
        diagnostics_.error(text.where, fmt::format("{} ({}) {}", full, text.text, problem));
        return;
      }
      make_absolute(key, file_, value);
      value.origin = {options_.layer, text.where.to_string()};
      setting.values.push_back(std::move(value));
    }
    settings_.insert_or_assign(full, std::move(setting));
  }

  const ReadOptions& options_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  SettingMap& settings_;
};

bool read_document(const Document& document, const std::string& name, const ReadOptions& options,
                   Diagnostics& diagnostics, SettingMap& settings) {
  SettingMap read;
  TableReader(options, name, diagnostics, read).read(document.root(diagnostics));
  merge(settings, read);
  return diagnostics.ok();
}

}  // namespace

const char* to_string(Layer layer) noexcept {
  switch (layer) {
    case Layer::kBuiltIn:
      return "built in";
    case Layer::kSystem:
      return "system";
    case Layer::kUser:
      return "user";
    case Layer::kFile:
      return "--config";
    case Layer::kEnvironment:
      return "environment";
    case Layer::kFlag:
      return "flag";
  }
  return "unknown";
}

bool read_config_file(const std::string& path, const ReadOptions& options, Diagnostics& diagnostics,
                      SettingMap& settings) {
  Document document;
  if (!document.load_file(path, diagnostics)) return false;
  return read_document(document, path, options, diagnostics, settings);
}

bool read_config_text(std::string_view text, const std::string& name, const ReadOptions& options,
                      Diagnostics& diagnostics, SettingMap& settings) {
  Document document;
  if (!document.load_text(text, name, diagnostics)) return false;
  return read_document(document, name, options, diagnostics, settings);
}

bool set_from_text(const Key& key, const std::string& path, std::string_view text,
                   const Origin& origin, Diagnostics& diagnostics, SettingMap& settings) {
  const bool is_list = key.type == KeyType::kPaths;
  const bool has_colons = is_list && origin.layer == Layer::kEnvironment;
  Setting setting{path, &key, {}};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = has_colons ? std::min(text.find(':', begin), text.size()) : text.size();
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (has_colons && part.empty()) continue;
    Value value;
    const std::string problem = read_value(key, part, value);
    if (!problem.empty()) {
      diagnostics.error({origin.place, 0, 0}, fmt::format("{} ({}) {}", path, part, problem));
      return false;
    }
    value.origin = origin;
    setting.values.push_back(std::move(value));
  }
  const auto found = settings.find(path);
  if (is_list && found != settings.end()) {
    std::vector<Value>& values = found->second.values;
    values.insert(values.end(), setting.values.begin(), setting.values.end());
  } else {
    settings.insert_or_assign(path, std::move(setting));
  }
  return true;
}

void merge(SettingMap& settings, const SettingMap& over) {
  for (const auto& [path, setting] : over) {
    const auto [found, added] = settings.emplace(path, setting);
    if (added) continue;
    std::vector<Value> values = setting.values;
    if (setting.key->type == KeyType::kPaths) {
      const std::vector<Value>& before = found->second.values;
      values.insert(values.end(), before.begin(), before.end());
    }
    found->second.values = std::move(values);
  }
}

}  // namespace halyard::config
