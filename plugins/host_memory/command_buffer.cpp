#include "command_buffer.h"

#include <cstring>

#include "device.h"
#include "hal/contract/guard.h"
#include "operations.h"

namespace host_memory {

using halyard::BufferRange;
using halyard::guarded;
using halyard::Status;

HostMemoryCommandBuffer::HostMemoryCommandBuffer(HostMemoryDevice& device)
    : CommandBufferBase(device), owner_(halyard::Ref<halyard::Device>::retain(&device)) {}

void HostMemoryCommandBuffer::destroy() noexcept {
  delete this;
}

Status HostMemoryCommandBuffer::run(Bindings bindings) const {
  for (const Command& command : commands_) command(bindings);
  return {};
}

Status HostMemoryCommandBuffer::do_fill(const BufferRange& target, const void* pattern,
                                        uint32_t pattern_size) {
  return guarded([&]() -> Status {
    commands_.push_back(
        [to = HeldRange(target), bytes = copy_of(pattern, pattern_size)](Bindings bindings) {
          fill_bytes(address_of(to.range, bindings), to.range.length, bytes);
        });
    return {};
  });
}

Status HostMemoryCommandBuffer::do_update(const BufferRange& target, const void* source,
                                          uint64_t size) {
  return guarded([&]() -> Status {
    commands_.push_back([to = HeldRange(target), bytes = copy_of(source, size)](Bindings bindings) {
      std::memcpy(address_of(to.range, bindings), bytes.data(), bytes.size());
    });
    return {};
  });
}

Status HostMemoryCommandBuffer::do_copy(const BufferRange& source, const BufferRange& target) {
  return guarded([&]() -> Status {
    commands_.push_back([from = HeldRange(source), to = HeldRange(target)](Bindings bindings) {
      // memmove: two slots may turn out to be bound to overlapping memory.
      std::memmove(address_of(to.range, bindings), address_of(from.range, bindings),
                   to.range.length);
    });
    return {};
  });
}

Status HostMemoryCommandBuffer::do_copy_rectangle(const BufferRange& source,
                                                  const BufferRange& target,
                                                  const halyard::RectangleCopy& shape) {
  return guarded([&]() -> Status {
    commands_.push_back(
        [from = HeldRange(source), to = HeldRange(target), shape](Bindings bindings) {
          copy_rows(address_of(to.range, bindings), address_of(from.range, bindings), shape);
        });
    return {};
  });
}

Status HostMemoryCommandBuffer::do_dispatch(const halyard::Dispatch&) {
  return no_kernels();
}

Status HostMemoryCommandBuffer::do_dispatch_indirect(const halyard::Dispatch&, const BufferRange&) {
  return no_kernels();
}

// Commands run one after the other, so each is a barrier.
Status HostMemoryCommandBuffer::do_barrier() {
  return {};
}
Status HostMemoryCommandBuffer::do_begin_debug_group(halyard::StringView) {
  return {};
}
Status HostMemoryCommandBuffer::do_end_debug_group() {
  return {};
}
Status HostMemoryCommandBuffer::do_finish() {
  return {};
}

}  // namespace host_memory
