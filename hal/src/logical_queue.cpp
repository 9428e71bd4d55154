#include "logical_queue.h"

#include <utility>

#include "gpu_group.h"
#include "hal/command_buffer.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "logical_command_buffer.h"
#include "logical_executable.h"

namespace halyard::internal {
namespace {

// Buffers and semaphores are the GPUs' own, so most operations go on as they are.
class LogicalQueue final : public driver::QueueBase {
 public:
  LogicalQueue(GpuGroup& device, size_t gpu, Ref<Queue> queue)
      : QueueBase(device),
        keep_alive_(Ref<Device>::retain(&device)),
        gpu_(gpu),
        queue_(std::move(queue)) {}

 private:
  ~LogicalQueue() = default;
  void destroy() noexcept override { delete this; }

  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                 const Sync& sync) override {
    return queue_->fill(target, pattern, pattern_size, sync);
  }
  Status do_update(const BufferRange& target, const void* source, uint64_t size,
                   const Sync& sync) override {
    return queue_->update(target, source, size, sync);
  }
  Status do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) override {
    return queue_->copy(source, target, sync);
  }
  Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                           const RectangleCopy& shape, const Sync& sync) override {
    return queue_->copy_rectangle(source, target, shape, sync);
  }
  Status do_dispatch(const Dispatch& dispatch, const Sync& sync) override {
    Dispatch own = dispatch;
    HALYARD_RETURN_IF_ERROR(choose_variant(device(), gpu_, &own.function));
    return queue_->dispatch(own, sync);
  }
  Status do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                              const Sync& sync) override {
    Dispatch own = dispatch;
    HALYARD_RETURN_IF_ERROR(choose_variant(device(), gpu_, &own.function));
    return queue_->dispatch_indirect(own, group_counts, sync);
  }
  Status do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                    const Sync& sync) override {
    HALYARD_ASSIGN_OR_RETURN(CommandBuffer* const own, recording_for(commands, gpu_));
    return queue_->execute(*own, bindings, sync);
  }
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override {
    HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, queue_->alloca_buffer(size, options, sync));
    *buffer = made.leak();
    return {};
  }
  Status do_dealloca(Buffer& buffer, const Sync& sync) override {
    if (&buffer.device() == &queue_->device()) return queue_->dealloca_buffer(buffer, sync);
    // The pool is another GPU's. A queue of its own there, as one that several share could have
    // them wait for each other.
    Device& owner = buffer.device();
    HALYARD_ASSIGN_OR_RETURN(const Ref<Queue> there, owner.create_queue());
    HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> here, owner.create_semaphore());
    const SemaphorePoint reached = {here.get(), 1};
    HALYARD_RETURN_IF_ERROR(queue_->fault());
    // First, as a barrier could not be taken back if that GPU refused.
    HALYARD_RETURN_IF_ERROR(
        there->dealloca_buffer(buffer, {.wait = {&reached, 1}, .signal = sync.signal}));
    const Status status = queue_->barrier({.wait = sync.wait, .signal = {&reached, 1}});
    // The buffer is then not given back, and what the caller was to be signalled fails.
    if (!status.ok()) here->fail(status);
    return status;
  }
  Status do_read(const FileRange& source, const BufferRange& target, const Sync& sync) override {
    return queue_->read(source, target, sync);
  }
  Status do_write(const BufferRange& source, const FileRange& target, const Sync& sync) override {
    return queue_->write(source, target, sync);
  }
  Status do_prefetch(const BufferRange& range, PrefetchTarget to, const Sync& sync) override {
    return queue_->prefetch(range, to, sync);
  }
  Status do_host_call(const HostCall& call, const Sync& sync) override {
    return queue_->host_call(call, sync);
  }
  Status do_barrier(const Sync& sync) override { return queue_->barrier(sync); }
  void* do_native_handle() const noexcept override { return queue_->native_handle(); }
  Status do_fault() const override { return queue_->fault(); }
  Status do_abandon() override { return queue_->abandon(); }
  uint64_t do_id() const noexcept override { return queue_->id(); }

  const Ref<Device> keep_alive_;
  const size_t gpu_;
  const Ref<Queue> queue_;
};

}  // namespace

Ref<Queue> make_logical_queue(GpuGroup& device, size_t gpu, Ref<Queue> queue) {
  return Ref<Queue>::adopt(new LogicalQueue(device, gpu, std::move(queue)));
}

}  // namespace halyard::internal
