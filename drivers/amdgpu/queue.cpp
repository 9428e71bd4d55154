#include "drivers/amdgpu/queue.h"

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/dispatch_operation.h"
#include "drivers/amdgpu/execute_operation.h"
#include "drivers/amdgpu/host_operation.h"
#include "drivers/amdgpu/transfers.h"
#include "hal/error.h"

namespace halyard::amdgpu {

namespace {

BufferImpl& impl(Buffer& buffer) {
  return static_cast<BufferImpl&>(buffer);
}

}  // namespace

QueueImpl::QueueImpl(DeviceImpl& device, QueueCore& core)
    : Queue(device), keep_alive_(Ref<Device>::retain(&device)), core_(core) {}

void QueueImpl::destroy() noexcept {
  // What is in flight or held back goes on without us.
  const Ref<Device> device = keep_alive_;
  core_.device().return_core(core_);
  delete this;
}

Status QueueImpl::do_dispatch(const Dispatch& dispatch, const Sync& sync) {
  DispatchOperation operation(dispatch, core_.hidden_values());
  if (sync.wait.empty() && !core_.detour()) [[likely]] {
    return operation.issue(core_, {.waits = {}, .signals = sync.signal, .foreign = false});
  }
  return submit(core_, operation, sync);
}

Status QueueImpl::do_barrier(const Sync& sync) {
  BarrierOperation operation;
  return submit(core_, operation, sync);
}

Status QueueImpl::do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                          const Sync& sync) {
  HALYARD_ASSIGN_OR_RETURN(
      const std::unique_ptr<UploadOperation> operation,
      UploadOperation::fill(*target.buffer, impl(*target.buffer).at(target.offset), pattern,
                            pattern_size, target.length));
  return submit(core_, *operation, sync);
}

Status QueueImpl::do_update(const BufferRange& target, const void* source, uint64_t size,
                            const Sync& sync) {
  HALYARD_ASSIGN_OR_RETURN(
      const std::unique_ptr<UploadOperation> operation,
      UploadOperation::update(*target.buffer, impl(*target.buffer).at(target.offset), source,
                              size));
  return submit(core_, *operation, sync);
}

Status QueueImpl::do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) {
  CopyOperation operation(*source.buffer, impl(*source.buffer).at(source.offset), *target.buffer,
                          impl(*target.buffer).at(target.offset), source.length);
  return submit(core_, operation, sync);
}

Status QueueImpl::do_dispatch_indirect(const Dispatch&, const BufferRange&, const Sync&) {
  return error(StatusCode::kUnimplemented,
               "The driver amdgpu does not dispatch indirectly yet. Read the group counts back and "
               "use Queue::dispatch.");
}

Status QueueImpl::do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                             const Sync& sync) {
  ExecuteOperation operation(core_, static_cast<CommandBufferImpl&>(commands), bindings);
  if (sync.wait.empty() && !core_.detour()) [[likely]] {
    return operation.issue(core_, {.waits = {}, .signals = sync.signal, .foreign = false});
  }
  return submit(core_, operation, sync);
}

// Allocated at once: the memory is nobody else's before the caller knows of it.
Status QueueImpl::do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                            Buffer** buffer) {
  BufferOptions buffer_options;
  buffer_options.type = options.type;
  buffer_options.alignment = options.alignment;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made,
                           BufferImpl::allocate(core_.device(), size, buffer_options));
  HALYARD_RETURN_IF_ERROR(do_barrier(sync));
  *buffer = made.leak();
  return {};
}

// The memory goes with the last reference, when the work that is then in flight is done.
Status QueueImpl::do_dealloca(Buffer&, const Sync& sync) {
  return do_barrier(sync);
}

Status QueueImpl::do_read(const FileRange& source, const BufferRange& target, const Sync& sync) {
  FileOperation operation(FileOperation::Direction::kFromFile, source, target);
  return submit(core_, operation, sync);
}

Status QueueImpl::do_write(const BufferRange& source, const FileRange& target, const Sync& sync) {
  FileOperation operation(FileOperation::Direction::kToFile, target, source);
  return submit(core_, operation, sync);
}

Status QueueImpl::do_host_call(const HostCall& call, const Sync& sync) {
  if (call.deferred != nullptr) {
    return error(StatusCode::kUnimplemented,
                 "The driver amdgpu does not defer host calls yet. Use Queue::host_call.");
  }
  HostCallOperation operation(call.function, call.context);
  return submit(core_, operation, sync);
}

}  // namespace halyard::amdgpu
