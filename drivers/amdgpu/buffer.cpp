#include "drivers/amdgpu/buffer.h"

#include <algorithm>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

BufferImpl::BufferImpl(DeviceImpl& device, MemoryType type, uint64_t size, void* pointer)
    : Buffer(device, type, size, reinterpret_cast<uint64_t>(pointer)),
      keep_alive_(Ref<Device>::retain(&device)),
      pointer_(static_cast<std::byte*>(pointer)) {}

Result<Ref<Buffer>> BufferImpl::allocate(DeviceImpl& device, uint64_t size,
                                         const BufferOptions& options) {
  void* base = nullptr;
  void* pointer = nullptr;
  uint64_t taken = 0;
  HALYARD_RETURN_IF_ERROR(
      device.memory().allocate(options.type, size, options.alignment, &base, &pointer, &taken));
  auto* const buffer = new BufferImpl(device, options.type, size, pointer);
  buffer->base_ = base;
  buffer->taken_ = taken;
  return Ref<Buffer>::adopt(buffer);
}

void BufferImpl::destroy() noexcept {
  // Work in flight may use the memory still; the device outlives that.
  const Ref<Device> device = keep_alive_;
  if (base_ != nullptr) {
    Memory& memory = static_cast<DeviceImpl*>(device.get())->memory();
    memory.retire(
        [&memory, type = type(), base = base_, taken = taken_] { memory.free(type, base, taken); });
  }
  delete this;
}

Status BufferImpl::do_map(uint64_t offset, uint64_t, MapAccess, void** pointer) {
  if (type() == MemoryType::kDevice) {
    return error(StatusCode::kFailedPrecondition,
                 "A buffer of device memory cannot be mapped: the host does not see it. Use "
                 "Queue::update and Queue::copy, or allocate host memory.");
  }
  void* const mapped = at(offset);
  const std::lock_guard lock(mutex_);
  maps_.push_back(mapped);
  *pointer = mapped;
  return {};
}

Status BufferImpl::do_unmap(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(maps_.begin(), maps_.end(), pointer);
  if (found == maps_.end()) {
    return error(StatusCode::kInvalidArgument,
                 "Buffer::unmap is given a pointer ({}) that this buffer has not mapped, or that "
                 "is unmapped already. It takes what Buffer::map returned.",
                 pointer);
  }
  maps_.erase(found);
  return {};
}

// Both kinds of memory that the host maps are fine-grained: coherent without our doing.
Status BufferImpl::do_flush(uint64_t, uint64_t) {
  return {};
}
Status BufferImpl::do_invalidate(uint64_t, uint64_t) {
  return {};
}

Status BufferImpl::do_subspan(uint64_t offset, uint64_t length, Buffer** view) {
  auto* const part = new BufferImpl(static_cast<DeviceImpl&>(device()), type(), length, at(offset));
  part->parent_ = Ref<Buffer>::retain(parent_ ? parent_.get() : this);
  *view = part;
  return {};
}

}  // namespace halyard::amdgpu
