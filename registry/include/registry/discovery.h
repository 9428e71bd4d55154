// Plugin discovery: which files could be drivers. Opens none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/load_report.h"
#include "registry/trust.h"

namespace halyard {

struct DiscoveryOptions {
  // Folders or single files (--plugin-path), in order. They come before everything else.
  std::vector<std::string> plugin_paths = {};
  bool use_environment = true;  // HALYARD_PLUGIN_PATH, entries separated by colons
  // Those of configs (plugins.paths), which come behind the environment's.
  std::vector<std::string> configured_paths = {};
  bool use_installation = true;   // lib/halyard/plugins next to the program
  std::string installation = {};  // instead of the program's own prefix (installation.h)
  // Then the environment does not count, and neither does what others may write to (trust.h).
  bool privileged = runs_privileged();
};

// The places looked at and a candidate at stage kFound for every file whose name ends in ".so",
// sorted by name within a folder. Of several paths to one file the first is kept and the others
// are noted as ignored. What cannot be read is noted too; there is no failure.
LoadReport discover(const DiscoveryOptions& options);

// The driver that a file claims to hold: "x" for ".../libhalyard_driver_x.so", empty for any other
// name. A plugin with such a name must bring that driver, so that the registry can leave it
// unopened while another driver is asked for.
std::string_view driver_of_file_name(std::string_view path);

// [a-z][a-z0-9_]*, at most 64 characters.
bool is_driver_name(std::string_view name);

}  // namespace halyard
