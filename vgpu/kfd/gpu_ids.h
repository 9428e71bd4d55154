// How the kernel driver names the GPUs of a profile.
#pragma once

#include <cstdint>

namespace halyard::vgpu::kfd {

// The id in ioctls of the GPU with this number in the profile. It differs from the number of the
// GPU's node, to detect mix-ups, and is never 0, which is the CPU.
constexpr uint32_t gpu_id_of(uint32_t index) {
  return 0x4801 + index * 0x11;
}

inline constexpr uint32_t kFirstRenderMinor = 128;
constexpr uint32_t render_minor_of(uint32_t index) {
  return kFirstRenderMinor + index;
}

// The node of a GPU's id, 1 and above, or 0 if no GPU of that many has it.
constexpr uint32_t node_of_gpu_id(uint32_t gpu_id, uint32_t gpus) {
  if (gpu_id < gpu_id_of(0) || (gpu_id - gpu_id_of(0)) % 0x11 != 0) return 0;
  const uint32_t index = (gpu_id - gpu_id_of(0)) / 0x11;
  return index < gpus ? index + 1 : 0;
}

}  // namespace halyard::vgpu::kfd
