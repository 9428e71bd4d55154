#include "config/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "config/settings/consistency.h"
#include "config/settings/reader.h"
#include "hal/error.h"
#include "hal/text.h"
#include "registry/device_uri.h"
#include "registry/installation.h"

namespace halyard::config {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".yaml";

// Without a name the user has no layer.
std::string user_folder_of_environment() {
  const std::string config = trusted_environment("XDG_CONFIG_HOME");
  // The XDG specification has relative paths ignored.
  if (config.starts_with('/')) return config + "/halyard";
  const std::string home = trusted_environment("HOME");
  return home.starts_with('/') ? home + "/.config/halyard" : std::string();
}

const Key* find_key(std::string_view path) {
  for (const Key& key : key_table()) {
    const std::vector<std::string_view> names = segments_of(path);
    const std::vector<std::string_view> segments = segments_of(key.path);
    if (names.size() != segments.size()) continue;
    bool all = true;
    for (size_t i = 0; i < names.size(); ++i) {
      all = all && (is_placeholder(segments[i]) ? accepts(name_rule(segments[i]), names[i])
                                                : segments[i] == names[i]);
    }
    if (all) return &key;
  }
  return nullptr;
}

}  // namespace

class SettingsLoader {
 public:
  explicit SettingsLoader(const SettingsSources& sources) : sources_(sources) {}

  Result<Settings> load() {
    read_fallbacks();
    for (const std::string& prefix : installation_prefixes(sources_.installation)) {
      read_devices(prefix + "/share/halyard/config/devices");
    }
    read_folder(sources_.system_folder, Layer::kSystem);
    if (!sources_.privileged) {
      read_folder(sources_.user_folder.value_or(
                      sources_.use_environment ? user_folder_of_environment() : std::string()),
                  Layer::kUser);
    }
    for (const std::string& file : sources_.files) {
      if (check_place(file)) read_config_file(file, {}, diagnostics_, made_.settings_);
    }
    if (sources_.use_environment && !sources_.privileged) read_environment();
    read_flags();
    check_device_names(made_.settings_, diagnostics_);
    if (diagnostics_.ok()) return std::move(made_);
    return Status(StatusCode::kInvalidArgument, diagnostics_.text());
  }

 private:
  void read_fallbacks() {
    for (const Key& key : key_table()) {
      const bool is_one = key.path.find('<') == std::string_view::npos;
      if (key.fallback.empty() || !is_one) continue;
      set_from_text(key, std::string(key.path), key.fallback, {Layer::kBuiltIn, "built in"},
                    diagnostics_, made_.settings_);
    }
  }

  // False, and a mistake, for a place that a privileged process does not read.
  bool check_place(const std::string& path) {
    const std::string who =
        who_else_may_write(path, {.strict = sources_.privileged, .counts_sticky = true});
    if (who.empty()) return true;
    if (sources_.privileged) {
      diagnostics_.error(
          {path, 0, 0},
          fmt::format(
              "This process has more privileges than its caller and does not read this: {}.", who));
      return false;
    }
    made_.warnings_.push_back(fmt::format("{}: {}", printable(path), who));
    return true;
  }

  // The configs of a folder, sorted by name; none if there is no such folder.
  std::vector<fs::path> configs_in(const std::string& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    if (folder.empty() || !fs::exists(folder, error) || !check_place(folder)) return files;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() == kSuffix) files.push_back(entry->path());
      if (entry->path().extension() == ".yml") {
        made_.warnings_.push_back(
            fmt::format("{}: The file is not read, because the name of a "
                        "config ends in .yaml.",
                        printable(entry->path().string())));
      }
    }
    if (error) {
      diagnostics_.error({folder, 0, 0},
                         fmt::format("The folder cannot be read: {}.", error.message()));
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  void read_folder(const std::string& folder, Layer layer) {
    ReadOptions options;
    options.layer = layer;
    for (const fs::path& file : configs_in(folder)) {
      if (check_place(file.string())) {
        read_config_file(file.string(), options, diagnostics_, made_.settings_);
      }
    }
  }

  void read_devices(const std::string& folder) {
    ReadOptions options;
    options.layer = Layer::kBuiltIn;
    for (const fs::path& file : configs_in(folder)) {
      const std::string processor = file.stem().string();
      if (!accepts(name_rule("<processor>"), processor)) {
        diagnostics_.error({file.string(), 0, 0},
                           fmt::format("The file's name ({}) must be {}.", processor,
                                       name_rule("<processor>").description));
        continue;
      }
      options.below = "processors." + processor;
      if (check_place(file.string())) {
        read_config_file(file.string(), options, diagnostics_, made_.settings_);
      }
    }
  }

  void read_environment() {
    SettingMap read;
    for (const Key& key : key_table()) {
      if (key.environment.empty()) continue;
      const std::string name(key.environment);
      const std::string text = trusted_environment(name.c_str());
      if (text.empty()) continue;
      set_from_text(key, std::string(key.path), text, {Layer::kEnvironment, name}, diagnostics_,
                    read);
    }
    merge(made_.settings_, read);
  }

  void read_flags() {
    SettingMap read;
    for (const FlagValue& flag : sources_.flags) {
      const Key* const key = find_key(flag.path);
      if (key == nullptr) continue;
      set_from_text(*key, flag.path, flag.text, {Layer::kFlag, std::string(key->flag)},
                    diagnostics_, read);
    }
    merge(made_.settings_, read);
  }

  const SettingsSources& sources_;
  Diagnostics diagnostics_;
  Settings made_;
};

Result<Settings> Settings::load(const SettingsSources& sources) {
  return SettingsLoader(sources).load();
}

const Setting* Settings::find(std::string_view path) const {
  const auto found = settings_.find(path);
  return found == settings_.end() ? nullptr : &found->second;
}

std::string Settings::text(std::string_view path) const {
  if (const Setting* const setting = find(path); setting != nullptr && !setting->values.empty()) {
    return setting->value().text;
  }
  const Key* const key = find_key(path);
  return key == nullptr ? std::string() : std::string(key->fallback);
}

std::vector<const Setting*> Settings::below(std::string_view prefix) const {
  std::vector<const Setting*> found;
  for (auto entry = settings_.lower_bound(prefix);
       entry != settings_.end() && entry->first.starts_with(prefix); ++entry) {
    found.push_back(&entry->second);
  }
  return found;
}

const Setting* Settings::of_processor(std::string_view processor, std::string_view path) const {
  const Setting* const own = find(fmt::format("processors.{}.{}", processor, path));
  const Setting* const all = find(fmt::format("processors.default.{}", path));
  if (own == nullptr || all == nullptr) return own != nullptr ? own : all;
  return all->value().origin.layer > own->value().origin.layer ? all : own;
}

namespace {

// Text that YAML reads back unchanged, and not as another type.
std::string scalar_text(const std::string& text, KeyType type) {
  const bool is_plain_type = type != KeyType::kText && type != KeyType::kLibrary &&
                             type != KeyType::kPaths && type != KeyType::kProfile &&
                             type != KeyType::kDevices;
  static const std::regex plain("[A-Za-z/][A-Za-z0-9/._,=-]{0,200}");
  if (is_plain_type) return text;
  static const std::vector<std::string> words = {"true", "false", "null", "yes", "no",
                                                 "on",   "off",   "y",    "n"};
  std::string lower = text;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  const bool is_word = std::find(words.begin(), words.end(), lower) != words.end();
  if (!is_word && text.size() <= 200 && std::regex_match(text, plain)) return text;
  // A JSON string is a double-quoted scalar of YAML.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string to_yaml(const SettingMap& settings, bool origins) {
  std::string text;
  const auto line = [&](size_t depth, std::string_view words, const Value* value) {
    std::string made = std::string(2 * depth, ' ') + std::string(words);
    if (origins && value != nullptr) {
      made += fmt::format("{}# {}", std::string(made.size() < 46 ? 46 - made.size() : 2, ' '),
                          printable(value->origin.place));
    }
    text += made + "\n";
  };
  std::vector<std::string_view> open;
  for (const auto& [path, setting] : settings) {
    const std::vector<std::string_view> names = segments_of(path);
    size_t depth = 0;
    while (depth < open.size() && depth + 1 < names.size() && open[depth] == names[depth]) ++depth;
    open.assign(names.begin(), names.end() - 1);
    for (; depth + 1 < names.size(); ++depth) line(depth, std::string(names[depth]) + ":", nullptr);
    const std::string name(names.back());
    const bool is_list = setting.key->type == KeyType::kPaths || setting.values.size() != 1;
    if (!is_list) {
      const Value& value = setting.value();
      line(depth, name + ": " + scalar_text(value.text, setting.key->type), &value);
      continue;
    }
    line(depth, name + (setting.values.empty() ? ": []" : ":"), nullptr);
    for (const Value& value : setting.values) {
      line(depth + 1, "- " + scalar_text(value.text, setting.key->type), &value);
    }
  }
  return text;
}

}  // namespace halyard::config
