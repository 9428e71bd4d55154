// Settings: what configs, the environment and flags say, each with its origin.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings/key_table.h"

namespace halyard::config {

// Who says something. Later ones override earlier ones.
enum class Layer : uint8_t {
  kBuiltIn,      // the table's own values, and config/devices of the installation
  kSystem,       // /etc/halyard
  kUser,         // $XDG_CONFIG_HOME/halyard
  kFile,         // --config
  kEnvironment,  // variables
  kFlag,         // options of the command line
};
const char* to_string(Layer layer) noexcept;

struct Origin {
  Layer layer = Layer::kBuiltIn;
  std::string place;  // "/etc/halyard/a.yaml:3:5", "HALYARD_LOG_LEVEL", "--libhsa", "built in"
};

// One value. A list has several, each with its own origin.
struct Value {
  std::string text;     // as it is written; file paths are absolute
  uint64_t number = 0;  // whole numbers, sizes in bytes, durations in nanoseconds
  double real = 0;
  bool truth = false;
  Origin origin = {};
};

struct Setting {
  std::string path;  // "drivers.hip.enabled"
  const Key* key = nullptr;
  std::vector<Value> values;  // none only for a list that is empty

  const Value& value() const { return values.front(); }
};

// By their paths.
using SettingMap = std::map<std::string, Setting, std::less<>>;

}  // namespace halyard::config
