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
  const Extents grid =
      request.grid ? *request.grid : Extents{std::max<uint64_t>(*request.elements, 1), 1, 1};
  HALYARD_RETURN_IF_ERROR(check("grid", grid, device.max_grid, device.max_grid_size,
                                fmt::format("The device ({})", device.name)));

  Extents workgroup = {1, 1, 1};
  const Dim3 required = function.required_workgroup_size;
  if (request.workgroup) {
    workgroup = *request.workgroup;
  } else if (required.volume() != 0) {
    workgroup = {required.x, required.y, required.z};
  } else {
    workgroup[0] = std::min<uint64_t>({device.wavefront_size, grid[0], function.max_workgroup_size,
                                       device.max_workgroup_size, device.max_workgroup.x});
  }
  HALYARD_RETURN_IF_ERROR(check("work-group", workgroup, device.max_workgroup,
                                device.max_workgroup_size,
                                fmt::format("The device ({})", device.name)));
  return Launch{to_dim3(grid), to_dim3(workgroup)};
}

}  // namespace halyard::runner
