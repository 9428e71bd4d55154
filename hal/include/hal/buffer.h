// Buffer: contiguous memory that a device can address.
#pragma once

#include <cstdint>

#include "hal/object.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class Device;

// Where a buffer's memory is, and who can access it.
enum class MemoryType : uint32_t {
  // The device's own memory, coarse-grained: the fastest for kernels. The host cannot map it, and
  // uses Queue::update and Queue::copy.
  kDevice = 0,
  // The host's memory, pinned and fine-grained: coherent for host and device without flushes, and
  // slower for kernels (every access crosses the link).
  kHost = 1,
  // The device's own memory, mapped into the host's address space through a large BAR and
  // fine-grained. Not on every device: DeviceInfo::maps_device_memory.
  kDeviceMapped = 2,
};
const char* to_string(MemoryType type) noexcept;

struct BufferOptions {
  uint32_t struct_size = sizeof(BufferOptions);
  MemoryType type = MemoryType::kDevice;
  // Bytes; a power of two, at most 2 MiB; 0 means the device's own minimum
  // (DeviceInfo::allocation_alignment).
  uint64_t alignment = 0;
  // The GPU of a logical device whose memory the buffer uses, below Device::gpu_count(). For host
  // memory: the GPU whose statistics count the buffer.
  uint32_t gpu = 0;
  // Gives every GPU of the logical device access at once, also by address alone (Argument::address,
  // pointers in memory). Otherwise a GPU gets access when an operation on it names the buffer.
  // FAILED_PRECONDITION if a GPU cannot access the memory.
  bool shared = false;
  bool reserved[3] = {};
  // Managed memory: one pointer for the host and every GPU of the driver, whose pages the vendor's
  // runtime can move to their user (Queue::prefetch, Device::advise). `type` must be kHost, and the
  // buffer is used like any of this type; fine-grained, but not pinned, and counted by no heap.
  // UNIMPLEMENTED if DeviceInfo::managed_memory is false. Since 2.1.
  bool managed = false;
  // Addresses of the device without memory (`type` must be kDevice): Device::commit puts memory
  // behind parts of the buffer, so that it grows and shrinks without moving. Work must only use
  // parts that are committed when it is submitted; any other access is an error or a memory fault.
  // `size` must be a multiple of DeviceInfo::commit_granule, and `alignment` 0. Other devices
  // cannot use the buffer, and it cannot be exported. UNIMPLEMENTED if DeviceInfo::commit_granule
  // is 0. Since 2.1.
  bool reserve = false;
};

enum class MapAccess : uint32_t {
  kRead = 1,
  kWrite = 2,
  kReadWrite = 3,
  // As kWrite, but the old contents are not needed: unwritten bytes of the range are undefined.
  // Since 2.1.
  kDiscardWrite = 4,
};

// Any thread may use any method. The caller orders accesses to the same bytes.
//
// The memory is released when the last reference is gone and all work that was given the buffer is
// done. Work that uses the address in another way (Argument::address, a pointer in other data) does
// not keep the buffer alive.
class Buffer : public Object<HalyardBuffer> {
 public:
  // Bytes; 0 from Queue::dealloca_buffer on, unless that fails.
  uint64_t size() const noexcept { return __atomic_load_n(&contract()->size, __ATOMIC_RELAXED); }
  MemoryType type() const noexcept { return static_cast<MemoryType>(contract()->type); }
  // The address that kernels see. Valid while the buffer lives.
  uint64_t device_address() const noexcept { return contract()->device_address; }
  Device& device() const noexcept;

  // A host pointer to `length` bytes from `offset` on. Nested and overlapping maps are allowed;
  // each needs its own unmap. OUT_OF_RANGE past the end; FAILED_PRECONDITION if the host cannot
  // access this type of memory.
  Result<void*> map(uint64_t offset, uint64_t length, MapAccess access);
  // `pointer` as map returned it. INVALID_ARGUMENT if it is not mapped.
  Status unmap(void* pointer);
  // flush makes the host's writes to the range visible to the device; invalidate makes the device's
  // writes visible to the host. Needed for kDeviceMapped if DeviceInfo::coherent_map is false.
  Status flush(uint64_t offset, uint64_t length);
  Status invalidate(uint64_t offset, uint64_t length);

  // A view of part of this buffer that keeps it alive. Same memory, same type.
  Result<Ref<Buffer>> subspan(uint64_t offset, uint64_t length);

 protected:
  Buffer() noexcept = default;  // by the driver SDK
  ~Buffer() = default;

 private:
  Status check_range(const char* operation, uint64_t offset, uint64_t length) const;
};

// Part of a buffer, as an operand: no allocation, no reference. In a CommandBuffer, `buffer` can be
// null; `slot` is then an entry of the binding table that is given at execution.
struct BufferRange {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;       // bytes
  uint64_t length = kToEnd;  // bytes
  uint32_t slot = 0;

  static constexpr uint64_t kToEnd = UINT64_MAX;

  BufferRange() noexcept = default;
  BufferRange(Buffer& b) noexcept : buffer(&b) {}  // NOLINT(google-explicit-constructor)
  BufferRange(const Ref<Buffer>& b) noexcept : buffer(b.get()) {}  // NOLINT
  BufferRange(Buffer& b, uint64_t o, uint64_t n) noexcept : buffer(&b), offset(o), length(n) {}
  static BufferRange binding(uint32_t slot, uint64_t offset = 0,
                             uint64_t length = kToEnd) noexcept {
    BufferRange range;
    range.slot = slot;
    range.offset = offset;
    range.length = length;
    return range;
  }
};

}  // namespace halyard
