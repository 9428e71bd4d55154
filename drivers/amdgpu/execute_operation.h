// ExecuteOperation: a recorded command buffer into a ring.
#pragma once

#include <memory>
#include <vector>

#include "drivers/amdgpu/command_buffer.h"
#include "drivers/amdgpu/operation.h"

namespace halyard::amdgpu {

// The addresses that a table's bindings have. Few fit without an allocation.
class BoundAddresses {
 public:
  BoundAddresses(Span<const BufferRange> bindings, uint32_t count) : count_(count) {
    uint64_t* to = few_;
    if (count > kFew) {
      many_.resize(count);
      to = many_.data();
    }
    for (uint32_t i = 0; i < count; ++i) {
      to[i] = bindings[i].buffer->device_address() + bindings[i].offset;
    }
  }
  Span<const uint64_t> get() const { return {count_ > kFew ? many_.data() : few_, count_}; }

 private:
  static constexpr uint32_t kFew = 64;
  uint32_t count_;
  uint64_t few_[kFew];
  std::vector<uint64_t> many_;
};

class ExecuteOperation final : public Operation {
 public:
  // All of it outlives this, unless it is held.
  ExecuteOperation(QueueCore& core, CommandBufferImpl& commands, Span<const BufferRange> bindings)
      : core_(core),
        commands_(commands),
        bindings_(bindings),
        bound_(bindings, commands.program().slot_count()) {}

  uint32_t packets() const override;
  Status issue(QueueCore& core, const IssueContext& context) override;
  void set_waits_for_no_room() override { waits_for_room_ = false; }
  bool resume(QueueCore& core) override;
  void when_whole(const std::function<void()>& then) override;
  Result<std::unique_ptr<Operation>> hold() override;
  // Of its commands each has facts of its own: Program::command_of.
  OperationFacts facts() const override {
    return {.kind = ProfileKind::kUnknown, .name = "execute"};
  }
  Status issue_timed(QueueCore& core, const IssueContext& context, Profiler& profiler) override;

 private:
  // What of an issued execution is in the ring: all chunks before `next`.
  struct Issued {
    Instance* instance = nullptr;
    BatchLayout layout;
    uint64_t first = 0;  // slot
    uint32_t next = 0;
    bool signals = false;  // a semaphore, at its end

    bool is_whole() const { return next == layout.chunks; }
  };

  void place(QueueCore& core, Instance& instance, const BatchLayout& layout, uint64_t first);
  void put_chunks(QueueCore& core);
  void publish(QueueCore& core, uint64_t at, uint32_t begin, uint32_t count);

  QueueCore& core_;
  CommandBufferImpl& commands_;
  Span<const BufferRange> bindings_;
  BoundAddresses bound_;
  Issued issued_;
  bool waits_for_room_ = true;
  std::function<void()> then_;  // until all of it is in the ring
  // Profiler::take_signals, until all of it is in the ring.
  std::vector<hsa_signal_t> timed_;
  // Of one that is held.
  Ref<CommandBuffer> keep_commands_;
  std::vector<Ref<Buffer>> keep_buffers_;
};

}  // namespace halyard::amdgpu
