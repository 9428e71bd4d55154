// Which devices a command is about: all, a driver's, one, or those of a config's name.
#pragma once

#include <string>
#include <vector>

#include "hal/status.h"
#include "registry/registry.h"

namespace halyard::cli {

struct ChosenDevices {
  LoadedDriver driver;
  std::vector<DeviceSummary> devices;  // of it; views live as long as the driver
};

// `choice` has the form of --device; empty: every device of every driver. NOT_FOUND if it names a
// missing device. Sorted by driver, then ordinal, each device once.
Result<std::vector<ChosenDevices>> choose_devices(Registry& registry, const std::string& choice);

}  // namespace halyard::cli
