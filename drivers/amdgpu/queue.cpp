#include "drivers/amdgpu/queue.h"

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/dispatch_operation.h"
#include "drivers/amdgpu/execute_operation.h"
#include "drivers/amdgpu/file_transfer.h"
#include "drivers/amdgpu/indirect_operation.h"
#include "drivers/amdgpu/launch.h"
#include "drivers/amdgpu/managed.h"
#include "drivers/amdgpu/memory_operations.h"
#include "drivers/amdgpu/pool_operation.h"
#include "hal/error.h"
#include "plugins/sdk/host_operation.h"
#include "plugins/sdk/managed.h"

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
    if (!argument.has_range()) continue;
    HALYARD_RETURN_IF_ERROR(share(*argument.range.buffer));
  }
  return {};
}

// A dispatch that waits for nothing goes from here to the doorbell without a lock, an allocation or
// a system call (docs/amdgpu-driver.md, "A dispatch").
// Inlined into the table's function.
[[gnu::always_inline]] inline Status QueueImpl::do_dispatch(const Dispatch& dispatch,
                                                            const Sync& sync) {
  QueueCore& core = core_;
  PacketRing& ring = core.ring();
  if (core.device().has_peers()) [[unlikely]]
    HALYARD_RETURN_IF_ERROR(share_arguments(dispatch));
  if (!sync.wait.empty() || core.takes_slow_path()) [[unlikely]] {
    DispatchOperation operation(dispatch, ring.hidden_values());
    return submit(core, operation, sync);
  }

  // Whether the kernel may read foreign memory, and which queues were given all that it uses.
  const auto& function = static_cast<const FunctionImpl&>(*dispatch.function);
  const KernelCode& code = function.code();
  const Device& device = core.device();
  bool reads_foreign = code.may_read_foreign;
  uint64_t users = function.users().bits();
  for (const Argument& argument : dispatch.arguments) {
    if (argument.has_range()) {
      BufferImpl& buffer = impl(*argument.range.buffer);
      reads_foreign |= is_foreign(buffer.origin_for(device));
      users &= buffer.users().bits();
    } else {
      reads_foreign |= argument.kind == Argument::Kind::kAddress;
    }
  }

  // 1. Reserve: the packet's slot, and more if the arguments are longer than one slot's block.
  const uint32_t slots = code.kernarg_blocks;
  const uint64_t index = ring.reserve(slots);
  const uint64_t last = index + slots - 1;

  // 2. Wait for room; only the loss of the queue is a failure. Then the signals, before the packet
  // is valid: whoever sees it done finds the points.
  if (Status status = core.room().wait(index, slots); !status.ok()) [[unlikely]]
    return status;
  const bool observed = !sync.signal.empty();
  if (observed) {
    for (const SemaphorePoint& signal : sync.signal) {
      impl(*signal.semaphore).add_point(signal.value, {&core, last});
    }
  }

  // 3. Write the arguments, and the packet but for its first word.
  ring.prefetch_slot(index + 4);
  Packet& packet = ring.slot(index);
  void* const kernarg = ring.kernarg(index);
  const uint32_t lds_bytes = pack_kernel_arguments(dispatch, ring.hidden_values(), kernarg);
  const bool interrupt = observed && slots == 1;
  write_body(packet.dispatch, code,
             {.grid = dispatch.grid,
              .workgroup = dispatch.workgroup,
              .lds_bytes = lds_bytes,
              .kernarg = kernarg,
              .completion = core.epoch().signals().completion(interrupt)});
  core.notes().note(index, &function, interrupt);

  // 4. Publish: the first word, with the fences; then the doorbell.
  const FenceFacts fences = {
      .kind = PacketKind::kDispatch,
      .observed = observed,
      .reads_foreign = core.fences().acquires_foreign(index) || reads_foreign};
  publish(packet, packet_header(fences), setup_of(dispatch.grid));
  if (slots != 1) [[unlikely]]
    fill_blocks(core, index, code, observed);
  ring.ring_doorbell(last);

  if (observed && core.edges().wanted()) [[unlikely]]
    core.edges().add(last);
  // In time: the caller keeps what the launch uses until this returns.
  if ((users & core.user_bit()) == 0) [[unlikely]]
    give(core, dispatch);
  return {};
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

Status QueueImpl::do_prefetch(const BufferRange& range, PrefetchTarget to, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(
      check_is_managed("Queue::prefetch", *range.buffer, impl(*range.buffer).backing().managed));
  const auto move = [&device = core_.device()](const BufferRange& held, PrefetchTarget target) {
    return amdgpu::prefetch(device, held, target);
  };
  return submit_host(core_, std::make_unique<PrefetchOperation>(range, to, move), sync);
}

Status QueueImpl::do_host_call(const HostCall& call, const Sync& sync) {
  return submit_host(core_, std::make_unique<HostCallOperation>(call), sync);
}

}  // namespace halyard::amdgpu
