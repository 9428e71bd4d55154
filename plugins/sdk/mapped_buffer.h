// MappedBuffer: a buffer that the host may map through a window to the device's memory.
#pragma once

#include <cstdint>

#include "hal/buffer.h"
#include "hal/contract/objects.h"
#include "hal/status.h"
#include "plugins/sdk/host_window.h"

namespace halyard {

class MappedBuffer : public driver::BufferBase {
 public:
  // Of memory of the device that the host maps: before the host reads what the device has written,
  // or after the host has written what the device is to read. The host's own memory is coherent
  // without our doing. Any thread.
  void synchronise_with_host() const {
    if (type() == MemoryType::kDeviceMapped) window().synchronise();
  }

 protected:
  using BufferBase::BufferBase;
  ~MappedBuffer() = default;

 private:
  virtual const HostWindow& window() const = 0;

  Status do_flush(uint64_t, uint64_t) final {
    synchronise_with_host();
    return {};
  }
  Status do_invalidate(uint64_t, uint64_t) final {
    synchronise_with_host();
    return {};
  }
};

}  // namespace halyard
