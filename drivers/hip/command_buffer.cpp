#include "drivers/hip/command_buffer.h"

#include <cstring>

#include "drivers/hip/device.h"
#include "drivers/hip/host_operation.h"
#include "drivers/hip/launch.h"
#include "drivers/hip/transfers.h"
#include "hal/error.h"

namespace halyard::hip {

// Work in flight may use what it keeps alive; buffers and executables see to that themselves.
void CommandBufferImpl::destroy() noexcept {
  for (const Ref<Buffer>& buffer : recording_.buffers()) impl(*buffer).users().add(users_.bits());
  delete this;
}

Status CommandBufferImpl::prepare(const BufferRange& range) {
  if (range.buffer == nullptr) return {};  // a slot
  return BufferImpl::check_usable(*range.buffer, device());
}

namespace {

void patch(const Recording& recording, const RecordedCommand& command,
           Span<const BufferRange> bindings, std::byte* kernarg) {
  for (const SlotPatch& patch : recording.patches(command)) {
    const BufferRange& binding = bindings[patch.slot];
    const uint64_t address = binding.buffer->device_address() + binding.offset + patch.addend;
    std::memcpy(kernarg + patch.offset, &address, sizeof(address));
  }
}

}  // namespace

Status ReplayOperation::replay_launch(QueueCore& core, const RecordedCommand& command,
                                      const RecordedPlace& place) const {
  const Recording& recording = commands_.recording();
  const auto& function = static_cast<const FunctionImpl&>(*command.function);
  // HIP copies the arguments, and writes nothing to them.
  auto* const recorded = const_cast<std::byte*>(recording.data(command));
  if (command.patch_count == 0) {
    return launch(core,
                  {function, command.grid, command.workgroup, command.lds_bytes, recorded, place});
  }
  constexpr size_t kOnStack = 1024;
  alignas(64) std::byte on_stack[kOnStack];
  std::vector<std::byte> on_heap;
  std::byte* kernarg = on_stack;
  if (command.bytes > kOnStack) {
    on_heap.resize(command.bytes);
    kernarg = on_heap.data();
  }
  std::memcpy(kernarg, recorded, command.bytes);
  patch(recording, command, bindings_, kernarg);
  return launch(core,
                {function, command.grid, command.workgroup, command.lds_bytes, kernarg, place});
}

Status ReplayOperation::replay(QueueCore& core, const RecordedCommand& command,
                               const RecordedPlace& place) const {
  const auto bound = [this, &core](const BufferRange& range) {
    return place_of(core, bound_range(range, bindings_));
  };
  const auto timed = [&](auto&& put) {
    return core.device().profiler().around(core, facts_of(command), place, put);
  };
  switch (command.kind) {
    case RecordedKind::kFill:
      return timed([&] {
        return put_fill(core, bound(command.target), command.target.length,
                        reinterpret_cast<const unsigned char*>(commands_.recording().data(command)),
                        static_cast<uint32_t>(command.bytes));
      });
    case RecordedKind::kUpdate:
      return timed([&] {
        return put_update(core, bound(command.target), commands_.recording().data(command),
                          command.bytes);
      });
    case RecordedKind::kCopy:
      return timed([&] {
        return put_copy(core, bound(command.target), bound(command.source), command.source.length);
      });
    case RecordedKind::kCopyRectangle:
      return timed([&] {
        return put_rectangle(core, bound(command.target), bound(command.source), command.shape);
      });
    default:
      return replay_launch(core, command, place);
  }
}

Status ReplayOperation::issue(QueueCore& core) {
  use(core, commands_);
  for (const BufferRange& binding : bindings_) use(core, *binding.buffer);
  const std::vector<RecordedCommand>& commands = commands_.recording().commands();
  for (size_t i = first_; i < last_; ++i) {
    const Status status =
        replay(core, commands[i], {.execution = execution_, .command = static_cast<uint32_t>(i)});
    if (!status.ok()) {
      const std::string group = commands_.recording().group_path(commands[i]);
      return status.with_context(
          group.empty() ? fmt::format("Command {} of a command buffer", i)
                        : fmt::format("Command {} of a command buffer ({})", i, group));
    }
    core.stream().count();
  }
  return {};
}

Result<std::unique_ptr<Operation>> ReplayOperation::hold() {
  auto copy = std::make_unique<ReplayOperation>(commands_, bindings_, execution_, first_, last_);
  copy->keep_commands_ = Ref<CommandBuffer>::retain(&commands_);
  copy->kept_bindings_.assign(bindings_.begin(), bindings_.end());
  copy->bindings_ = copy->kept_bindings_;
  for (const BufferRange& binding : bindings_) {
    copy->keep_buffers_.push_back(Ref<Buffer>::retain(binding.buffer));
  }
  return std::unique_ptr<Operation>(std::move(copy));
}

namespace {

std::unique_ptr<Operation> indirect_step(CommandBufferImpl& commands,
                                         const RecordedCommand& command,
                                         Span<const BufferRange> bindings,
                                         const RecordedPlace& place) {
  const Recording& recording = commands.recording();
  const std::byte* const recorded = recording.data(command);
  std::vector<std::byte> kernarg(recorded, recorded + command.bytes);
  patch(recording, command, bindings, kernarg.data());
  auto launch = std::make_unique<IndirectLaunch>(
      *command.function, command.workgroup, command.lds_bytes, std::move(kernarg),
      bound_range(command.group_counts, bindings), place);
  for (const SlotPatch& slot : recording.patches(command)) {
    launch->keep(bindings[slot.slot].buffer);
  }
  launch->keep_recording(commands);
  return launch;
}

}  // namespace

Result<std::vector<std::unique_ptr<QueueOperation>>> replay_steps(CommandBufferImpl& commands,
                                                                  Span<const BufferRange> bindings,
                                                                  uint64_t execution) {
  const std::vector<RecordedCommand>& recorded = commands.recording().commands();
  std::vector<std::unique_ptr<QueueOperation>> steps;
  size_t first = 0;
  const auto replay_until = [&](size_t last) -> Status {
    if (first == last) return {};
    HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<Operation> step,
                             ReplayOperation(commands, bindings, execution, first, last).hold());
    steps.push_back(std::move(step));
    return {};
  };
  for (size_t i = 0; i < recorded.size(); ++i) {
    if (recorded[i].kind != RecordedKind::kDispatchIndirect) continue;
    HALYARD_RETURN_IF_ERROR(replay_until(i));
    steps.push_back(indirect_step(commands, recorded[i], bindings,
                                  {.execution = execution, .command = static_cast<uint32_t>(i)}));
    first = i + 1;
  }
  HALYARD_RETURN_IF_ERROR(replay_until(recorded.size()));
  return steps;
}

}  // namespace halyard::hip
