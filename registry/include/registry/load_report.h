// The load report: what became of every file that could have been a driver, as data.
//
// Nothing that goes wrong while drivers are looked for and loaded is thrown away or printed on the
// way: it is written down here, and every "no such device" error ends with to_text() of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard {

// Who named a place to look in. Earlier ones come first.
enum class PluginOrigin : uint8_t {
  kExplicit,      // RegistryOptions::plugin_paths, --plugin-path
  kEnvironment,   // HALYARD_PLUGIN_PATH
  kConfig,        // plugins.paths of a config
  kInstallation,  // lib/halyard/plugins of the build or install tree
};
const char* to_string(PluginOrigin origin) noexcept;

// The last step that a candidate got through.
enum class LoadStage : uint8_t {
  kFound,        // the file is there
  kOpened,       // dlopen
  kSymbol,       // it has a halyard_plugin
  kNegotiated,   // host and plugin agree on an ABI version, and the name is good
  kInitialised,  // create_driver has made a driver
  kEnumerated,   // the driver has listed its devices (there may be none)
};
const char* to_string(LoadStage stage) noexcept;

// A directory entry that is no candidate, and why.
struct IgnoredFile {
  std::string name;
  std::string reason;
};

// A folder or file that was looked at.
struct SearchedPlace {
  PluginOrigin origin = PluginOrigin::kExplicit;
  std::string path;
  std::string problem;    // why nothing could be read there; empty if it could
  std::string warning;    // who else decides what is loaded from there; empty: nobody
  size_t candidates = 0;  // that came from here
  std::vector<IgnoredFile> ignored = {};
};

struct Candidate {
  std::string path;       // as it was found
  std::string real_path;  // symbolic links resolved; empty if that is not possible
  PluginOrigin origin = PluginOrigin::kExplicit;
  std::string warning;  // who else decides what the file holds; empty: nobody

  bool tried = false;  // false: it was not opened, as no call needed it
  LoadStage stage = LoadStage::kFound;
  // Why it stopped there, verbatim (the loader's text, the plugin's or the driver's message), and
  // the code that goes with it. Empty and kOk if it did not stop.
  std::string reason;
  StatusCode code = StatusCode::kOk;
  // It ended the process that loaded it, or kept it for ever. Registry::probe() finds that out; a
  // process that loads such a plugin itself has no report to show.
  bool fatal = false;
  // A config has turned the driver off (drivers.<driver>.enabled); `reason` says which.
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
  // At kEnumerated.
  size_t device_count = 0;

  bool usable() const noexcept { return stage >= LoadStage::kInitialised && !fatal; }
};

struct LoadReport {
  std::vector<SearchedPlace> places;  // in the order of the search
  std::vector<Candidate> candidates;  // in the order of the search: this is also who wins a name
};

// For people: several lines, each ended by a newline.
std::string to_text(const LoadReport& report);

}  // namespace halyard
