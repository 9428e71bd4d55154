// What the drivers check of dma-bufs (hal/device.h, Dmabuf).
#pragma once

#include <cstdint>
#include <string_view>

#include "hal/device.h"
#include "hal/status.h"

namespace halyard {

// OUT_OF_RANGE if `size` bytes do not fit behind the dma-buf's offset. INVALID_ARGUMENT if the
// descriptor is no file with a size.
Status check_dmabuf_range(const Dmabuf& dmabuf, uint64_t size);
// For a dma-buf of `available` bytes.
Status too_small_dmabuf(const Dmabuf& dmabuf, uint64_t size, uint64_t available);

// UNIMPLEMENTED, because "the HSA runtime lacks …".
Status no_dmabufs(std::string_view because);

}  // namespace halyard
