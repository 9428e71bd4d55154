// The target "native": what the devices of this machine are.
#pragma once

#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "tools/halyard/session.h"

namespace halyard::cli {

// What code for `device`, a device's target, is compiled for: the processor, with any setting of
// its features. FAILED_PRECONDITION if it is not an AMD GPU; `name` is the device's.
Result<TargetId> native_target(std::string_view name, std::string_view device);

// The same of the device at `uri`, or, if that is empty, of all devices of all drivers.
Result<std::vector<TargetId>> native_targets(const SessionFlags& flags, const std::string& uri);

}  // namespace halyard::cli
