#include "drivers/amdgpu/queue.h"

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/dispatch_operation.h"
#include "drivers/amdgpu/execute_operation.h"
#include "drivers/amdgpu/file_transfer.h"
#include "drivers/amdgpu/indirect_operation.h"
#include "drivers/amdgpu/memory_operations.h"
#include "drivers/amdgpu/pool_operation.h"
#include "drivers/common/host_operation.h"
#include "hal/error.h"

namespace halyard::amdgpu {

QueueImpl::QueueImpl(DeviceImpl& device, QueueCore& core, QueuePlace place)
    : QueueBase(device, driver::QueueTable<QueueImpl>::kFunctions),
      keep_alive_(Ref<Device>::retain(&device)),
      place_(std::move(place)),
      core_(core),
      id_(device.next_queue_id()) {
  core.set_queue_id(id_);
}

void QueueImpl::destroy() noexcept {
  // What is in flight or held back goes on without us.
  const Ref<Device> device = keep_alive_;
  core_.device().return_core(core_);
  delete this;
}

Status QueueImpl::do_fault() const {
  return core_.loss().lost() ? core_.loss().cause() : Status();
}

Status QueueImpl::do_abandon() {
  core_.device().abandon_queue(core_);
  return {};
}

Status QueueImpl::share(Buffer& buffer) {
  return BufferImpl::share(buffer, core_.device());
}

Status QueueImpl::share_arguments(const Dispatch& dispatch) {
  for (const Argument& argument : dispatch.arguments) {
    if (argument.kind != Argument::Kind::kBuffer) continue;
    HALYARD_RETURN_IF_ERROR(share(*argument.range.buffer));
  }
  return {};
}

Status QueueImpl::do_dispatch(const Dispatch& dispatch, const Sync& sync) {
  if (core_.device().has_peers()) [[unlikely]]
    HALYARD_RETURN_IF_ERROR(share_arguments(dispatch));
  DispatchOperation operation(dispatch, core_.ring().hidden_values());
  if (sync.wait.empty() && !core_.takes_slow_path()) [[likely]] {
    return operation.put(core_, {.waits = {}, .signals = sync.signal, .foreign = false});
  }
  return submit(core_, operation, sync);
}

Status QueueImpl::do_barrier(const Sync& sync) {
  BarrierOperation operation;
  return submit(core_, operation, sync);
}

Status QueueImpl::do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                          const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(share(*target.buffer));
  return submit_fill(core_, target, pattern, pattern_size, sync);
}

Status QueueImpl::do_update(const BufferRange& target, const void* source, uint64_t size,
                            const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(share(*target.buffer));
  return submit_update(core_, target, source, size, sync);
}

Status QueueImpl::do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(share(*source.buffer));
  HALYARD_RETURN_IF_ERROR(share(*target.buffer));
  return submit_copy(core_, source, target, sync);
}

Status QueueImpl::do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                                    const RectangleCopy& shape, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(share(*source.buffer));
  HALYARD_RETURN_IF_ERROR(share(*target.buffer));
  return submit_copy_rectangle(core_, source, target, shape, sync);
}

Status QueueImpl::do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                                       const Sync& sync) {
  if (core_.device().has_peers()) {
    HALYARD_RETURN_IF_ERROR(share_arguments(dispatch));
    HALYARD_RETURN_IF_ERROR(share(*group_counts.buffer));
  }
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<IndirectOperation> operation,
                           IndirectOperation::make(core_, dispatch, group_counts));
  return submit(core_, *operation, sync);
}

Status QueueImpl::do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                             const Sync& sync) {
  if (core_.device().has_peers()) [[unlikely]] {
    for (const BufferRange& binding : bindings) HALYARD_RETURN_IF_ERROR(share(*binding.buffer));
  }
  auto& recorded = static_cast<CommandBufferImpl&>(commands);
  HALYARD_RETURN_IF_ERROR(recorded.program().check_buffers());
  ExecuteOperation operation(core_, recorded, bindings);
  if (sync.wait.empty() && !core_.takes_slow_path()) [[likely]] {
    return operation.issue(core_, {.waits = {}, .signals = sync.signal, .foreign = false});
  }
  return submit(core_, operation, sync);
}

// The block is the caller's at once; work that may use it comes behind a packet of this queue's.
Status QueueImpl::do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                            Buffer** buffer) {
  PoolPoint after;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, BufferImpl::from_pool(core_, size, options, &after));
  BarrierOperation operation(ProfileKind::kAlloca);
  if (after.queue == 0) {
    HALYARD_RETURN_IF_ERROR(submit(core_, operation, sync));
  } else {
    // Another queue gave the block back and is not there yet: one more thing to wait for.
    auto& device = core_.device();
    const Ref<SemaphoreImpl> free = Ref<SemaphoreImpl>::adopt(new SemaphoreImpl(device, 0));
    free->add_point(1, {reinterpret_cast<QueueCore*>(after.queue), after.index});
    std::vector<SemaphorePoint> waits(sync.wait.begin(), sync.wait.end());
    waits.push_back({free.get(), 1});
    HALYARD_RETURN_IF_ERROR(submit(core_, operation, {.wait = waits, .signal = sync.signal}));
  }
  *buffer = made.leak();
  return {};
}

Status QueueImpl::do_dealloca(Buffer& buffer, const Sync& sync) {
  HALYARD_ASSIGN_OR_RETURN(const std::shared_ptr<PoolReturn> block,
                           PoolReturn::begin(buffer, impl(buffer).lease()));
  DeallocaOperation operation(core_, block);
  HALYARD_RETURN_IF_ERROR(submit(core_, operation, sync));
  // It may be held back behind others, which wait.
  if (sync.wait.empty()) block->ahead(Pools::id_of(core_));
  // An allocation may wait for the block.
  core_.device().progress();
  return {};
}

Status QueueImpl::submit_file(const FileWork& work, const Sync& sync) {
  const auto transfer = [&core = core_](const FileWork& held) { return move_file(core, held); };
  return submit_host(core_, std::make_unique<FileOperation>(work, transfer), sync);
}

Status QueueImpl::do_read(const FileRange& source, const BufferRange& target, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(share(*target.buffer));
  return submit_file({FileWork::Direction::kFromFile, source, target}, sync);
}

Status QueueImpl::do_write(const BufferRange& source, const FileRange& target, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(share(*source.buffer));
  return submit_file({FileWork::Direction::kToFile, target, source}, sync);
}

Status QueueImpl::do_host_call(const HostCall& call, const Sync& sync) {
  return submit_host(core_, std::make_unique<HostCallOperation>(call), sync);
}

}  // namespace halyard::amdgpu
