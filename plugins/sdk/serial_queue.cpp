#include "plugins/sdk/serial_queue.h"

#include <optional>

#include "plugins/sdk/serial_command_buffer.h"
#include "plugins/sdk/serial_device.h"
#include "plugins/sdk/serial_work.h"

namespace halyard {
namespace {

std::vector<std::byte> copy_of(const void* data, uint64_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

std::vector<std::shared_ptr<SerialBlock>> blocks_of(Span<const BufferRange> ranges) {
  std::vector<std::shared_ptr<SerialBlock>> blocks;
  for (const BufferRange& range : ranges) {
    if (range.buffer != nullptr) blocks.push_back(SerialBuffer::of(*range.buffer).block());
  }
  return blocks;
}

std::vector<std::shared_ptr<SerialBlock>> blocks_of(const Dispatch& dispatch) {
  std::vector<BufferRange> ranges;
  for (const Argument& argument : dispatch.arguments) {
    if (argument.has_range()) ranges.push_back(argument.range);
  }
  return blocks_of(ranges);
}

PackedLaunch launch_of(const Dispatch& dispatch) {
  PackedLaunch launch = {dispatch.function,
                         Ref<Executable>::retain(&dispatch.function->executable()),
                         {},
                         dispatch.grid,
                         dispatch.workgroup};
  launch.arguments.resize(driver::info_of(*dispatch.function).kernarg_size);
  return launch;
}

// The outcome of a host call. It lives until the call has ended, even if nobody waits for it.
class Completion final : public driver::CompletionBase {
 public:
  static std::shared_ptr<Completion> make() {
    const auto made = std::make_shared<Completion>();
    made->self_ = made;
    return made;
  }
  void do_complete(const Status& outcome) noexcept override {
    const std::shared_ptr<Completion> self = std::move(self_);
    {
      const std::lock_guard lock(mutex_);
      outcome_ = outcome;
    }
    SerialProgress::instance().notify();
  }
  std::optional<Status> outcome() const {
    const std::lock_guard lock(mutex_);
    return outcome_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Status> outcome_;  // under mutex_
  std::shared_ptr<Completion> self_;
};

}  // namespace

SerialQueue::SerialQueue(SerialDevice& device, SerialCore& core, QueuePlace place)
    : QueueBase(device),
      device_(device),
      keep_alive_(Ref<Device>::retain(&device)),
      place_(std::move(place)),
      core_(core),
      id_(core.queue_id()) {}

void SerialQueue::destroy() noexcept {
  // What is queued goes on without us.
  const Ref<Device> device = keep_alive_;
  core_.give();
  delete this;
}

Status SerialQueue::do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                            const Sync& sync) {
  return core_.submit({.facts = facts_of(ProfileKind::kFill, target.length),
                       .work = fill_work(target, copy_of(pattern, pattern_size)),
                       .blocks = blocks_of({target})},
                      sync);
}

Status SerialQueue::do_update(const BufferRange& target, const void* source, uint64_t size,
                              const Sync& sync) {
  return core_.submit({.facts = facts_of(ProfileKind::kUpdate, size),
                       .work = update_work(target, copy_of(source, size)),
                       .blocks = blocks_of({target})},
                      sync);
}

Status SerialQueue::do_copy(const BufferRange& source, const BufferRange& target,
                            const Sync& sync) {
  RectangleCopy shape;
  shape.row_bytes = target.length;
  return do_copy_rectangle(source, target, shape, sync);
}

Status SerialQueue::do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                                      const RectangleCopy& shape, const Sync& sync) {
  return core_.submit({.facts = facts_of(ProfileKind::kCopy, bytes_of(shape)),
                       .work = copy_work(source, target, known_part(shape)),
                       .blocks = blocks_of({source, target})},
                      sync);
}

Status SerialQueue::do_dispatch(const Dispatch& dispatch, const Sync& sync) {
  PackedLaunch launch = launch_of(dispatch);
  launch.lds_bytes = pack_kernel_arguments(dispatch, {}, launch.arguments.data());
  return core_.submit({.facts = facts_of(*dispatch.function, dispatch.grid, dispatch.workgroup),
                       .work = launch_work(std::move(launch)),
                       .blocks = blocks_of(dispatch)},
                      sync);
}

Status SerialQueue::do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                                         const Sync& sync) {
  PackedLaunch launch = launch_of(dispatch);
  launch.grid = dispatch.workgroup;
  launch.lds_bytes = pack_indirect_arguments(dispatch, {}, launch.arguments.data());
  SerialOperation operation = {.facts = facts_of(*dispatch.function, {0, 0, 0}, dispatch.workgroup),
                               .work = indirect_work(std::move(launch), group_counts),
                               .blocks = blocks_of(dispatch)};
  operation.blocks.push_back(SerialBuffer::of(*group_counts.buffer).block());
  return core_.submit(std::move(operation), sync);
}

Status SerialQueue::do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                               const Sync& sync) {
  auto& recorded = static_cast<SerialCommandBuffer&>(commands);
  HALYARD_RETURN_IF_ERROR(recorded.recording().check_buffers());
  return core_.submit({.facts = {.name = "execute"},
                       .kinds = recorded.kinds(),
                       .work = execute_work(recorded, {bindings.begin(), bindings.end()}),
                       .blocks = blocks_of(bindings)},
                      sync);
}

Status SerialQueue::do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                              Buffer** buffer) {
  PoolPoint after;
  HALYARD_ASSIGN_OR_RETURN(
      Ref<Buffer> made,
      SerialBuffer::from_pool(device_, reinterpret_cast<uint64_t>(&core_), size, options, &after));
  // Another queue gave the memory back and is not there yet.
  const SerialWork wait = [after](SerialCore&) -> Result<SerialStep> {
    const auto* const other = reinterpret_cast<const SerialCore*>(after.queue);
    if (other == nullptr || other->completed() > after.index) return SerialStep::kDone;
    HALYARD_RETURN_IF_ERROR(other->fault());
    return SerialStep::kLater;
  };
  HALYARD_RETURN_IF_ERROR(
      core_.submit({.facts = facts_of(ProfileKind::kAlloca), .work = wait}, sync));
  *buffer = made.leak();
  return {};
}

Status SerialQueue::do_dealloca(Buffer& buffer, const Sync& sync) {
  SerialOperation operation = {.facts = facts_of(ProfileKind::kDealloca)};
  HALYARD_ASSIGN_OR_RETURN(operation.given_back,
                           PoolReturn::begin(buffer, SerialBuffer::of(buffer).lease()));
  HALYARD_RETURN_IF_ERROR(core_.submit(std::move(operation), sync));
  // An allocation may wait for the memory.
  SerialProgress::instance().notify();
  return {};
}

Status SerialQueue::submit_file(const FileWork& file, const Sync& sync) {
  const SerialWork work = [file = file.held()](SerialCore& core) -> Result<SerialStep> {
    const BufferRange& range = file.range();
    const SerialPlace at = SerialBuffer::of(*range.buffer).at(range.offset);
    if (at.host != nullptr) {
      HALYARD_RETURN_IF_ERROR(file.move_mapped(at.host, [] {}));
      return SerialStep::kDone;
    }
    const auto copy = [&](uint64_t done, uint64_t size, bool to_buffer) {
      if (to_buffer) return core.copy_now({at + done, core.arena_place(), size});
      return core.copy_now({core.arena_place(), at + done, size});
    };
    HALYARD_RETURN_IF_ERROR(file.move_staged(core.arena(), SerialCore::kArenaBytes, copy));
    return SerialStep::kDone;
  };
  return core_.submit({.facts = file.facts(), .work = work}, sync);
}

Status SerialQueue::do_read(const FileRange& source, const BufferRange& target, const Sync& sync) {
  return submit_file({FileWork::Direction::kFromFile, source, target}, sync);
}

Status SerialQueue::do_write(const BufferRange& source, const FileRange& target, const Sync& sync) {
  return submit_file({FileWork::Direction::kToFile, target, source}, sync);
}

Status SerialQueue::do_host_call(const HostCall& call, const Sync& sync) {
  const SerialWork work = [call = known_part(call), completion = std::shared_ptr<Completion>()](
                              SerialCore&) mutable -> Result<SerialStep> {
    if (!completion) {
      completion = Completion::make();
      call.run(*completion);
    }
    const std::optional<Status> outcome = completion->outcome();
    if (!outcome) return SerialStep::kLater;
    HALYARD_RETURN_IF_ERROR(*outcome);
    return SerialStep::kDone;
  };
  return core_.submit({.facts = facts_of(ProfileKind::kHostCall), .work = work}, sync);
}

Status SerialQueue::do_barrier(const Sync& sync) {
  return core_.submit({.facts = facts_of(ProfileKind::kBarrier)}, sync);
}

// The devices have no managed memory.
Status SerialQueue::do_prefetch(const BufferRange&, PrefetchTarget, const Sync&) {
  return driver::left_out("Queue::prefetch");
}

Status SerialQueue::do_abandon() {
  core_.abandon();
  return {};
}

}  // namespace halyard
