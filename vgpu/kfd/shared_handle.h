// What the 16 bytes of an exported buffer's handle hold.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/machine/host_memory.h"

namespace halyard::vgpu::kfd {

// HsaMemFlags.CoarseGrain.
inline constexpr uint32_t kCoarseGrained = 1u << 13;

struct SharedBuffer {
  machine::Segment segment;
  uint64_t bytes = 0;  // whole pages, below 8 TiB
  bool is_vram = false;
  uint32_t flags = 0;  // the thunk's (HsaMemFlags), which the kernel driver hands on
};

// False if there is no segment or it is too large.
bool encode(const SharedBuffer& buffer, uint32_t (&words)[4]);
// Nothing if encode() cannot have made the words. Damaged words can look like a handle; then
// attach_pages() refuses its segment.
std::optional<SharedBuffer> decode(const uint32_t (&words)[4]);

}  // namespace halyard::vgpu::kfd
