// CommandBufferImpl: a recording, and its replay on a stream.
//
// HIP graphs are not used: bindings change with every execution, and a graph takes new arguments
// only node by node. What a graph's launch costs on ROCm 5.2.3 has not been measured.
#pragma once

#include <vector>

#include "drivers/hip/buffer.h"
#include "drivers/hip/operation.h"
#include "drivers/hip/queue_core.h"
#include "hal/ref.h"
#include "plugins/sdk/recording_command_buffer.h"

namespace halyard::hip {

class CommandBufferImpl final : public RecordingCommandBuffer {
 public:
  explicit CommandBufferImpl(Device& device)
      : RecordingCommandBuffer(device, &BufferImpl::may_be_given_back) {}

  const Recording& recording() const { return recording_; }

 private:
  ~CommandBufferImpl() = default;
  void destroy() noexcept override;
  Status prepare(const BufferRange& range) override;
  Status do_finish() override { return {}; }
};

// What goes onto the queue's stream next was given the recording.
inline void use(const QueueCore& core, CommandBufferImpl& commands) {
  commands.users().add(core.stream().user_bit());
}

// Replays commands `first` to `last` - 1, none of them an indirect dispatch. Refers to the bindings
// until it is held.
class ReplayOperation final : public Operation {
 public:
  // `execution` is for profiles: RecordedPlace::execution.
  ReplayOperation(CommandBufferImpl& commands, Span<const BufferRange> bindings, uint64_t execution,
                  size_t first, size_t last)
      : commands_(commands),
        bindings_(bindings),
        execution_(execution),
        first_(first),
        last_(last) {}
  // Each command has facts, and a time, of its own.
  OperationFacts facts() const override {
    return {.kind = ProfileKind::kUnknown, .name = "execute"};
  }
  bool timed_as_a_whole() const override { return false; }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  Status replay(QueueCore& core, const RecordedCommand& command, const RecordedPlace& place) const;
  Status replay_launch(QueueCore& core, const RecordedCommand& command,
                       const RecordedPlace& place) const;

  CommandBufferImpl& commands_;
  Span<const BufferRange> bindings_;
  uint64_t execution_;
  size_t first_;
  size_t last_;
  Ref<CommandBuffer> keep_commands_;
  std::vector<BufferRange> kept_bindings_;
  std::vector<Ref<Buffer>> keep_buffers_;
};

// The whole recording as steps that follow each other: indirect dispatches stand alone.
Result<std::vector<std::unique_ptr<QueueOperation>>> replay_steps(CommandBufferImpl& commands,
                                                                  Span<const BufferRange> bindings,
                                                                  uint64_t execution);

}  // namespace halyard::hip
