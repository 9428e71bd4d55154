// The shape of a launch: as requested, or by default.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hal/device.h"
#include "hal/executable.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::runner {

// Work-items in x, y and z, as text says it; not yet within any limit.
using Extents = std::array<uint64_t, 3>;

// "X", "X,Y" or "X,Y,Z"; missing ones are 1. `flag` names the text in an error.
Result<Extents> parse_extents(std::string_view flag, std::string_view text);

struct LaunchRequest {
  std::optional<Extents> grid = {};
  std::optional<Extents> workgroup = {};
  // The buffer that the kernel writes, for the default grid. Nothing if it has no buffer.
  std::optional<uint64_t> elements = {};
};

struct Launch {
  Dim3 grid;       // work-items
  Dim3 workgroup;  // work-items
};

// Grid: as requested, or one work-item for each element. Work-group: as requested, or the kernel's
// required size, or else one wavefront, limited by the grid, the kernel and the device. Refuses
// zero and sizes beyond the device's limits, and names those.
Result<Launch> choose_launch(const DeviceInfo& device, const FunctionInfo& function,
                             const LaunchRequest& request);

}  // namespace halyard::runner
