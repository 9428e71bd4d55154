#include "drivers/hip/launch.h"

#include <cstring>

#include "drivers/hip/device.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::hip {

namespace {

const FunctionImpl& function_of(const Dispatch& dispatch) {
  return static_cast<const FunctionImpl&>(*dispatch.function);
}

}  // namespace

Status launch(QueueCore& core, const Launch& launch) {
  const FunctionInfo& info = launch.function.info();
  size_t size = info.kernarg_size;
  void* extra[] = {kLaunchParamBufferPointer, launch.kernarg, kLaunchParamBufferSize, &size,
                   kLaunchParamEnd};
  TimedOperation timed;
  Profiler& profiler = core.device().profiler();
  if (profiler.wants(ProfileKind::kDispatch)) [[unlikely]] {
    timed = profiler.begin_operation(ProfileNote(
        facts_of(launch.function, launch.grid, launch.workgroup), core.queue_id(), launch.place));
  }
  core.stream().note(&launch.function);
  static_cast<ExecutableImpl&>(launch.function.executable()).users().add(core.stream().user_bit());
  const hipError_t result = core.hip().hipExtModuleLaunchKernel(
      launch.function.handle(), launch.grid.x, launch.grid.y, launch.grid.z, launch.workgroup.x,
      launch.workgroup.y, launch.workgroup.z, launch.lds_bytes - info.group_segment_size,
      core.stream().handle(), nullptr, extra, timed.marks.start, timed.marks.stop, 0);
  if (result != hipSuccess) [[unlikely]] {
    core.stream().note(nullptr);
    profiler.drop(timed.marks);
    return check(
        core.hip(), result,
        fmt::format("Launching the kernel \"{}\" (grid {}, work-group {}, {} bytes of LDS)",
                    short_name(info.name), launch.grid, launch.workgroup, launch.lds_bytes));
  }
  if (timed.marks.stop != nullptr) [[unlikely]]
    profiler.end_operation(timed, core.stream());
  return {};
}

Status DispatchOperation::issue(QueueCore& core) {
  constexpr size_t kOnStack = 1024;
  const FunctionImpl& function = function_of(dispatch_);
  const size_t size = function.info().kernarg_size;
  alignas(64) std::byte on_stack[kOnStack];
  std::vector<std::byte> on_heap;
  std::byte* kernarg = on_stack;
  if (size > kOnStack) [[unlikely]] {
    on_heap.resize(size);
    kernarg = on_heap.data();
  } else {
    std::memset(kernarg, 0, size);
  }
  const uint32_t lds = pack_kernel_arguments(dispatch_, kNoHiddenValues, kernarg);
  for (const Argument& argument : dispatch_.arguments) {
    if (argument.has_range()) use(core, *argument.range.buffer);
  }
  return launch(core, {function, dispatch_.grid, dispatch_.workgroup, lds, kernarg});
}

Result<std::unique_ptr<Operation>> DispatchOperation::hold() {
  return std::unique_ptr<Operation>(std::make_unique<HeldLaunch>(dispatch_));
}

HeldLaunch::HeldLaunch(const Dispatch& dispatch)
    : function_(function_of(dispatch)),
      grid_(dispatch.grid),
      workgroup_(dispatch.workgroup),
      kernarg_(function_.info().kernarg_size),
      keep_executable_(Ref<Executable>::retain(&function_.executable())) {
  lds_bytes_ = pack_kernel_arguments(dispatch, kNoHiddenValues, kernarg_.data());
  for (const Argument& argument : dispatch.arguments) {
    if (!argument.has_range() || argument.range.buffer == nullptr) continue;
    keep_buffers_.push_back(Ref<Buffer>::retain(argument.range.buffer));
  }
}

Status HeldLaunch::issue(QueueCore& core) {
  for (const Ref<Buffer>& buffer : keep_buffers_) use(core, *buffer);
  return launch(core, {function_, grid_, workgroup_, lds_bytes_, kernarg_.data()});
}

Result<std::unique_ptr<Operation>> HeldLaunch::hold() {
  return error(StatusCode::kInternal, "Internal error: a held launch was held back again.");
}

}  // namespace halyard::hip
