// The shape of a launch: as requested, or by default.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  // Of that buffer, outermost first.
  std::vector<uint64_t> shape = {};
  // Whether the kernel computes with the sizes of the grid and of its work-groups (reads_shape).
  bool reads_shape = false;
  // The dimensions whose ids the kernel uses.
  uint32_t dimensions = 1;
};

struct Launch {
  Dim3 grid;       // work-items
  Dim3 workgroup;  // work-items
  // What a user should know of the choice: whole sentences.
  std::vector<std::string> notes = {};
};

// Grid: as requested, or one work-item for each element. Work-group: as requested, or the kernel's
// required size, or else one wavefront, limited by the grid, the kernel and the device. Refuses
// zero and sizes beyond the device's limits, and names those.
//
// In a partial work-group, a kernel that is compiled for whole ones computes wrong indices: those
// that say so (FunctionInfo::uniform_workgroups), and HIP's, which use the sizes and are not OpenCL
// C's. They get the largest group that divides the grid, so that exactly the requested work-items
// run. If only the group is requested, the default grid is rounded up to whole groups.
Result<Launch> choose_launch(const DeviceInfo& device, const FunctionInfo& function,
                             const LaunchRequest& request);

}  // namespace halyard::runner
