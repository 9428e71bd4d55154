// Loads one plugin: from a file to a Driver, stage by stage.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "hal/driver.h"
#include "hal/ref.h"
#include "registry/load_report.h"

namespace halyard {

// A setting for a driver as a whole (not for a device), such as the path of its vendor
// library.
struct DriverOption {
  std::string driver;
  std::string key;
  std::string value;
};

// A disabled driver.
struct DisabledDriver {
  std::string driver;
  std::string by;  // the origin: "/etc/halyard/a.yaml:3:5"
};

struct DriverSettings {
  std::vector<DriverOption> options = {};
  std::vector<DisabledDriver> disabled = {};
  std::chrono::milliseconds load_timeout{0};  // RegistryOptions::load_timeout
};

// The result of load_plugin besides the candidate.
struct LoadedPlugin {
  Ref<Driver> driver;  // null unless candidate.usable()
  // The devices as listed at load time, in the order of their ordinals. Views live as long as
  // the driver.
  std::vector<DeviceSummary> devices;
};

// Returns the file that already has the driver of that name, or empty. May be null.
using TakenBy = std::function<std::string(const std::string& driver)>;

// Called for a candidate before it is opened and after each stage that it passes. May be null.
using LoadProgress = std::function<void(const Candidate& candidate)>;

// Loads `candidate` as far as possible, and records the last stage and the reason. Does not fail
// otherwise and does not throw, unless the plugin ends the process: then standard error names the
// plugin (load_note.h). The library stays loaded for the life of the process, even if it is
// unusable, because effects of its constructors cannot be undone.
LoadedPlugin load_plugin(Candidate& candidate, const DriverSettings& settings,
                         const TakenBy& taken_by, const LoadProgress& progress = nullptr);

}  // namespace halyard
