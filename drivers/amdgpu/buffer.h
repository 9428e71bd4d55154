// BufferImpl: memory from a pool of the device's, or a view of part of such a buffer.
#pragma once

#include <mutex>
#include <vector>

#include "drivers/amdgpu/memory.h"
#include "hal/buffer.h"
#include "hal/ref.h"

namespace halyard::amdgpu {

class BufferImpl final : public Buffer {
 public:
  static Result<Ref<Buffer>> allocate(DeviceImpl& device, uint64_t size,
                                      const BufferOptions& options);

  void* at(uint64_t offset) const { return pointer_ + offset; }

 private:
  BufferImpl(DeviceImpl& device, MemoryType type, uint64_t size, void* pointer);
  ~BufferImpl() = default;
  void destroy() noexcept override;

  Status do_map(uint64_t offset, uint64_t length, MapAccess access, void** pointer) override;
  Status do_unmap(void* pointer) override;
  Status do_flush(uint64_t offset, uint64_t length) override;
  Status do_invalidate(uint64_t offset, uint64_t length) override;
  Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) override;

  Ref<Device> keep_alive_;
  Ref<Buffer> parent_;  // of a view; the others are then unused
  std::byte* pointer_;
  void* base_ = nullptr;  // what the runtime allocated
  uint64_t taken_ = 0;    // bytes, from the heap
  std::mutex mutex_;
  std::vector<void*> maps_;  // under mutex_
};

}  // namespace halyard::amdgpu
