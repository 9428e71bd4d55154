#include "logical_queue.h"

#include <utility>

#include "gpu_group.h"
#include "hal/command_buffer.h"
#include "hal/contract/forwarding.h"
#include "hal/error.h"
#include "logical_command_buffer.h"
#include "logical_executable.h"

namespace halyard::internal {
namespace {

// Buffers and semaphores are the GPUs' own, so most operations go on as they are.
class LogicalQueue final : public driver::ForwardingQueue<LogicalQueue> {
 public:
  LogicalQueue(GpuGroup& device, size_t gpu, Ref<Queue> queue)
      : ForwardingQueue(device),
        keep_alive_(Ref<Device>::retain(&device)),
        gpu_(gpu),
        queue_(std::move(queue)) {}

  Queue& inner() const { return *queue_; }
  template <typename Submit>
  Status forward(const Sync& sync, Submit submit) {
    return submit(*queue_, sync);
  }

 private:
  ~LogicalQueue() = default;
  void destroy() noexcept override { delete this; }

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

  const Ref<Device> keep_alive_;
  const size_t gpu_;
  const Ref<Queue> queue_;
};

}  // namespace

Ref<Queue> make_logical_queue(GpuGroup& device, size_t gpu, Ref<Queue> queue) {
  return Ref<Queue>::adopt(new LogicalQueue(device, gpu, std::move(queue)));
}

}  // namespace halyard::internal
