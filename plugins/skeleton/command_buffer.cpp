#include "command_buffer.h"

#include <cstring>

#include "device.h"
#include "operations.h"
#include "plugins/guard.h"

namespace skeleton {

using halyard::BufferRange;
using halyard::guarded;
using halyard::Status;

SkeletonCommandBuffer::SkeletonCommandBuffer(SkeletonDevice& device)
    : CommandBufferBase(device), owner_(halyard::Ref<halyard::Device>::retain(&device)) {}

void SkeletonCommandBuffer::destroy() noexcept {
  delete this;
}

Status SkeletonCommandBuffer::run(Bindings bindings) const {
  for (const Command& command : commands_) command(bindings);
  return {};
}

Status SkeletonCommandBuffer::do_fill(const BufferRange& target, const void* pattern,
                                      uint32_t pattern_size) {
  return guarded([&]() -> Status {
    commands_.push_back(
        [to = HeldRange(target), bytes = copy_of(pattern, pattern_size)](Bindings bindings) {
          fill_bytes(address_of(to.range, bindings), to.range.length, bytes);
        });
    return {};
  });
}

Status SkeletonCommandBuffer::do_update(const BufferRange& target, const void* source,
                                        uint64_t size) {
  return guarded([&]() -> Status {
    commands_.push_back([to = HeldRange(target), bytes = copy_of(source, size)](Bindings bindings) {
      std::memcpy(address_of(to.range, bindings), bytes.data(), bytes.size());
    });
    return {};
  });
}

Status SkeletonCommandBuffer::do_copy(const BufferRange& source, const BufferRange& target) {
  return guarded([&]() -> Status {
    commands_.push_back([from = HeldRange(source), to = HeldRange(target)](Bindings bindings) {
      // memmove: two slots may turn out to be bound to overlapping memory.
      std::memmove(address_of(to.range, bindings), address_of(from.range, bindings),
                   to.range.length);
    });
    return {};
  });
}

Status SkeletonCommandBuffer::do_copy_rectangle(const BufferRange& source,
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

Status SkeletonCommandBuffer::do_dispatch(const halyard::Dispatch&) {
  return no_kernels();
}

Status SkeletonCommandBuffer::do_dispatch_indirect(const halyard::Dispatch&, const BufferRange&) {
  return no_kernels();
}

// Commands run one after the other, so each is a barrier.
Status SkeletonCommandBuffer::do_barrier() {
  return {};
}
Status SkeletonCommandBuffer::do_begin_debug_group(halyard::StringView) {
  return {};
}
Status SkeletonCommandBuffer::do_end_debug_group() {
  return {};
}
Status SkeletonCommandBuffer::do_finish() {
  return {};
}

}  // namespace skeleton
