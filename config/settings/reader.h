// Reads one config against a table of keys.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings/setting.h"
#include "config/yaml_reader.h"

namespace halyard::config {

struct ReadOptions {
  std::span<const Key> table = key_table();
  Layer layer = Layer::kFile;
  // The file's content stands below this path: "processors.gfx90a".
  std::string below = {};
};

// Reads the file into `settings`, replacing values. Mistakes are reported, and correct parts are
// still read. False if there was a mistake.
bool read_config_file(const std::string& path, const ReadOptions& options, Diagnostics& diagnostics,
                      SettingMap& settings);
// The same for text; relative paths in it are relative to the folder of `name`.
bool read_config_text(std::string_view text, const std::string& name, const ReadOptions& options,
                      Diagnostics& diagnostics, SettingMap& settings);

// Sets `path` to what a variable or an option says. Of a list it adds one value to those of the
// same layer, or several with colons between if that is what the key's variable has. `origin.place`
// is the place of a mistake.
bool set_from_text(const Key& key, const std::string& path, std::string_view text,
                   const Origin& origin, Diagnostics& diagnostics, SettingMap& settings);

// `over` comes after `settings` and wins, but for lists, to which it adds in front.
void merge(SettingMap& settings, const SettingMap& over);

}  // namespace halyard::config
