// Target ID: what a code object was built for and what a device is, such as
// "gfx90a:sramecc+:xnack-" (LLVM AMDGPUUsage, "Target ID").
//
// For host code and drivers; not part of the ABI.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard {

// A feature that changes what code is valid. "Any" is code that is right with either setting, or a
// device whose setting is not known.
enum class Feature : uint8_t { kUnsupported, kAny, kOff, kOn };

struct TargetId {
  std::string processor;  // "gfx900", "gfx9-generic"
  Feature sramecc = Feature::kUnsupported;
  Feature xnack = Feature::kUnsupported;

  friend bool operator==(const TargetId&, const TargetId&) = default;
};

// Takes a target ID or an HSA ISA name ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"). A feature
// that is not named is kAny where the processor has it. INVALID_ARGUMENT for what is neither; a
// processor that is not known is accepted if it looks like one, since runtimes learn new ones
// before we do.
Result<TargetId> parse_target_id(std::string_view text);

// Canonical: features in alphabetical order, only those that are on or off.
std::string to_string(const TargetId& target);

// Later than every version of a generic target (LLVM AMDGPUUsage, "Generic Processor Versioning":
// they are 1 to 255).
inline constexpr uint32_t kAnyGenericVersion = UINT32_MAX;

// Whether code for `code` runs on a device that is `device`: empty if it does, and otherwise the
// reason, as the second half of a sentence ("it needs xnack on, and the device has it off").
// `generic_version` is the one that the code has of a generic target, and not looked at for any
// other; without it the answer is for the target's newest version.
std::string why_not_runs_on(const TargetId& code, const TargetId& device,
                            uint32_t generic_version = kAnyGenericVersion);
inline bool runs_on(const TargetId& code, const TargetId& device) {
  return why_not_runs_on(code, device).empty();
}

}  // namespace halyard
