// The flags that every command with devices has: where plugins, vendor libraries and the virtual
// GPU come from.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "hal/status.h"
#include "registry/registry.h"

namespace halyard::cli {

// Outlives the parse of the command line, which writes into it.
struct SessionFlags {
  CLI::Option* vgpu = nullptr;  // with at most one value, the profile
  std::vector<std::string> plugin_paths;
  std::string libhsa;
  std::string libhip;
};

void add_session_flags(CLI::App& command, SessionFlags& flags);

// Loads the virtual GPU, if that was asked for, and then makes the registry: in this order, because
// a driver's vendor library takes the first libhsakmt that it finds.
Result<std::unique_ptr<Registry>> open_session(const SessionFlags& flags);

// Says to standard error why drivers have brought no devices, as what they did bring is good.
void print_notes(const LoadReport& report);

// NOT_FOUND for a command that needs devices: with what helps, and what became of the drivers.
Status no_device(Registry& registry);

// Writes to standard output and makes sure that it has arrived: a full disk or a closed pipe is a
// failure like any other.
Status print(const std::string& text);

}  // namespace halyard::cli
