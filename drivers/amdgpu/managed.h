// Managed memory: the program's own, which all GPUs access at its addresses by the kernel driver's
// shared virtual memory.
#pragma once

#include <cstdint>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/hsa.h"
#include "hal/device.h"
#include "hal/status.h"

namespace halyard::amdgpu {

class DeviceImpl;

// Whether the runtime has it, for every GPU.
bool has_managed_memory(const Hsa& hsa);

Result<Backing> allocate_managed(DeviceImpl& device, uint64_t size, const BufferOptions& options);

// Of a range of managed memory. Returns when its pages have moved.
Status prefetch(DeviceImpl& device, const BufferRange& range, PrefetchTarget to);
Status advise(DeviceImpl& device, const BufferRange& range, MemoryAdvice advice);

}  // namespace halyard::amdgpu
