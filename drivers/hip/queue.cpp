#include "drivers/hip/queue.h"

#include "drivers/hip/buffer.h"
#include "drivers/hip/command_buffer.h"
#include "drivers/hip/device.h"
#include "drivers/hip/host_operation.h"
#include "drivers/hip/launch.h"
#include "drivers/hip/managed.h"
#include "drivers/hip/transfers.h"
#include "hal/error.h"
#include "plugins/sdk/host_operation.h"
#include "plugins/sdk/managed.h"

namespace halyard::hip {

QueueImpl::QueueImpl(DeviceImpl& device, std::shared_ptr<QueueCore> core,
                     std::optional<QueuePlace> place)
    : QueueBase(device),
      keep_alive_(Ref<Device>::retain(&device)),
      place_(std::move(place)),
      core_(std::move(core)) {}

Status QueueImpl::do_fault() const {
  return core_->stream().lost() ? core_->stream().fault() : Status();
}

Status QueueImpl::do_abandon() {
  core_->abandon();
  return {};
}

Status QueueImpl::check_usable(const Buffer& buffer) const {
  return BufferImpl::check_usable(buffer, *keep_alive_);
}

Status QueueImpl::check_usable(const Dispatch& dispatch) const {
  for (const Argument& argument : dispatch.arguments) {
    if (!argument.has_range()) continue;
    HALYARD_RETURN_IF_ERROR(check_usable(*argument.range.buffer));
  }
  return {};
}

Status QueueImpl::do_dispatch(const Dispatch& dispatch, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(dispatch));
  DispatchOperation operation(dispatch);
  return core_->submit(operation, sync);
}

Status QueueImpl::do_barrier(const Sync& sync) {
  BarrierOperation operation;
  return core_->submit(operation, sync);
}

Status QueueImpl::do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                          const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(*target.buffer));
  core_->device().memory().tidy();
  FillOperation operation(target, pattern, pattern_size);
  return core_->submit(operation, sync);
}

Status QueueImpl::do_update(const BufferRange& target, const void* source, uint64_t size,
                            const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(*target.buffer));
  core_->device().memory().tidy();
  BufferRange range = target;
  range.length = size;
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<UpdateOperation> operation,
                           UpdateOperation::make(core_->device(), range, source));
  return core_->submit(*operation, sync);
}

Status QueueImpl::do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(*source.buffer));
  HALYARD_RETURN_IF_ERROR(check_usable(*target.buffer));
  CopyOperation operation(source, target);
  return core_->submit(operation, sync);
}

Status QueueImpl::do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                                    const RectangleCopy& shape, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(*source.buffer));
  HALYARD_RETURN_IF_ERROR(check_usable(*target.buffer));
  RectangleOperation operation(source, target, shape);
  return core_->submit(operation, sync);
}

Status QueueImpl::do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                                       const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(dispatch));
  HALYARD_RETURN_IF_ERROR(check_usable(*group_counts.buffer));
  std::vector<std::unique_ptr<QueueOperation>> steps;
  steps.push_back(indirect_launch(dispatch, group_counts));
  return core_->submit_steps(std::move(steps), sync);
}

Status QueueImpl::do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                             const Sync& sync) {
  auto& recorded = static_cast<CommandBufferImpl&>(commands);
  HALYARD_RETURN_IF_ERROR(recorded.recording().check_buffers());
  for (const BufferRange& binding : bindings) {
    HALYARD_RETURN_IF_ERROR(check_usable(*binding.buffer));
  }
  core_->device().memory().tidy();
  const uint64_t execution = core_->device().profiler().next_execution();
  if (recorded.has_indirect()) {
    HALYARD_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<QueueOperation>> steps,
                             replay_steps(recorded, bindings, execution));
    return core_->submit_steps(std::move(steps), sync);
  }
  ReplayOperation operation(recorded, bindings, execution, 0,
                            recorded.recording().commands().size());
  return core_->submit(operation, sync);
}

namespace {

uint64_t pool_queue(const Stream& stream) {
  return reinterpret_cast<uint64_t>(&stream);
}

// Gives a block back in the stream's order.
class GiveBackOperation final : public Operation {
 public:
  GiveBackOperation(const Stream& stream, std::shared_ptr<PoolReturn> block)
      : stream_(stream), block_(std::move(block)) {}
  OperationFacts facts() const override { return facts_of(ProfileKind::kDealloca); }
  // Once it is on the stream the block is gone.
  bool waits_on_host() const override { return true; }
  void cancel() override { block_->cancel({pool_queue(stream_), stream_.number()}); }
  // Another queue may have to wait for it (alloca_buffer in a full heap).
  bool needs_mark() const override { return true; }
  Status issue(QueueCore&) override { return {}; }
  void placed(uint64_t number) override { block_->done({pool_queue(stream_), number}); }
  Result<std::unique_ptr<Operation>> hold() override {
    return std::unique_ptr<Operation>(std::make_unique<GiveBackOperation>(stream_, block_));
  }

 private:
  const Stream& stream_;
  std::shared_ptr<PoolReturn> block_;
};

}  // namespace

// The memory is chosen at once, as the caller wants its address; what still uses it the queue waits
// for.
Status QueueImpl::do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                            Buffer** buffer) {
  DeviceImpl& device = core_->device();
  // An older program's options are shorter.
  std::shared_ptr<QueuePool> pool = pool_for(options, device.pools(options.type));
  PoolBlock block;
  PoolPoint after;
  HALYARD_RETURN_IF_ERROR(
      pool->acquire(size, options.alignment, pool_queue(core_->stream()), &block, &after));
  Ref<Buffer> made = BufferImpl::of_pool(device, options.type, size, block, std::move(pool));
  // Work that used the block before may be in flight: on this stream, or on the one that it waits
  // for.
  impl(*made).users().add(core_->stream().user_bit());
  if (after.queue != 0) {
    impl(*made).users().add(reinterpret_cast<const Stream*>(after.queue)->user_bit());
  }
  BarrierOperation operation(ProfileKind::kAlloca,
                             {reinterpret_cast<Stream*>(after.queue), after.index});
  HALYARD_RETURN_IF_ERROR(core_->submit(operation, sync));
  *buffer = made.leak();
  return {};
}

Status QueueImpl::do_dealloca(Buffer& buffer, const Sync& sync) {
  HALYARD_ASSIGN_OR_RETURN(const std::shared_ptr<PoolReturn> block,
                           PoolReturn::begin(buffer, impl(buffer).lease()));
  GiveBackOperation operation(core_->stream(), block);
  HALYARD_RETURN_IF_ERROR(core_->submit(operation, sync));
  // It may be held back behind others, which wait.
  if (sync.wait.empty()) block->ahead(pool_queue(core_->stream()));
  return {};
}

Status QueueImpl::submit_file(const FileWork& work, const Sync& sync) {
  const auto transfer = [&device = core_->device()](const FileWork& held) {
    return move_file(device, held);
  };
  return core_->submit_host(std::make_unique<FileOperation>(work, transfer), sync);
}

Status QueueImpl::do_read(const FileRange& source, const BufferRange& target, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(*target.buffer));
  return submit_file({FileWork::Direction::kFromFile, source, target}, sync);
}

Status QueueImpl::do_write(const BufferRange& source, const FileRange& target, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(check_usable(*source.buffer));
  return submit_file({FileWork::Direction::kToFile, target, source}, sync);
}

Status QueueImpl::do_prefetch(const BufferRange& range, PrefetchTarget to, const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(
      check_is_managed("Queue::prefetch", *range.buffer, impl(*range.buffer).is_managed()));
  const auto move = [&device = core_->device()](const BufferRange& held, PrefetchTarget target) {
    return hip::prefetch(device, held, target);
  };
  return core_->submit_host(std::make_unique<PrefetchOperation>(range, to, move), sync);
}

Status QueueImpl::do_host_call(const HostCall& call, const Sync& sync) {
  return core_->submit_host(std::make_unique<HostCallOperation>(call), sync);
}

}  // namespace halyard::hip
