// Loads one plugin: from a file to a Driver, one stage after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hal/driver.h"
#include "hal/ref.h"
#include "registry/load_report.h"

namespace halyard {

// A setting for a driver as a whole (not for one of its devices), such as where its vendor library
// is.
struct DriverOption {
  std::string driver;
  std::string key;
  std::string value;
};

// A driver that is not to be used.
struct DisabledDriver {
  std::string driver;
  std::string by;  // who has said so: "/etc/halyard/a.yaml:3:5"
};

struct DriverSettings {
  std::vector<DriverOption> options = {};
  std::vector<DisabledDriver> disabled = {};
};

// What load_plugin takes and gives besides the candidate.
struct LoadedPlugin {
  Ref<Driver> driver;  // null unless candidate.usable()
  // The devices as listed at load time, in the order of their ordinals. Views live as long as
  // the driver.
  std::vector<DeviceSummary> devices;
};

// Answers, for a driver's name, which file has brought it already, or empty. May be null.
using TakenBy = std::function<std::string(const std::string& driver)>;

// Is told of a candidate before it is opened and after each stage that it got through. May be null.
using LoadProgress = std::function<void(const Candidate& candidate)>;

// Takes `candidate` as far as it goes and writes down how far that was and why no further. Never
// fails otherwise and lets no exception through, whatever the plugin does short of ending the
// process: then standard error says which plugin it was (load_note.h). The library stays in the
// process for good, also when it is of no use: what its constructors have started cannot be undone.
LoadedPlugin load_plugin(Candidate& candidate, const DriverSettings& settings,
                         const TakenBy& taken_by, const LoadProgress& progress = nullptr);

}  // namespace halyard
