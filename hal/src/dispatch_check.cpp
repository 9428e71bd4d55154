#include "dispatch_check.h"

#include <string>

#include "hal/device.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

constexpr const char* kDimensions[] = {"x", "y", "z"};

uint32_t at(const Dim3& d, int i) noexcept {
  return i == 0 ? d.x : i == 1 ? d.y : d.z;
}

std::string name_of(const FunctionInfo& function) {
  return short_name(function.name);
}
std::string name_of(const Dispatch& dispatch) {
  return name_of(dispatch.function->info());
}

[[gnu::cold, gnu::noinline]] Status no_function() {
  return error(StatusCode::kInvalidArgument,
               "A dispatch is given no function (null). Executable::find returns one.");
}

[[gnu::cold, gnu::noinline]] Status no_plan(const Dispatch& dispatch) {
  const FunctionInfo& info = dispatch.function->info();
  if (!info.problem.empty()) return unusable(info);
  return error(StatusCode::kResourceExhausted,
               "A dispatch of \"{}\" fails: there was no host memory for its argument layout when "
               "the executable was loaded.",
               name_of(dispatch));
}

// Those of the function, without the uses behind them.
size_t given_arguments(const Dispatch& dispatch) noexcept {
  size_t count = dispatch.arguments.size();
  while (count > 0 && dispatch.arguments[count - 1].kind == Argument::Kind::kUse) --count;
  return count;
}

[[gnu::cold, gnu::noinline]] Status wrong_count(const Dispatch& dispatch) {
  const FunctionInfo& info = dispatch.function->info();
  const size_t given = given_arguments(dispatch);
  const size_t wanted = info.arguments.size();
  std::string which;
  if (given < wanted) {
    const ArgumentInfo& missing = info.arguments[given];
    which =
        fmt::format(" The first one that is missing is argument {}{} ({}, {} bytes).", given,
                    missing.name.empty() ? "" : fmt::format(" \"{}\"", short_name(missing.name)),
                    short_name(missing.value_kind), missing.size);
  }
  return error(StatusCode::kInvalidArgument,
               "A dispatch of \"{}\" is given {} argument{}; the function takes {}.{}",
               name_of(info), given, given == 1 ? "" : "s", wanted, which);
}

[[gnu::cold, gnu::noinline]] Status other_device(const Device& device, const Dispatch& dispatch) {
  const DeviceNames names = names_of(device, dispatch.function->executable().device());
  return error(
      StatusCode::kInvalidArgument,
      "A dispatch on device \"{}\" is given function \"{}\" of an executable that is loaded "
      "on another device (\"{}\"). Load the executable on each device that runs it.",
      names.one, name_of(dispatch), names.other);
}

// Work-group.

[[gnu::cold, gnu::noinline]] Status explain_workgroup(const Device& device,
                                                      const Dispatch& dispatch) {
  const DeviceInfo& info = device.info();
  const FunctionInfo& function = dispatch.function->info();
  const Dim3& group = dispatch.workgroup;
  for (int i = 0; i < 3; ++i) {
    if (at(group, i) == 0) {
      return error(StatusCode::kInvalidArgument,
                   "A dispatch of \"{}\" is given a work-group ({}) of size 0 in {}. Legal are 1 "
                   "to {} work-items there, and {} in all.",
                   name_of(function), group, kDimensions[i], at(info.max_workgroup, i),
                   info.max_workgroup_size);
    }
    if (at(group, i) > at(info.max_workgroup, i)) {
      return error(StatusCode::kInvalidArgument,
                   "A dispatch of \"{}\" is given a work-group ({}) whose size in {} ({}) exceeds "
                   "the device's limit ({}).",
                   name_of(function), group, kDimensions[i], at(group, i),
                   at(info.max_workgroup, i));
    }
  }
  // Each size is within 32 bits; the device's limits keep the product within 64.
  const uint64_t volume = group.volume();
  if (volume > info.max_workgroup_size) {
    return error(StatusCode::kInvalidArgument,
                 "A dispatch of \"{}\" is given a work-group ({}) of {} work-items, above the "
                 "device's limit ({}).",
                 name_of(function), group, volume, info.max_workgroup_size);
  }
  const Dim3& required = function.required_workgroup_size;
  if (required != Dim3{0, 0, 0} && required != group) {
    return error(StatusCode::kInvalidArgument,
                 "A dispatch of \"{}\" is given a work-group ({}) other than the one the function "
                 "was compiled for ({}, reqd_work_group_size).",
                 name_of(function), group, required);
  }
  if (volume > function.max_workgroup_size) {
    return error(StatusCode::kInvalidArgument,
                 "A dispatch of \"{}\" is given a work-group ({}) of {} work-items, above the "
                 "function's limit ({}). Compile it for larger ones "
                 "(amdgpu_flat_work_group_size, __launch_bounds__), or use a smaller one.",
                 name_of(function), group, volume, function.max_workgroup_size);
  }
  return {};
}

// Grid.

[[gnu::cold, gnu::noinline]] Status explain_grid(const Device& device, const Dispatch& dispatch) {
  const DeviceInfo& info = device.info();
  const Dim3& grid = dispatch.grid;
  const Dim3& group = dispatch.workgroup;
  for (int i = 0; i < 3; ++i) {
    if (at(grid, i) == 0) {
      return error(StatusCode::kInvalidArgument,
                   "A dispatch of \"{}\" is given a grid ({}) of size 0 in {}. Legal are 1 to {} "
                   "work-items there.",
                   name_of(dispatch), grid, kDimensions[i], at(info.max_grid, i));
    }
    if (at(grid, i) > at(info.max_grid, i)) {
      return error(StatusCode::kInvalidArgument,
                   "A dispatch of \"{}\" is given a grid ({}) whose size in {} ({}) exceeds the "
                   "device's limit ({} work-items).",
                   name_of(dispatch), grid, kDimensions[i], at(grid, i), at(info.max_grid, i));
    }
    if (at(grid, i) < at(group, i)) {
      return error(StatusCode::kInvalidArgument,
                   "A dispatch of \"{}\" is given a grid ({}) that is smaller than its work-group "
                   "({}) in {}. The grid counts work-items: at least {} there, or use a smaller "
                   "work-group.",
                   name_of(dispatch), grid, group, kDimensions[i], at(group, i));
    }
  }
  for (int i = 0; i < 3 && dispatch.function->info().uniform_workgroups; ++i) {
    if (at(grid, i) % at(group, i) == 0) continue;
    return error(StatusCode::kInvalidArgument,
                 "A dispatch of \"{}\" is given a grid ({}) whose last work-group in {} is partial "
                 "(the work-group is {}); the function is compiled for whole ones only "
                 "(.uniform_work_group_size). Use a work-group that divides the grid, or a larger "
                 "grid if the kernel ignores work-items past its end.",
                 name_of(dispatch), grid, kDimensions[i], group);
  }
  if (volume_exceeds(grid, info.max_grid_size)) {
    return error(StatusCode::kInvalidArgument,
                 "A dispatch of \"{}\" is given a grid ({}) of more work-items in all than the "
                 "device's limit ({}).",
                 name_of(dispatch), grid, info.max_grid_size);
  }
  return {};
}

// LDS.

[[gnu::cold, gnu::noinline]] Status too_much_lds(const Device& device, const Dispatch& dispatch,
                                                 uint64_t bytes) {
  const uint32_t fixed = dispatch.function->info().group_segment_size;
  return error(StatusCode::kInvalidArgument,
               "A dispatch of \"{}\" needs {} bytes of LDS for each work-group ({} static and {} "
               "dynamic), above the device's limit ({}).",
               name_of(dispatch), bytes, fixed, bytes - fixed, device.info().lds_bytes);
}

// Arguments.

const char* kind_name(Argument::Kind kind) noexcept {
  switch (kind) {
    case Argument::Kind::kValue:
      return "a value";
    case Argument::Kind::kBuffer:
      return "a buffer";
    case Argument::Kind::kDynamicLds:
      return "dynamic LDS";
    case Argument::Kind::kAddress:
      return "an address";
    case Argument::Kind::kUse:
      return "a use of memory (Argument::uses)";
  }
  return "an argument of no known kind";
}

const char* wanted_name(ArgumentKind kind) noexcept {
  switch (kind) {
    case ArgumentKind::kValue:
      return "a value";
    case ArgumentKind::kBuffer:
      return "a buffer";
    default:
      return "dynamic LDS";
  }
}

// Argument 2 "n" of "vadd" (int, by_value at offset 24)
std::string describe(const Dispatch& dispatch, size_t index) {
  const Span<const ArgumentInfo> arguments = dispatch.function->info().arguments;
  if (index >= arguments.size()) {
    return fmt::format("Use {} of memory (Argument::uses) by \"{}\"", index - arguments.size(),
                       name_of(dispatch));
  }
  const ArgumentInfo& info = arguments[index];
  std::string text = fmt::format("Argument {}", index);
  if (!info.name.empty()) text += fmt::format(" \"{}\"", short_name(info.name));
  text += fmt::format(" of \"{}\" (", name_of(dispatch));
  if (!info.type_name.empty()) text += fmt::format("{}, ", short_name(info.type_name));
  text += fmt::format("{} of {} byte{} at offset {})", short_name(info.value_kind), info.size,
                      info.size == 1 ? "" : "s", info.offset);
  return text;
}

[[gnu::cold, gnu::noinline]] Status no_used_buffer(const Dispatch& dispatch, size_t index) {
  return error(
      StatusCode::kInvalidArgument,
      "{} names no buffer (null). It keeps a buffer alive whose address the kernel is given "
      "in other data; a binding slot has none.",
      describe(dispatch, index));
}

Status explain_range(const Device& device, const Dispatch& dispatch, size_t index, Slots slots) {
  const BufferRange& range = dispatch.arguments[index].range;
  if (range.buffer == nullptr) {
    if (slots == Slots::kYes) return {};
    return error(StatusCode::kInvalidArgument,
                 "{} is given no buffer (null). Only a CommandBuffer takes binding slots in place "
                 "of buffers. For a null pointer, pass Argument::address(0).",
                 describe(dispatch, index));
  }
  if (!reaches(device, *range.buffer)) {
    const DeviceNames names = names_of(range.buffer->device(), device);
    return error(StatusCode::kInvalidArgument,
                 "{} is given a buffer of another device (\"{}\"; the dispatch is on \"{}\", which "
                 "cannot access it: Device::can_access). Allocate the buffer on the same device.",
                 describe(dispatch, index), names.one, names.other);
  }
  const uint64_t size = range.buffer->size();
  if (size == 0) return given_back(describe(dispatch, index).c_str(), "range");
  if (range.offset > size) {
    return error(StatusCode::kOutOfRange,
                 "{} is given offset {}, past the end of its buffer ({} bytes).",
                 describe(dispatch, index), range.offset, size);
  }
  if (range.length != BufferRange::kToEnd && range.length > size - range.offset) {
    return error(
        StatusCode::kOutOfRange,
        "{} is given {} bytes from offset {}, which do not fit into its buffer ({} bytes).",
        describe(dispatch, index), range.length, range.offset, size);
  }
  return {};
}

[[gnu::cold, gnu::noinline]] Status explain_argument(const Device& device, const Dispatch& dispatch,
                                                     size_t index, Slots slots) {
  const ArgumentInfo& info = dispatch.function->info().arguments[index];
  const Argument& argument = dispatch.arguments[index];
  if (static_cast<uint32_t>(argument.kind) != static_cast<uint32_t>(info.kind)) {
    const bool address = argument.kind == Argument::Kind::kBuffer && info.size == 8;
    return error(StatusCode::kInvalidArgument, "{} is given {}; it takes {}.{}",
                 describe(dispatch, index), kind_name(argument.kind), wanted_name(info.kind),
                 address
                     ? " For a buffer's address as a number, pass Buffer::device_address() with "
                       "Argument::of, and the buffer with Argument::uses."
                     : "");
  }
  if (argument.kind == Argument::Kind::kBuffer) {
    return explain_range(device, dispatch, index, slots);
  }
  if (argument.kind != Argument::Kind::kValue) return {};
  if (argument.value == nullptr &&
      (argument.size == 0 || argument.size > sizeof(argument.immediate))) {
    return error(StatusCode::kInvalidArgument, "{} is given no value (null).",
                 describe(dispatch, index));
  }
  if (argument.size != info.size) {
    return error(
        StatusCode::kInvalidArgument,
        "{} is given a value of {} byte{}; it takes {}. Pass a value of the parameter's own "
        "type.",
        describe(dispatch, index), argument.size, argument.size == 1 ? "" : "s", info.size);
  }
  return {};
}

const char* without(ArgumentKind kind) noexcept {
  switch (kind) {
    case ArgumentKind::kHiddenPrintfBuffer:
      return "This driver has no buffer for it: remove the calls of printf.";
    case ArgumentKind::kHiddenHostcallBuffer:
      return "This driver has no buffer for it: remove printf and assert from the kernel "
             "(-DNDEBUG), "
             "and compile it with -O1 or higher, because at -O0 compilers list the argument for "
             "every "
             "kernel.";
    case ArgumentKind::kHiddenHeap:
      return "Remove malloc, free, new and delete from the kernel.";
    case ArgumentKind::kHiddenDefaultQueue:
    case ArgumentKind::kHiddenCompletionAction:
      return "Remove enqueue_kernel from the kernel.";
    default:
      return "It is not among those that Halyard knows.";
  }
}

[[gnu::cold, gnu::noinline]] Status refused(const Dispatch& dispatch) {
  const FunctionInfo& info = dispatch.function->info();
  const ArgumentPlan& plan = *state_of(*dispatch.function).plan;
  if (plan.refused_argument != ArgumentPlan::kNone) {
    const ArgumentInfo& argument = info.arguments[plan.refused_argument];
    const char* why = argument.kind == ArgumentKind::kUnsupported
                          ? "is of a kind that Halyard does not support. Supported are by_value, "
                            "global_buffer and dynamic_shared_pointer."
                          : "has a size or an offset that is not possible for its kind.";
    return error(StatusCode::kUnimplemented, "{} {}", describe(dispatch, plan.refused_argument),
                 fmt::format("{} The kernarg segment has {} bytes.", why, info.kernarg_size));
  }
  const ArgumentInfo& argument = info.hidden[plan.refused_hidden];
  return error(StatusCode::kUnimplemented,
               "Function \"{}\" uses the hidden argument {} ({} bytes at offset {}), which Halyard "
               "does not support. {}",
               name_of(info), short_name(argument.value_kind), argument.size, argument.offset,
               without(argument.kind));
}

}  // namespace

Status unusable(const FunctionInfo& function) {
  return error(StatusCode::kFailedPrecondition, "The function \"{}\" cannot be dispatched. {}",
               name_of(function), function.problem);
}

Status check_dispatch_memory(const Device&, const Dispatch& dispatch) {
  if (dispatch.function == nullptr) [[unlikely]]
    return no_function();
  const ArgumentPlan* plan = state_of(*dispatch.function).plan;
  if (plan == nullptr) [[unlikely]]
    return no_plan(dispatch);
  if (dispatch.arguments.size() == plan->argument_count) [[likely]]
    return {};
  if (given_arguments(dispatch) != plan->argument_count) return wrong_count(dispatch);
  for (size_t i = plan->argument_count; i < dispatch.arguments.size(); ++i) {
    if (dispatch.arguments[i].range.buffer == nullptr) return no_used_buffer(dispatch, i);
  }
  return {};
}

Status check_in_detail(const Device& device, const Dispatch& dispatch, DispatchKind kind,
                       Slots slots) {
  HALYARD_RETURN_IF_ERROR(check_dispatch_memory(device, dispatch));
  const ArgumentPlan& plan = *state_of(*dispatch.function).plan;
  const Device& owner = dispatch.function->executable().device();
  if (&owner != &device && !is_part_of(owner, device)) return other_device(device, dispatch);
  if ((plan.refused_argument & plan.refused_hidden) != ArgumentPlan::kNone) {
    return refused(dispatch);
  }
  HALYARD_RETURN_IF_ERROR(explain_workgroup(device, dispatch));
  if (kind == DispatchKind::kDirect) HALYARD_RETURN_IF_ERROR(explain_grid(device, dispatch));
  for (size_t i = 0; i < plan.argument_count; ++i) {
    if (argument_is_plain(device, plan.arguments()[i], dispatch.arguments[i])) continue;
    HALYARD_RETURN_IF_ERROR(explain_argument(device, dispatch, i, slots));
  }
  for (size_t i = plan.argument_count; i < dispatch.arguments.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(explain_range(device, dispatch, i, Slots::kNo));
  }
  const uint64_t lds = lds_of(plan, dispatch);
  return lds > device.info().lds_bytes ? too_much_lds(device, dispatch, lds) : Status();
}

}  // namespace halyard::internal
