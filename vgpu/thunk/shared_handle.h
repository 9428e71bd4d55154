// What HsaSharedMemoryHandle holds: where another process finds memory, and what it is.
#pragma once

#include <hsakmttypes.h>

#include <cstdint>
#include <optional>

#include "vgpu/thunk/host_memory.h"

namespace halyard::vgpu::thunk {

struct SharedHandle {
  Segment segment;
  uint64_t size = 0;   // bytes, whole pages
  uint32_t node = 0;   // of the exporter's machine
  uint32_t flags = 0;  // HsaMemFlags
};

// `size` is below 16 TiB. ROCR puts things of its own into the word of the size in pages, and takes
// them out again (Runtime::IPCCreate in 5.2.3): that word is left 0.
void encode(const SharedHandle& handle, HsaSharedMemoryHandle& words);
// Nothing if the words are not what encode() has made.
std::optional<SharedHandle> decode(const HsaSharedMemoryHandle& words);

}  // namespace halyard::vgpu::thunk
