#include "tools/halyard/device_choice.h"

#include <algorithm>

namespace halyard::cli {
namespace {

void add(std::vector<ChosenDevices>& chosen, const LoadedDriver& driver,
         const DeviceSummary& device) {
  auto found = std::find_if(chosen.begin(), chosen.end(), [&](const ChosenDevices& one) {
    return one.driver.name == driver.name;
  });
  if (found == chosen.end()) found = chosen.insert(chosen.end(), ChosenDevices{driver, {}});
  const bool is_there =
      std::any_of(found->devices.begin(), found->devices.end(),
                  [&](const DeviceSummary& other) { return other.ordinal == device.ordinal; });
  if (!is_there) found->devices.push_back(device);
}

}  // namespace

Result<std::vector<ChosenDevices>> choose_devices(Registry& registry, const std::string& choice) {
  std::vector<ChosenDevices> chosen;
  if (choice.empty()) {
    for (const LoadedDriver& driver : registry.drivers()) {
      for (const DeviceSummary& device : driver.devices) add(chosen, driver, device);
    }
    return chosen;
  }
  HALYARD_ASSIGN_OR_RETURN(const DeviceUri parsed, registry.parse(choice));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> gpus, registry.gpus(parsed));
  for (const DeviceUri& gpu : gpus) {
    HALYARD_ASSIGN_OR_RETURN(const LoadedDriver driver, registry.driver(gpu.driver));
    for (const DeviceSummary& device : driver.devices) {
      if (device.ordinal == gpu.ordinal) add(chosen, driver, device);
    }
  }
  std::sort(chosen.begin(), chosen.end(), [](const ChosenDevices& a, const ChosenDevices& b) {
    return a.driver.name < b.driver.name;
  });
  for (ChosenDevices& one : chosen) {
    std::sort(one.devices.begin(), one.devices.end(),
              [](const DeviceSummary& a, const DeviceSummary& b) { return a.ordinal < b.ordinal; });
  }
  return chosen;
}

}  // namespace halyard::cli
