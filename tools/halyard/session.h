// The flags that every command with devices has: configs, and where plugins, vendor libraries and
// the virtual GPU come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/settings/settings.h"
#include "hal/status.h"
#include "registry/registry.h"
#include "tools/command_line/command.h"

namespace halyard::cli {

// Outlives the parse of the command line, which writes into it.
struct SessionFlags {
  CommandOption vgpu;  // with at most one value, the profile
  std::vector<std::string> plugin_paths;
  std::string libhsa;
  std::string libhip;
  std::vector<std::string> configs;
  // What the layers say; open_session and load_session_settings fill it in.
  std::shared_ptr<config::Settings> settings = std::make_shared<config::Settings>();
};

void add_session_flags(Command command, SessionFlags& flags);

// Reads the layers of configs (config/settings/settings.h), of which these flags are the last.
Status load_session_settings(const SessionFlags& flags);

// Reads the settings, loads the virtual GPU, if that was asked for, and then makes the registry: in
// this order, because a driver's vendor library must not be loaded before the virtual GPU.
Result<std::unique_ptr<Registry>> open_session(const SessionFlags& flags);

// Says to standard error why drivers have brought no devices, as what they did bring is good; and
// who else may write to plugins. As far as logging.level lets it.
void print_notes(const config::Settings& settings, const LoadReport& report);

// NOT_FOUND for a command that needs devices: with what helps, and what became of the drivers.
Status no_device(Registry& registry);

// Writes to standard output and makes sure that it has arrived: a full disk or a closed pipe is a
// failure like any other.
Status print(const std::string& text);

}  // namespace halyard::cli
