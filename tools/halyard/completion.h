// Completion scripts for shells, made of the command line's definition, and the values that they
// offer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings/settings.h"
#include "hal/status.h"

namespace CLI {
class App;
}

namespace halyard::cli {

std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

// What `halyard complete KIND` prints, one in a line, for the scripts above.
inline constexpr std::string_view kProfiles = "profile";
inline constexpr std::string_view kTargets = "target";
inline constexpr std::string_view kDevices = "device";

// The profiles of the virtual GPU that are installed, and the names that configs give to some.
std::vector<std::string> profile_names(const config::Settings& settings);
// The names that compilers and `halyard targets` take.
std::vector<std::string> target_names();
// The drivers that have a plugin, and the devices that configs name. Opens no plugin: one that
// hangs must not hang a shell.
std::vector<std::string> device_names(const config::Settings& settings);

}  // namespace halyard::cli
