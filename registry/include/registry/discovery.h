// Plugin discovery: which files could be drivers. Opens none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/load_report.h"
#include "registry/trust.h"

namespace halyard {

struct DiscoveryOptions {
  // Folders or single files (--plugin-path), in order. They come first.
  std::vector<std::string> plugin_paths = {};
  bool use_environment = true;  // HALYARD_PLUGIN_PATH, entries separated by colons
  // Those of configs (plugins.paths), which follow the environment's.
  std::vector<std::string> configured_paths = {};
  bool use_installation = true;   // lib/halyard/plugins next to the program
  std::string installation = {};  // instead of the program's own prefix (installation.h)
  // If true, the environment is ignored, and so are places that others can write to (trust.h).
  bool privileged = runs_privileged();
};

// The searched places, and a candidate at stage kFound for every file whose name ends in ".so",
// sorted by name within a folder. If several paths lead to one file, the first is kept, and the
// others are listed as ignored. Unreadable places are listed too; the function does not fail.
LoadReport discover(const DiscoveryOptions& options);

// The driver that a file's name claims: "x" for ".../libhalyard_driver_x.so", empty for any other
// name. A plugin with such a name must have that driver, so that the registry need not open it for
// another driver.
std::string_view driver_of_file_name(std::string_view path);

// [a-z][a-z0-9_]*, at most 64 characters.
bool is_driver_name(std::string_view name);

}  // namespace halyard
