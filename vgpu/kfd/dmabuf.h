// What the virtual kernel driver knows of a dma-buf by its descriptor alone.
#pragma once

#include <cstdint>

namespace halyard::vgpu::kfd {

struct DmabufContents {
  uint32_t node = 0;   // of the GPU whose memory it is, or through which the host's was allocated
  uint32_t flags = 0;  // abi::kVram or abi::kGtt, and abi::kPublic
  uint64_t bytes = 0;  // whole pages
};

// A descriptor, or an errno value below 0.
int make_dmabuf(const DmabufContents& contents);

// 0, or an errno value below 0: EBADF if the descriptor is not open, EINVAL if it is not a dma-buf
// of a virtual GPU. The node may be none of this machine's.
int read_dmabuf(int file, DmabufContents& contents);

}  // namespace halyard::vgpu::kfd
