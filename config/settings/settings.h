// The settings in force: every layer read and merged.
//
//     1. built in        the table of keys, and config/devices/<processor>.yaml of the installation
//     2. system          /etc/halyard/*.yaml, in the order of their names
//     3. user            $XDG_CONFIG_HOME/halyard/*.yaml; without that variable ~/.config/halyard
//     4. --config FILE   in the order of the command line
//     5. environment     the variables that the table names
//     6. flags           and the parameters of a device URI, which the registry reads
//
// A process that runs with more rights than its caller leaves out 3 and 5, and refuses folders and
// files that others may write to; other processes are warned of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings/setting.h"
#include "hal/status.h"
#include "registry/trust.h"

namespace halyard::config {

// What an option of the command line says.
struct FlagValue {
  std::string path;  // of the key
  std::string text;
};

struct SettingsSources {
  std::string installation = {};  // instead of the program's own prefix (registry/installation.h)
  std::string system_folder = "/etc/halyard";
  std::optional<std::string> user_folder = {};  // instead of what the environment says
  std::vector<std::string> files = {};          // --config
  bool use_environment = true;
  std::vector<FlagValue> flags = {};
  bool privileged = runs_privileged();
};

class Settings {
 public:
  // INVALID_ARGUMENT has a line for each mistake of all layers.
  static Result<Settings> load(const SettingsSources& sources);

  // Null if the key is not set and has no default.
  const Setting* find(std::string_view path) const;
  // The setting, or the key's default.
  std::string text(std::string_view path) const;
  // Those whose path begins with `prefix` ("devices."), in the order of their paths.
  std::vector<const Setting*> below(std::string_view prefix) const;
  // The setting below processors.<processor> or below processors.default, whichever a later layer
  // has set; of one layer the first. `path` is the rest: "tolerances.f32.absolute".
  const Setting* of_processor(std::string_view processor, std::string_view path) const;

  const SettingMap& all() const { return settings_; }
  // Sentences about places that others may write to.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class SettingsLoader;
  SettingMap settings_;
  std::vector<std::string> warnings_;
};

// A config that says what `settings` say. With `origins` each line ends with a comment that tells
// who says so.
std::string to_yaml(const SettingMap& settings, bool origins);

}  // namespace halyard::config
