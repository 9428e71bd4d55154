// The targets that a command line asks to compile for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard::toolchain {

// What --target says: names of the target map, separated by commas, as resolve_target_name takes
// them (hal/target_map.h), or "native", for which `native` gives the targets. Each target once, in
// the order of the names; a code name or a family stands for all of its processors.
// INVALID_ARGUMENT for a name that is empty; and what resolve_target_name and `native` give.
Result<std::vector<TargetId>> parse_targets(
    std::string_view text, const std::function<Result<std::vector<TargetId>>()>& native);

// What code for a device is compiled for: its processor, with any setting of the features, as
// rocm_agent_enumerator names it.
TargetId without_features(TargetId target);

}  // namespace halyard::toolchain
