// The load report: the outcome for every file that could be a driver, as data.
//
// It records every problem of the search and the loading of drivers; none is dropped or printed on
// the way. Every "no such device" error ends with to_text() of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard {

// The origin of a place in the search. Earlier ones come first.
enum class PluginOrigin : uint8_t {
  kExplicit,      // RegistryOptions::plugin_paths, --plugin-path
  kEnvironment,   // HALYARD_PLUGIN_PATH
  kConfig,        // plugins.paths of a config
  kInstallation,  // lib/halyard/plugins of the build or install tree
};
const char* to_string(PluginOrigin origin) noexcept;

// The last stage that a candidate has passed.
enum class LoadStage : uint8_t {
  kFound,        // the file is there
  kOpened,       // dlopen
  kSymbol,       // it has a halyard_plugin
  kNegotiated,   // host and plugin agree on an ABI version, and the name is legal
  kInitialised,  // create_driver has made a driver
  kEnumerated,   // the driver has listed its devices (there may be none)
};
const char* to_string(LoadStage stage) noexcept;

// A directory entry that is not a candidate, and why.
struct IgnoredFile {
  std::string name;
  std::string reason;
};

// A searched folder or file.
struct SearchedPlace {
  PluginOrigin origin = PluginOrigin::kExplicit;
  std::string path;
  std::string problem;    // why it could not be read; empty if it could
  std::string warning;    // who else can write there; empty: no one
  size_t candidates = 0;  // found here
  std::vector<IgnoredFile> ignored = {};
};

struct Candidate {
  std::string path;       // as found
  std::string real_path;  // symbolic links resolved; empty if that fails
  PluginOrigin origin = PluginOrigin::kExplicit;
  std::string warning;  // who else can write to the file; empty: no one

  bool tried = false;  // false: not opened, because no call needed it
  LoadStage stage = LoadStage::kFound;
  // Why it stopped there, verbatim (the message of the loader, the plugin or the driver), and the
  // code. Empty and kOk if it did not stop.
  std::string reason;
  StatusCode code = StatusCode::kOk;
  // It ended the process that loaded it, or did not return. Only Registry::probe() can detect this;
  // a process that loads such a plugin itself has no report.
  bool fatal = false;
  // A config has disabled the driver (drivers.<driver>.enabled); `reason` names the config.
  bool disabled = false;

  // From kNegotiated on (the ABI version also if it is the reason for stopping before that).
  std::string driver;
  std::string version;
  std::string description;
  uint32_t abi_major = 0;     // the plugin's
  uint32_t abi_minor = 0;     // the plugin's
  uint32_t abi_in_force = 0;  // the smaller of the two minors
  // From kInitialised on; empty if the driver uses no vendor library.
  std::string library_name;
  std::string library_path;
  std::string library_version;
  std::string library_uses;  // as DriverInfo has it
  // At kEnumerated.
  size_t device_count = 0;

  bool usable() const noexcept { return stage >= LoadStage::kInitialised && !fatal; }
};

struct LoadReport {
  std::vector<SearchedPlace> places;  // in the order of the search
  std::vector<Candidate> candidates;  // in the order of the search; of equal names the first wins
};

// For people: several lines, each ended by a newline.
std::string to_text(const LoadReport& report);

}  // namespace halyard
