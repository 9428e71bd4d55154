#include "tools/runner/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::runner {
namespace {

std::string to_text(const Extents& extents) {
  return fmt::format("{}×{}×{}", extents[0], extents[1], extents[2]);
}

Status check(const char* what, const Extents& extents, const Dim3& limits, uint64_t total_limit,
             std::string_view owner) {
  const uint32_t limit[] = {limits.x, limits.y, limits.z};
  bool fits = true;
  uint64_t total = 1;
  for (int i = 0; i < 3; ++i) {
    if (extents[i] == 0) {
      return error(StatusCode::kInvalidArgument,
                   "The {} ({}) has no work-item in one dimension. Each has at least 1.", what,
                   to_text(extents));
    }
    fits = fits && extents[i] <= limit[i] && !__builtin_mul_overflow(total, extents[i], &total);
  }
  if (fits && total <= total_limit) return {};
  return error(StatusCode::kInvalidArgument,
               "The {} ({}) is too large. {} has a limit of {} work-items in x, y and z, and of {} "
               "in all.",
               what, to_text(extents), owner, limits, total_limit);
}

// OpenCL C's compilers keep the types of arguments, and its kernels work in partial work-groups,
// unless their metadata says that they do not.
bool is_opencl(const FunctionInfo& function) {
  return std::any_of(function.arguments.begin(), function.arguments.end(),
                     [](const ArgumentInfo& argument) { return !argument.type_name.empty(); });
}

bool needs_whole_groups(const FunctionInfo& function, const LaunchRequest& request) {
  return function.uniform_workgroups || (request.reads_shape && !is_opencl(function));
}

uint64_t largest_divisor(uint64_t number, uint64_t most) {
  uint64_t divisor = most;
  while (number % divisor != 0) --divisor;
  return divisor;
}

// The work-group in x, where none is requested; the grid has no zero.
Result<uint64_t> choose_width(const DeviceInfo& device, const FunctionInfo& function,
                              const LaunchRequest& request, const Extents& grid, Launch& launch) {
  const uint64_t width =
      std::min<uint64_t>({device.wavefront_size, grid[0], function.max_workgroup_size,
                          device.max_workgroup_size, device.max_workgroup.x});
  if (grid[0] % width == 0 || !needs_whole_groups(function, request)) return width;
  const uint64_t divisor = largest_divisor(grid[0], width);
  const uint64_t rounded = (grid[0] + width - 1) / width * width;
  if (!request.reads_shape) {
    // Its group size is fixed in its code, where nothing says it.
    return error(StatusCode::kInvalidArgument,
                 "The kernel {} is compiled for whole work-groups only, and the grid ({}) is no "
                 "multiple of the default work-group ({}). Say --grid={}, if the kernel ignores "
                 "work-items past its end, or --workgroup with the size that the kernel is written "
                 "for.",
                 short_name(function.name), to_text(grid), width, rounded);
  }
  if (divisor < width / 4) {
    launch.notes.push_back(fmt::format(
        "The kernel {} needs whole work-groups, so they have {} work-item{} for the grid {}. If it "
        "ignores work-items past its end, --grid={} --workgroup={} is faster.",
        short_name(function.name), divisor, divisor == 1 ? "" : "s", to_text(grid), rounded,
        width));
  }
  return divisor;
}

// What the chosen shape may not be meant to be.
void add_notes(const FunctionInfo& function, const LaunchRequest& request, Launch& launch) {
  const Dim3& grid = launch.grid;
  const Dim3& group = launch.workgroup;
  const bool is_partial = grid.x % group.x != 0 || grid.y % group.y != 0 || grid.z % group.z != 0;
  if (is_partial && !function.uniform_workgroups && needs_whole_groups(function, request)) {
    launch.notes.push_back(fmt::format(
        "The last work-group of the grid {} is partial (the work-group is {}): in it the blockDim "
        "that the kernel {} computes with is smaller.",
        grid, group, short_name(function.name)));
  }
  const auto rows = std::count_if(request.shape.begin(), request.shape.end(),
                                  [](uint64_t extent) { return extent > 1; });
  if (!request.grid && request.dimensions > 1 && grid.y == 1 && grid.z == 1 && rows > 1) {
    const uint64_t inner = request.shape.back();
    launch.notes.push_back(
        fmt::format("The kernel {} uses ids in {} dimensions, and the default grid has one ({}). "
                    "For a work-item for each element of the result, say --grid={},{}.",
                    short_name(function.name), request.dimensions, grid, inner,
                    *request.elements / std::max<uint64_t>(inner, 1)));
  }
}

Dim3 to_dim3(const Extents& extents) {
  return {static_cast<uint32_t>(extents[0]), static_cast<uint32_t>(extents[1]),
          static_cast<uint32_t>(extents[2])};
}

}  // namespace

Result<Extents> parse_extents(std::string_view flag, std::string_view text) {
  Extents extents = {1, 1, 1};
  const char* const begin = text.data();
  const char* const limit = begin + text.size();
  const char* at = begin;
  for (uint64_t& extent : extents) {
    const auto [end, trouble] = std::from_chars(at, limit, extent);
    if (trouble != std::errc()) break;
    at = end;
    if (at == limit) return extents;
    if (*at != ',' || &extent == &extents.back()) break;
    ++at;
  }
  return error(
      StatusCode::kInvalidArgument,
      "{} is malformed at column {} (\"{}\"): work-items are given as X, X,Y or X,Y,Z, each "
      "a number from 1 on.",
      flag, at - begin + 1, text);
}

Result<Launch> choose_launch(const DeviceInfo& device, const FunctionInfo& function,
                             const LaunchRequest& request) {
  if (!request.grid && !request.elements) {
    return error(
        StatusCode::kInvalidArgument,
        "The kernel {} has no buffer whose size could be the grid's. Say --grid=X[,Y[,Z]], "
        "in work-items.",
        short_name(function.name));
  }
  // A kernel whose result is empty still runs once.
  Extents grid =
      request.grid ? *request.grid : Extents{std::max<uint64_t>(*request.elements, 1), 1, 1};
  HALYARD_RETURN_IF_ERROR(check("grid", grid, device.max_grid, device.max_grid_size,
                                fmt::format("The device ({})", device.name)));

  Launch launch;
  Extents workgroup = {1, 1, 1};
  const Dim3 required = function.required_workgroup_size;
  if (request.workgroup) {
    workgroup = *request.workgroup;
    const uint64_t width = workgroup[0];
    if (!request.grid && width != 0 && grid[0] % width != 0 &&
        needs_whole_groups(function, request)) {
      launch.notes.push_back(
          fmt::format("The kernel {} needs whole work-groups, so the grid has {} work-items for "
                      "the {} elements "
                      "of the result: it must ignore those past the end.",
                      short_name(function.name), (grid[0] + width - 1) / width * width, grid[0]));
      grid[0] = (grid[0] + width - 1) / width * width;
    }
  } else if (required.volume() != 0) {
    workgroup = {required.x, required.y, required.z};
  } else {
    HALYARD_ASSIGN_OR_RETURN(workgroup[0], choose_width(device, function, request, grid, launch));
  }
  HALYARD_RETURN_IF_ERROR(check("work-group", workgroup, device.max_workgroup,
                                device.max_workgroup_size,
                                fmt::format("The device ({})", device.name)));
  launch.grid = to_dim3(grid);
  launch.workgroup = to_dim3(workgroup);
  add_notes(function, request, launch);
  return launch;
}

}  // namespace halyard::runner
