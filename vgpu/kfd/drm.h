// A render node: what ioctl() does on /dev/dri/renderD*. As much of it as libdrm_amdgpu asks for
// when it opens a device and is asked for its properties; no command submission, no buffers.
#pragma once

#include "vgpu/kfd/kfd.h"

namespace halyard::vgpu::kfd {

// 0, or an errno value below 0. `index`: of the GPU in the profile, which must have it.
int drm_ioctl(Kfd& kfd, uint32_t index, unsigned long code, void* argument);

}  // namespace halyard::vgpu::kfd
