#include "drivers/amdgpu/library_launch.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halyard::amdgpu {

namespace {

// Work-groups for each compute unit: enough waves to hide the latency of memory on every
// generation, few enough that a large range is a loop and not a long tail of launches.
constexpr uint64_t kGroupsPerComputeUnit = 8;

uint64_t divide_up(uint64_t value, uint64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

uint32_t groups_for(uint64_t units_of_work, uint32_t compute_units) {
  const uint64_t most = kGroupsPerComputeUnit * std::max(compute_units, 1u);
  return static_cast<uint32_t>(std::clamp<uint64_t>(units_of_work, 1, most));
}

template <typename Arguments>
LibraryLaunch make_launch(LibraryKernel kernel, const Arguments& arguments, const Dim3& groups,
                          const Dim3& workgroup = {HALYARD_GROUP_SIZE, 1, 1}) {
  static_assert(sizeof(Arguments) <= LibraryLaunch::kMaxArguments);
  LibraryLaunch launch;
  launch.kernel = kernel;
  launch.grid = {groups.x * workgroup.x, groups.y * workgroup.y, groups.z * workgroup.z};
  launch.workgroup = workgroup;
  launch.arguments_size = sizeof(Arguments);
  std::memcpy(launch.arguments, &arguments, sizeof(Arguments));
  return launch;
}

}  // namespace

LibraryLaunch fill_launch(void* target, uint64_t size, const void* pattern, uint32_t pattern_size,
                          uint32_t compute_units) {
  HalyardFillArguments arguments = {};
  arguments.target = static_cast<uint8_t*>(target);
  arguments.size = size;
  for (uint32_t at = 0; at < sizeof(arguments.pattern); at += pattern_size) {
    std::memcpy(arguments.pattern + at, pattern, pattern_size);
  }
  arguments.group_count = groups_for(divide_up(size, HALYARD_TILE_BYTES), compute_units);
  return make_launch(LibraryKernel::kFill, arguments, {arguments.group_count, 1, 1});
}

LibraryLaunch copy_launch(void* target, const void* source, uint64_t size, uint32_t compute_units) {
  HalyardCopyArguments arguments = {};
  arguments.target = static_cast<uint8_t*>(target);
  arguments.source = static_cast<const uint8_t*>(source);
  arguments.size = size;
  arguments.group_count = groups_for(divide_up(size, HALYARD_TILE_BYTES), compute_units);
  return make_launch(LibraryKernel::kCopy, arguments, {arguments.group_count, 1, 1});
}

LibraryLaunch copy_rectangle_launch(void* target, const void* source, const Rectangle& rectangle,
                                    uint32_t compute_units) {
  HalyardCopyRectangleArguments arguments = {};
  arguments.target = static_cast<uint8_t*>(target);
  arguments.source = static_cast<const uint8_t*>(source);
  arguments.row_bytes = rectangle.row_bytes;
  arguments.target_row_pitch = rectangle.target_row_pitch;
  arguments.target_slice_pitch = rectangle.target_slice_pitch;
  arguments.source_row_pitch = rectangle.source_row_pitch;
  arguments.source_slice_pitch = rectangle.source_slice_pitch;
  arguments.row_count = rectangle.row_count;
  arguments.slice_count = rectangle.slice_count;
  // As many work-items for a row as it has vectors, one more where it is not aligned.
  const uint64_t vectors = divide_up(rectangle.row_bytes, HALYARD_VECTOR_BYTES) + 1;
  const uint64_t lanes = std::bit_ceil(std::min<uint64_t>(vectors, HALYARD_GROUP_SIZE));
  arguments.log2_lanes_per_row = static_cast<uint32_t>(std::countr_zero(lanes));
  // Rows and slices first; a row is split only if there are too few of these.
  const uint64_t rows_at_once = HALYARD_GROUP_SIZE >> arguments.log2_lanes_per_row;
  const uint32_t most = groups_for(UINT64_MAX, compute_units);
  const uint64_t over_rows = divide_up(rectangle.row_count, rows_at_once);
  arguments.group_count[0] = static_cast<uint32_t>(std::clamp<uint64_t>(over_rows, 1, most));
  arguments.group_count[2] =
      std::clamp<uint32_t>(rectangle.slice_count, 1, std::max(most / arguments.group_count[0], 1u));
  const uint64_t left = std::max(most / arguments.group_count[0] / arguments.group_count[2], 1u);
  const uint64_t along_row = divide_up(vectors, lanes * HALYARD_VECTORS_IN_FLIGHT);
  arguments.group_count[1] = static_cast<uint32_t>(std::clamp<uint64_t>(along_row, 1, left));
  return make_launch(
      LibraryKernel::kCopyRectangle, arguments,
      {arguments.group_count[0], arguments.group_count[1], arguments.group_count[2]});
}

Rectangle rectangle_of(const RectangleCopy& shape) {
  return {.row_bytes = shape.row_bytes,
          .row_count = static_cast<uint32_t>(shape.rows),
          .slice_count = static_cast<uint32_t>(shape.slices),
          .target_row_pitch = shape.target_row_pitch,
          .target_slice_pitch = shape.target_slice_pitch,
          .source_row_pitch = shape.source_row_pitch,
          .source_slice_pitch = shape.source_slice_pitch};
}

uint32_t pattern_row_bytes(uint32_t pattern_size, uint64_t size, uint32_t room) {
  const uint64_t patterns = size / pattern_size;
  uint64_t in_row = std::clamp<uint64_t>(room / pattern_size, 1, patterns);
  while (patterns % in_row != 0) --in_row;
  return static_cast<uint32_t>(in_row) * pattern_size;
}

LibraryLaunch fill_rows_launch(void* target, uint64_t size, const void* source, uint32_t row_bytes,
                               uint32_t compute_units) {
  return copy_rectangle_launch(target, source,
                               {.row_bytes = row_bytes,
                                .row_count = static_cast<uint32_t>(size / row_bytes),
                                .slice_count = 1,
                                .target_row_pitch = row_bytes},
                               compute_units);
}

LibraryLaunch patch_dispatch_launch(const HalyardPatchDispatchArguments& arguments) {
  return make_launch(LibraryKernel::kPatchDispatch, arguments, {1, 1, 1}, {1, 1, 1});
}

LibraryLaunch collect_timestamps_launch(const uint64_t* signals, HalyardTimestamps* results,
                                        uint32_t count, uint32_t compute_units) {
  HalyardCollectTimestampsArguments arguments = {};
  arguments.signals = signals;
  arguments.results = results;
  arguments.count = count;
  arguments.group_count = groups_for(divide_up(count, HALYARD_GROUP_SIZE), compute_units);
  return make_launch(LibraryKernel::kCollectTimestamps, arguments, {arguments.group_count, 1, 1});
}

}  // namespace halyard::amdgpu
