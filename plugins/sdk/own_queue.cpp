#include "plugins/sdk/own_queue.h"

#include <utility>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {

Result<OwnQueue> OwnQueue::make(DriverDevice& device) {
  Queue* queue = nullptr;
  HALYARD_RETURN_IF_ERROR(device.do_create_queue({}, &queue));
  Ref<Queue> own = Ref<Queue>::adopt(queue);
  Semaphore* semaphore = nullptr;
  HALYARD_RETURN_IF_ERROR(device.do_create_semaphore(0, &semaphore));
  return OwnQueue(device, std::move(own), Ref<Semaphore>::adopt(semaphore));
}

Result<Ref<Buffer>> OwnQueue::at(uint64_t address, uint64_t size) const {
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(address);
  options.size = size;
  Buffer* buffer = nullptr;
  HALYARD_RETURN_IF_ERROR(device_.do_import_buffer(options, &buffer));
  return Ref<Buffer>::adopt(buffer);
}

template <typename Submit>
Status OwnQueue::wait_for(Submit&& submit, Deadline deadline) {
  const SemaphorePoint point = {semaphore_.get(), ++reached_};
  HALYARD_RETURN_IF_ERROR(submit(Sync{.signal = {&point, 1}}));
  size_t index = 0;
  return device_.do_wait({&point, 1}, WaitMode::kAll, deadline, &index);
}

Status OwnQueue::clear(uint64_t address, uint64_t size) {
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> target, at(address, size));
  const uint32_t zero = 0;
  return wait_for([&](const Sync& sync) {
    return queue().do_fill(BufferRange(*target, 0, size), &zero, sizeof zero, sync);
  });
}

Status OwnQueue::copy(uint64_t target, uint64_t source, uint64_t size) {
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> to, at(target, size));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> from, at(source, size));
  return wait_for([&](const Sync& sync) {
    return queue().do_copy(BufferRange(*from, 0, size), BufferRange(*to, 0, size), sync);
  });
}

Status OwnQueue::write(uint64_t target, const void* source, uint64_t size) {
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> to, at(target, size));
  return wait_for([&](const Sync& sync) {
    return queue().do_update(BufferRange(*to, 0, size), source, size, sync);
  });
}

// The host's validation is not in front of this.
Status OwnQueue::run(const driver::FunctionBase& function, Deadline deadline) {
  const FunctionInfo& info = function.info();
  if (!info.problem.empty()) {
    return error(StatusCode::kFailedPrecondition, "It cannot be dispatched. {}", info.problem);
  }
  if (info.missing_hidden != 0) {
    return error(StatusCode::kUnimplemented,
                 "It uses the hidden argument {}, which Halyard does not support.",
                 short_name(info.hidden[info.missing_hidden - 1].value_kind));
  }
  const Dim3& required = info.required_workgroup_size;
  if (!info.arguments.empty() || (required.x != 0 && required.volume() != 1)) {
    return error(StatusCode::kInvalidArgument,
                 "It takes {} arguments and work-groups of {}x{}x{} work-items; loaders start such "
                 "a kernel with one work-item and without arguments.",
                 info.arguments.size(), required.x, required.y, required.z);
  }
  Dispatch dispatch;
  dispatch.function = &function;
  dispatch.grid = dispatch.workgroup = {1, 1, 1};
  return wait_for([&](const Sync& sync) { return queue().do_dispatch(dispatch, sync); }, deadline);
}

}  // namespace halyard
