// Tests a driver's devices in a child process, so that a crash or a hang is a finding.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "tools/halyard/doctor_checks.h"

namespace halyard::cli {

// One finding for each device of the driver: which code object versions its runtime takes, and
// whether a small kernel's results are right. Forks, so it is called before the program starts
// threads. `timeout` is for each device.
std::vector<Finding> probe_devices(Registry& registry, const std::string& driver,
                                   std::chrono::seconds timeout);

}  // namespace halyard::cli
