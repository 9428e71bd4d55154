// Whether the HSA runtime exports and imports dma-bufs.
#pragma once

#include "drivers/amdgpu/hsa.h"
#include "hal/status.h"

namespace halyard::amdgpu {

// OK, or UNIMPLEMENTED with the reason. Once the runtime runs.
Status check_has_dmabufs(const Hsa& hsa);

}  // namespace halyard::amdgpu
