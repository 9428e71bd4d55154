// Buffer of the host_memory driver: host memory.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "hal/buffer.h"
#include "hal/contract/objects.h"

namespace host_memory {

class HostMemoryDevice;

class HostMemoryBuffer final : public halyard::driver::BufferBase {
 public:
  // Zeroed memory of its own. RESOURCE_EXHAUSTED if there is not so much.
  static halyard::Status allocate(HostMemoryDevice& device, halyard::MemoryType type, uint64_t size,
                                  uint64_t alignment, halyard::Buffer** buffer);

  // In this driver the device's address is the host's.
  uint8_t* bytes() const { return reinterpret_cast<uint8_t*>(device_address()); }

 private:
  // `parent` is null for a buffer that owns its memory.
  HostMemoryBuffer(HostMemoryDevice& device, halyard::MemoryType type, uint64_t size, void* memory,
                   halyard::Ref<halyard::Buffer> parent);
  ~HostMemoryBuffer();
  void destroy() noexcept override;
  halyard::Status do_map(uint64_t offset, uint64_t length, halyard::MapAccess access,
                         void** pointer) override;
  halyard::Status do_unmap(void* pointer) override;
  halyard::Status do_flush(uint64_t offset, uint64_t length) override;
  halyard::Status do_invalidate(uint64_t offset, uint64_t length) override;
  halyard::Status do_subspan(uint64_t offset, uint64_t length, halyard::Buffer** view) override;

  HostMemoryDevice& device_;  // kept alive by owner_
  halyard::Ref<halyard::Device> owner_;
  halyard::Ref<halyard::Buffer> parent_;
  std::mutex mutex_;
  std::multiset<void*> maps_;  // under mutex_
};

}  // namespace host_memory
