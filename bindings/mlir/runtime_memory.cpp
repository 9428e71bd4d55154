// The runtime's memory: allocations, registered host memory, copies and fills.
#include <algorithm>
#include <cstring>

#include "bindings/mlir/runtime.h"
#include "hal/error.h"

namespace halyard::mlir {
namespace {

// Of pinned memory, through which data goes to host memory that the device does not see.
constexpr uint64_t kStagingBytes = uint64_t{4} << 20;

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace

Result<void*> Runtime::allocate(uint64_t bytes, Stream* stream, bool host_shared) {
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const size_t index = stream != nullptr ? stream->device() : default_device_index();
  HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device_locked(index));
  BufferOptions options;
  options.type = host_shared ? MemoryType::kHost : MemoryType::kDevice;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> buffer, state->device->allocate(bytes, options));
  void* pointer = reinterpret_cast<void*>(buffer->device_address());
  if (host_shared) {
    HALYARD_ASSIGN_OR_RETURN(pointer, buffer->map(0, bytes, MapAccess::kReadWrite));
  }
  Memory memory;
  memory.kind = MemoryKind::kAllocated;
  memory.address = address_of(pointer);
  memory.bytes = bytes;
  memory.device = index;
  memory.buffers.resize(index + 1);
  memory.buffers[index] = std::move(buffer);
  memory_.add(std::move(memory));
  return pointer;
}

Status Runtime::free(void* pointer, Stream* stream) {
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  if (pointer == nullptr || ended_) return {};
  std::vector<Ref<Buffer>> buffers;
  {
    const std::lock_guard lock(mutex_);
    const Memory* const memory = memory_.find_start(address_of(pointer), MemoryKind::kAllocated);
    if (memory == nullptr) {
      return error(
          StatusCode::kInvalidArgument,
          "The pointer ({}) is not the start of an allocation: mgpuMemAlloc never returned "
          "it, or it was freed.",
          pointer);
    }
    buffers = memory->buffers;
    memory_.remove(*memory);
  }
  // A kernel may have found the address in memory: the buffer stays while the stream has work.
  return on_stream(stream, [&](Stream& on) { return on.retire(std::move(buffers)); });
}

Status Runtime::register_memory(void* pointer, uint64_t bytes) {
  if (bytes == 0) return {};
  if (pointer == nullptr) {
    return error(StatusCode::kInvalidArgument, "The pointer to {} bytes to register is null.",
                 bytes);
  }
  const uint64_t address = address_of(pointer);
  {
    const std::lock_guard lock(mutex_);
    Memory* memory = memory_.find_start(address, MemoryKind::kRegistered);
    if (memory != nullptr && memory->holds(address, bytes)) {
      ++memory->registrations;
      // A program that frees memory without unregistering it may get other pages at its address.
      memory->buffers.clear();
    } else {
      Memory registered;
      registered.kind = MemoryKind::kRegistered;
      registered.address = address;
      registered.bytes = bytes;
      memory_.add(std::move(registered));
    }
  }
  const auto found = find_memory(address, default_device_index());
  if (found.ok()) return {};
  const std::lock_guard lock(mutex_);
  if (const Memory* const memory = memory_.find_start(address, MemoryKind::kRegistered)) {
    memory_.remove(*memory);
  }
  return found.status();
}

Status Runtime::unregister_memory(void* pointer) {
  if (pointer == nullptr || ended_) return {};
  const std::lock_guard lock(mutex_);
  Memory* const memory = memory_.find_start(address_of(pointer), MemoryKind::kRegistered);
  if (memory == nullptr) {
    return error(StatusCode::kInvalidArgument,
                 "The memory at {} is not registered. Unregister takes the address that was "
                 "registered, once for each registration.",
                 pointer);
  }
  // Work in flight keeps the buffers that it was given.
  if (--memory->registrations == 0) memory_.remove(*memory);
  return {};
}

Result<std::optional<BufferRange>> Runtime::find_memory(uint64_t address, size_t index) {
  const std::lock_guard lock(mutex_);
  Memory* const memory = memory_.find(address);
  if (memory == nullptr) return std::optional<BufferRange>();
  size_t owner = memory->device;
  if (memory->kind == MemoryKind::kRegistered) {
    owner = index;
    if (memory->buffers.size() <= index) memory->buffers.resize(index + 1);
    if (!memory->buffers[index]) {
      HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device_locked(index));
      ImportOptions options;
      options.kind = ImportOptions::Kind::kHostMemory;
      options.pointer = reinterpret_cast<const void*>(memory->address);
      options.size = memory->bytes;
      HALYARD_ASSIGN_OR_RETURN(memory->buffers[index], state->device->import_buffer(options));
    }
  }
  return std::optional(
      BufferRange(*memory->buffers[owner], address - memory->address, BufferRange::kToEnd));
}

Result<std::optional<BufferRange>> Runtime::find_range(const void* pointer, uint64_t bytes,
                                                       size_t index) {
  HALYARD_ASSIGN_OR_RETURN(std::optional<BufferRange> range,
                           find_memory(address_of(pointer), index));
  if (!range) return range;
  const uint64_t rest = range->buffer->size() - range->offset;
  if (bytes > rest) {
    return error(StatusCode::kOutOfRange,
                 "The {} bytes at {} go past the end of their allocation, of which {} bytes follow "
                 "that address.",
                 bytes, pointer, rest);
  }
  range->length = bytes;
  return range;
}

Result<void*> Runtime::device_pointer(void* pointer) {
  HALYARD_ASSIGN_OR_RETURN(const std::optional<BufferRange> range,
                           find_memory(address_of(pointer), default_device_index()));
  if (!range) {
    return error(StatusCode::kInvalidArgument,
                 "The memory at {} is not known to the device. Register it first "
                 "(mgpuMemHostRegister, gpu.host_register).",
                 pointer);
  }
  return reinterpret_cast<void*>(range->buffer->device_address() + range->offset);
}

Status Runtime::copy_to_host(void* target, const BufferRange& source, Stream& stream) {
  BufferOptions options;
  options.type = MemoryType::kHost;
  const uint64_t chunk = std::min(source.length, kStagingBytes);
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> staging,
                           stream.queue().device().allocate(chunk, options));
  HALYARD_ASSIGN_OR_RETURN(void* const mapped, staging->map(0, chunk, MapAccess::kRead));
  auto* to = static_cast<std::byte*>(target);
  Status status;
  for (uint64_t done = 0; done < source.length && status.ok();) {
    const uint64_t bytes = std::min(chunk, source.length - done);
    status = stream.queue().copy(BufferRange(*source.buffer, source.offset + done, bytes),
                                 BufferRange(*staging, 0, bytes));
    if (!status.ok()) break;
    stream.note_work();
    status = stream.synchronize();
    if (status.ok()) std::memcpy(to + done, mapped, bytes);
    done += bytes;
  }
  const Status unmapped = staging->unmap(mapped);
  return status.ok() ? unmapped : status;
}

Status Runtime::copy(void* target, const void* source, size_t bytes, Stream* stream) {
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  if (bytes == 0) return {};
  if (target == nullptr || source == nullptr) {
    return error(StatusCode::kInvalidArgument,
                 "A copy of {} bytes has a null pointer (target {}, source {}).", bytes, target,
                 source);
  }
  return on_stream(stream, [&](Stream& on) -> Status {
    HALYARD_ASSIGN_OR_RETURN(const auto to, find_range(target, bytes, on.device()));
    HALYARD_ASSIGN_OR_RETURN(const auto from, find_range(source, bytes, on.device()));
    if (from && !to) return copy_to_host(target, *from, on);
    if (!from && !to) {
      HALYARD_RETURN_IF_ERROR(on.synchronize());
      std::memmove(target, source, bytes);
      return {};
    }
    HALYARD_RETURN_IF_ERROR(from ? on.queue().copy(*from, *to)
                                 : on.queue().update(*to, source, bytes));
    on.note_work();
    return {};
  });
}

Status Runtime::fill(void* target, const void* pattern, uint32_t width, size_t count,
                     Stream* stream) {
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  if (count == 0) return {};
  uint64_t bytes = 0;
  if (target == nullptr || __builtin_mul_overflow(count, width, &bytes)) {
    return error(StatusCode::kInvalidArgument,
                 "A fill of {} × {} bytes at {} is not possible: the pointer is null or the size "
                 "exceeds the address space.",
                 count, width, target);
  }
  return on_stream(stream, [&](Stream& on) -> Status {
    HALYARD_ASSIGN_OR_RETURN(const auto to, find_range(target, bytes, on.device()));
    if (to) {
      HALYARD_RETURN_IF_ERROR(on.queue().fill(*to, pattern, width));
      on.note_work();
      return {};
    }
    HALYARD_RETURN_IF_ERROR(on.synchronize());
    auto* bytes_of_target = static_cast<std::byte*>(target);
    for (size_t i = 0; i < count; ++i, bytes_of_target += width) {
      std::memcpy(bytes_of_target, pattern, width);
    }
    return {};
  });
}

}  // namespace halyard::mlir
