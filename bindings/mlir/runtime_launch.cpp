// The runtime's launches.
#include <algorithm>

#include "bindings/mlir/runtime.h"
#include "hal/error.h"
#include "hal/kernel_arguments.h"
#include "hal/occupancy.h"
#include "hal/target_id.h"

namespace halyard::mlir {
namespace {

// What is said beside the failure of a kernel that was given such pointers.
std::string describe_unknown(const FunctionInfo& function,
                             const std::vector<std::string>& unknown) {
  if (unknown.empty()) return {};
  std::string list;
  for (const std::string& text : unknown) list += (list.empty() ? "" : ", ") + text;
  return fmt::format(
      "The kernel \"{}\" was given pointers to memory that the runtime does not know: {}. Make "
      "host "
      "memory valid on the device with gpu.host_register, or allocate it with gpu.alloc.",
      function.name, list);
}

}  // namespace

Status Runtime::prepare(LoadedFunction* function, const LaunchShape& shape, Stream& stream,
                        void* const* params, void* const* extra, std::optional<size_t> count,
                        LaunchArguments* arguments, Dispatch* dispatch) {
  HALYARD_ASSIGN_OR_RETURN(dispatch->function, resolve(function, stream.device()));
  if (extra != nullptr) {
    return Status(StatusCode::kUnimplemented,
                  "The launch passes its arguments through \"extra\", which MLIR does not use. "
                  "Pass them through \"params\".");
  }
  HALYARD_RETURN_IF_ERROR(set_shape(shape, dispatch));
  const FunctionInfo& info = dispatch->function->info();
  HALYARD_ASSIGN_OR_RETURN(
      *arguments,
      read_arguments(info, params, count.value_or(info.arguments.size()),
                     [&](uint64_t address) { return find_memory(address, stream.device()); }));
  dispatch->arguments = arguments->arguments;
  return {};
}

Status Runtime::launch(LoadedFunction* function, const LaunchShape& shape, Stream* stream,
                       void* const* params, void* const* extra, size_t count) {
  return on_stream(stream, [&](Stream& on) -> Status {
    LaunchArguments arguments;
    Dispatch dispatch;
    HALYARD_RETURN_IF_ERROR(
        prepare(function, shape, on, params, extra, count, &arguments, &dispatch));
    if (shape.is_empty()) return {};
    HALYARD_RETURN_IF_ERROR(on.queue().dispatch(dispatch));
    on.note_work(describe_unknown(dispatch.function->info(), arguments.unknown));
    return {};
  });
}

Status Runtime::check_cooperative(const Device& device, const Dispatch& dispatch) {
  const FunctionInfo& info = dispatch.function->info();
  HALYARD_ASSIGN_OR_RETURN(const TargetId target, parse_target_id(device.info().target));
  KernelNeeds needs;
  needs.vgprs = info.vgpr_count;
  needs.sgprs = info.sgpr_count;
  needs.lds_bytes = lds_bytes(dispatch);
  needs.workgroup_size = static_cast<uint32_t>(dispatch.workgroup.volume());
  needs.wavefront_size = info.wavefront_size;
  const std::optional<Occupancy> held = occupancy(target.processor, needs);
  if (!held) {
    return error(
        StatusCode::kUnimplemented,
        "How many work-groups the device ({}) holds at once is not known, so a cooperative "
        "launch is not possible.",
        device.info().target);
  }
  const uint64_t most = uint64_t{held->groups_per_compute_unit} * device.info().compute_units;
  const uint64_t groups =
      dispatch.grid.volume() / std::max<uint64_t>(dispatch.workgroup.volume(), 1);
  if (groups <= most) return {};
  return error(
      StatusCode::kInvalidArgument,
      "The cooperative launch of \"{}\" has {} work-groups of {} work-items, and the device "
      "holds at most {} at once (limited by {}). Launch fewer.",
      info.name, groups, dispatch.workgroup, most, to_string(held->limit));
}

Status Runtime::launch_cooperative(LoadedFunction* function, const LaunchShape& shape,
                                   Stream* stream, void* const* params, void* const* extra) {
  return on_stream(stream, [&](Stream& on) -> Status {
    LaunchArguments arguments;
    Dispatch dispatch;
    HALYARD_RETURN_IF_ERROR(
        prepare(function, shape, on, params, extra, std::nullopt, &arguments, &dispatch));
    if (shape.is_empty()) return {};
    HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device(on.device()));
    HALYARD_RETURN_IF_ERROR(check_cooperative(*state->device, dispatch));
    // Other kernels end without this one, but two cooperative ones could each hold what the other
    // waits for.
    const std::lock_guard lock(state->cooperative);
    const StreamPoint& last = state->last_cooperative;
    const SemaphorePoint wait = {last.semaphore.get(), last.value};
    const bool waits = wait.semaphore != nullptr;
    HALYARD_RETURN_IF_ERROR(
        on.queue().dispatch(dispatch, {.wait = {&wait, waits ? 1U : 0U}, .signal = {}}));
    on.note_work(describe_unknown(dispatch.function->info(), arguments.unknown));
    HALYARD_ASSIGN_OR_RETURN(state->last_cooperative, on.mark());
    return {};
  });
}

}  // namespace halyard::mlir
