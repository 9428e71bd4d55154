// A render node: the ioctl() requests of /dev/dri/renderD* that libdrm_amdgpu makes when it opens a
// device and reads its properties, and those for buffers (gem.h); no command submission
// (submissions.h).
#pragma once

#include "vgpu/kfd/kfd.h"

namespace halyard::vgpu::kfd {

// 0, or an errno value below 0. `index`: of the GPU in the profile, which must have it.
int drm_ioctl(Kfd& kfd, uint32_t index, unsigned long code, void* argument);

}  // namespace halyard::vgpu::kfd
