// Reserved buffers (BufferOptions::reserve): addresses and memory by HIP's virtual memory
// management.
//
// HIP maps and unmaps on the device's null stream, and waits for it: docs/hip-driver.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "drivers/hip/hip.h"
#include "hal/status.h"
#include "plugins/sdk/reserved_memory.h"

namespace halyard::hip {

class DeviceImpl;

// Whether HIP offers it for the device: it is HIP 6 (before, on Windows only), above an HSA runtime
// and a kernel driver that do.
bool has_virtual_memory(const Hip& hip, int device);

class Reserved final : public ReservedMemory {
 public:
  // `size` in whole granules.
  static Result<std::shared_ptr<Reserved>> make(DeviceImpl& device, uint64_t size);
  Reserved(DeviceImpl& device, std::byte* begin, uint64_t size)
      : device_(device), begin_(begin), size_(size) {}
  ~Reserved() override;

  std::byte* begin() const { return begin_; }
  // How many of `size` bytes HIP copies or fills at once, from an address of the range on.
  uint64_t at_once(const void* from, uint64_t size) const {
    return length_in_piece(static_cast<uint64_t>(static_cast<const std::byte*>(from) - begin_),
                           size);
  }

 private:
  Status map(uint64_t offset, uint64_t length, Handle* memory) override;
  Status unmap(uint64_t offset, uint64_t length, Handle memory) override;
  // OK if HIP's null stream would not wait for ever.
  Status check_waits_end(const char* operation) const;

  DeviceImpl& device_;
  std::byte* const begin_;
  const uint64_t size_;
};

}  // namespace halyard::hip
