// Queues and recordings that stand in front of others: every operation goes on through one method
// of the derived class, which overrides the operations that it does otherwise. For the host's own
// devices and for tests; the methods that it calls are the host's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/command_buffer.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"

namespace halyard::driver {

// Q has inner(), a Queue&, and a template forward(sync, submit), which calls `submit`, a
// Status(Queue&, const Sync&), with the queue and with what is to be waited for and signalled.
template <typename Q>
class ForwardingQueue : public QueueBase {
 protected:
  // Where a class with virtual methods has a friend, gcc takes its destructor for accessible.
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
  explicit ForwardingQueue(Device& device) noexcept : QueueBase(device) {}
  ~ForwardingQueue() = default;

#define HALYARD_QUEUE_OPERATION(name, need, arguments, ...)                                   \
  Status do_##name(__VA_ARGS__) override {                                                    \
    const auto submit = [&](Queue& inner, const Sync& sync) { return inner.name arguments; }; \
    return self().forward(sync, submit);                                                      \
  }
#include "hal/contract/operations.inl"

  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override {
    return self().forward(sync, [&](Queue& to, const Sync& passed) -> Status {
      HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, to.alloca_buffer(size, options, passed));
      *buffer = made.leak();
      return {};
    });
  }
  Status do_dealloca(Buffer& buffer, const Sync& sync) override {
    return self().forward(
        sync, [&](Queue& to, const Sync& passed) { return to.dealloca_buffer(buffer, passed); });
  }
  Status do_fault() const override { return self().inner().fault(); }
  Status do_abandon() override { return self().inner().abandon(); }
  void* do_native_handle() const noexcept override { return self().inner().native_handle(); }
  uint64_t do_id() const noexcept override { return self().inner().id(); }

 private:
  Q& self() { return static_cast<Q&>(*this); }
  const Q& self() const { return static_cast<const Q&>(*this); }
};

// C has a template forward(record), which calls `record`, a Status(CommandBuffer&, size_t gpu), for
// each recording that the command is for.
template <typename C>
class ForwardingCommandBuffer : public CommandBufferBase {
 protected:
  // Where a class with virtual methods has a friend, gcc takes its destructor for accessible.
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
  explicit ForwardingCommandBuffer(Device& device) noexcept : CommandBufferBase(device) {}
  ~ForwardingCommandBuffer() = default;

#define HALYARD_COMMAND(name, need, arguments, ...)                                            \
  Status do_##name(__VA_ARGS__) override {                                                     \
    return self().forward([&](CommandBuffer& inner, size_t) { return inner.name arguments; }); \
  }
#include "hal/contract/operations.inl"

  Status do_begin_debug_group(StringView label) override {
    return self().forward([&](CommandBuffer& to, size_t) { return to.begin_debug_group(label); });
  }
  Status do_end_debug_group() override {
    return self().forward([](CommandBuffer& to, size_t) { return to.end_debug_group(); });
  }
  Status do_finish() override {
    return self().forward([](CommandBuffer& to, size_t) { return to.finish(); });
  }

 private:
  C& self() { return static_cast<C&>(*this); }
};

}  // namespace halyard::driver
