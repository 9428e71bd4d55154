#include "buffer.h"

#include <cstdlib>
#include <cstring>

#include "device.h"
#include "hal/contract/guard.h"
#include "hal/error.h"

namespace host_memory {

using halyard::error;
using halyard::guarded;
using halyard::Status;
using halyard::StatusCode;

Status HostMemoryBuffer::allocate(HostMemoryDevice& device, halyard::MemoryType type, uint64_t size,
                                  uint64_t alignment, halyard::Buffer** buffer) {
  const uint64_t granule = device.info().allocation_alignment;
  if (alignment < granule) alignment = granule;
  HALYARD_RETURN_IF_ERROR(device.take_memory(type, size));
  // aligned_alloc wants a multiple of the alignment.
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  const Status made = guarded([&]() -> Status {
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0, size);
    *buffer = new HostMemoryBuffer(device, type, size, memory, nullptr);
    return {};
  });
  if (!made.ok()) {
    std::free(memory);
    device.give_memory(type, size);
  }
  return made;
}

HostMemoryBuffer::HostMemoryBuffer(HostMemoryDevice& device, halyard::MemoryType type,
                                   uint64_t size, void* memory,
                                   halyard::Ref<halyard::Buffer> parent)
    : BufferBase(device, type, size, reinterpret_cast<uint64_t>(memory)),
      device_(device),
      owner_(halyard::Ref<halyard::Device>::retain(&device)),
      parent_(std::move(parent)) {}

HostMemoryBuffer::~HostMemoryBuffer() {
  if (parent_) return;
  std::free(bytes());
  device_.give_memory(type(), size());
}

void HostMemoryBuffer::destroy() noexcept {
  delete this;
}

Status HostMemoryBuffer::do_map(uint64_t offset, uint64_t, halyard::MapAccess, void** pointer) {
  return guarded([&]() -> Status {
    const std::lock_guard lock(mutex_);
    maps_.insert(bytes() + offset);
    *pointer = bytes() + offset;
    return {};
  });
}

Status HostMemoryBuffer::do_unmap(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto map = maps_.find(pointer);
  if (map == maps_.end()) {
    return error(StatusCode::kInvalidArgument,
                 "The pointer ({}) is not mapped; unmap takes what map returned, once.", pointer);
  }
  maps_.erase(map);
  return {};
}

// DeviceInfo::coherent_map is true.
Status HostMemoryBuffer::do_flush(uint64_t, uint64_t) {
  return {};
}
Status HostMemoryBuffer::do_invalidate(uint64_t, uint64_t) {
  return {};
}

Status HostMemoryBuffer::do_subspan(uint64_t offset, uint64_t length, halyard::Buffer** view) {
  return guarded([&]() -> Status {
    *view = new HostMemoryBuffer(device_, type(), length, bytes() + offset,
                                 halyard::Ref<halyard::Buffer>::retain(this));
    return {};
  });
}

}  // namespace host_memory
