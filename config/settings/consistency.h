// Mistakes that only all settings together can show.
#pragma once

#include <string>
#include <vector>

#include "config/settings/setting.h"
#include "config/yaml_reader.h"

namespace halyard::config {

// A named device that stands for other names, or for itself: it must name devices of a driver.
void check_device_names(const SettingMap& settings, Diagnostics& diagnostics);

// Profiles of the virtual GPU that load_virtual_gpu() would refuse: a name that is not in
// `profiles` and not in virtual_gpus, a file that is not there, and a virtual GPU of virtual_gpus
// without a profile.
void check_profiles(const SettingMap& settings, const std::vector<std::string>& profiles,
                    Diagnostics& diagnostics);

}  // namespace halyard::config
