// Validation of a kernel launch. The path of a valid one is inline and does not call, allocate or
// format; dispatch_check.cpp makes the messages.
#pragma once

#include "argument_plan.h"
#include "check.h"
#include "hal/dispatch.h"
#include "hal/status.h"
#include "host_state.h"

namespace halyard::internal {

enum class DispatchKind { kDirect, kIndirect };
// Whether an argument may name a slot of a binding table instead of a buffer.
enum class Slots : bool { kNo, kYes };

// Every check, one after the other: OK, or what is wrong.
Status check_in_detail(const Device& device, const Dispatch& dispatch, DispatchKind kind,
                       Slots slots);

// What even an unvalidated dispatch needs so that the driver reads no memory that is not there.
Status check_dispatch_memory(const Device& device, const Dispatch& dispatch);

// Why no dispatch of the function is possible: FunctionInfo::problem, which is not empty.
Status unusable(const FunctionInfo& function);

// Each of these is false if something is wrong, or if it takes a closer look to see that nothing
// is: an empty range at the end of its buffer, a slot in place of a buffer.

inline bool workgroup_is_plain(const DeviceInfo& info, const ArgumentPlan& plan,
                               const Dim3& group) noexcept {
  // x - 1 < limit is 1 <= x <= limit in one comparison.
  if (group.x - 1 >= info.max_workgroup.x || group.y - 1 >= info.max_workgroup.y ||
      group.z - 1 >= info.max_workgroup.z) {
    return false;
  }
  const uint64_t volume = group.volume();
  if (volume > info.max_workgroup_size || volume > plan.max_workgroup_size) return false;
  const Dim3& required = plan.required_workgroup_size;
  return (required.x | required.y | required.z) == 0 || required == group;
}

inline bool volume_exceeds(const Dim3& d, uint64_t limit) noexcept {
  uint64_t volume = uint64_t{d.x} * d.y;
  return __builtin_mul_overflow(volume, uint64_t{d.z}, &volume) || volume > limit;
}

inline bool grid_is_plain(const DeviceInfo& info, const Dim3& grid, const Dim3& group) noexcept {
  return grid.x <= info.max_grid.x && grid.y <= info.max_grid.y && grid.z <= info.max_grid.z &&
         grid.x >= group.x && grid.y >= group.y && grid.z >= group.z &&
         !volume_exceeds(grid, info.max_grid_size);
}

// Whether the grid has no partial work-group. No side of the group is 0.
inline bool is_whole(const Dim3& grid, const Dim3& group) noexcept {
  return grid.x % group.x == 0 && grid.y % group.y == 0 && grid.z % group.z == 0;
}

inline bool argument_is_plain(const Device& device, const ArgumentStep& step,
                              const Argument& argument) noexcept {
  if (argument.kind == Argument::Kind::kBuffer) [[likely]] {
    if (step.kind != StepKind::kBuffer) return false;
    const BufferRange& range = argument.range;
    if (range.buffer == nullptr) return false;
    if (&range.buffer->device() != &device && !reaches(device, *range.buffer)) return false;
    const uint64_t size = range.buffer->size();
    // A deallocated buffer has no bytes.
    return range.offset < size &&
           (range.length == BufferRange::kToEnd || range.length <= size - range.offset);
  }
  if (argument.kind == Argument::Kind::kAddress) return step.kind == StepKind::kBuffer;
  if (static_cast<uint32_t>(argument.kind) != static_cast<uint32_t>(step.kind)) return false;
  return argument.kind != Argument::Kind::kValue ||
         (argument.size == step.size &&
          (argument.value != nullptr || argument.size <= sizeof(argument.immediate)));
}

// LDS of a work-group in bytes, if the arguments are valid.
inline uint64_t lds_of(const ArgumentPlan& plan, const Dispatch& dispatch) noexcept {
  uint64_t lds = uint64_t{plan.group_segment_size} + dispatch.dynamic_lds_bytes;
  if (plan.lds_argument_count == 0) [[likely]]
    return lds;
  for (uint32_t i = 0; i < plan.argument_count; ++i) {
    const ArgumentStep& step = plan.arguments()[i];
    if (step.kind != StepKind::kDynamicLds) continue;
    lds = (lds + step.alignment - 1) / step.alignment * step.alignment;
    lds += dispatch.arguments[i].size;
  }
  return lds;
}

[[gnu::always_inline]] inline bool dispatch_is_plain(const Device& device, const Dispatch& dispatch,
                                                     DispatchKind kind) noexcept {
  if (dispatch.function == nullptr) return false;
  const ArgumentPlan* const plan = state_of(*dispatch.function).plan;
  if (plan == nullptr || dispatch.arguments.size() != plan->argument_count) return false;
  const Device& owner = dispatch.function->executable().device();
  if (&owner != &device && !is_part_of(owner, device)) return false;
  if ((plan->refused_argument & plan->refused_hidden) != ArgumentPlan::kNone) return false;
  const DeviceInfo& info = state_of(device).info;
  if (!workgroup_is_plain(info, *plan, dispatch.workgroup)) return false;
  if (kind == DispatchKind::kDirect && !grid_is_plain(info, dispatch.grid, dispatch.workgroup)) {
    return false;
  }
  if (plan->uniform_workgroups && kind == DispatchKind::kDirect &&
      !is_whole(dispatch.grid, dispatch.workgroup)) {
    return false;
  }
  const ArgumentStep* step = plan->arguments();
  for (const Argument& argument : dispatch.arguments) {
    if (!argument_is_plain(device, *step++, argument)) return false;
  }
  return lds_of(*plan, dispatch) <= info.lds_bytes;
}

inline Status check_dispatch(const Device& device, const Dispatch& dispatch, DispatchKind kind,
                             Slots slots) {
  if (dispatch_is_plain(device, dispatch, kind)) [[likely]]
    return {};
  return check_in_detail(device, dispatch, kind, slots);
}

}  // namespace halyard::internal
