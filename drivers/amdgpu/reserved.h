// Reserved buffers (BufferOptions::reserve): addresses and memory by hsa_amd_vmem_*.
#pragma once

#include <cstdint>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/hsa.h"
#include "hal/status.h"

namespace halyard::amdgpu {

class DeviceImpl;

// Whether the runtime offers it: it is of ROCm 6.0 or later, and so is the kernel driver.
bool has_virtual_memory(const Hsa& hsa);

// `size` in whole granules.
Result<Backing> reserve(DeviceImpl& device, uint64_t size);

}  // namespace halyard::amdgpu
