// Target ID: the target of a code object or a device, such as "gfx90a:sramecc+:xnack-" (LLVM
// AMDGPUUsage, "Target ID").
//
// For host code and drivers; not part of the ABI.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard {

// A feature that affects which code is valid. "Any" is code for either setting, or a device whose
// setting is unknown.
enum class Feature : uint8_t { kUnsupported, kAny, kOff, kOn };

struct TargetId {
  std::string processor;  // "gfx900", "gfx9-generic"
  Feature sramecc = Feature::kUnsupported;
  Feature xnack = Feature::kUnsupported;

  friend bool operator==(const TargetId&, const TargetId&) = default;
};

// Parses a target ID or an HSA ISA name ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"). A feature
// that is not named is kAny if the processor has it. INVALID_ARGUMENT for other text. An unknown
// processor is accepted if it looks like one, because runtimes support new processors before
// Halyard does.
Result<TargetId> parse_target_id(std::string_view text);

// Canonical: features in alphabetical order, only those that are on or off.
std::string to_string(const TargetId& target);

// Later than every version of a generic target, which are 1 to 255 (LLVM AMDGPUUsage, "Generic
// Processor Versioning").
inline constexpr uint32_t kAnyGenericVersion = UINT32_MAX;

// Whether code for `code` runs on `device`: empty if it does, otherwise the reason, as the second
// half of a sentence ("it needs xnack on, and the device has it off"). `generic_version` is the
// code's version of its generic target, and ignored for other targets; by default, the target's
// newest version.
std::string why_not_runs_on(const TargetId& code, const TargetId& device,
                            uint32_t generic_version = kAnyGenericVersion);
inline bool runs_on(const TargetId& code, const TargetId& device) {
  return why_not_runs_on(code, device).empty();
}

}  // namespace halyard
