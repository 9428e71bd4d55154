// Prefetches and advice for managed memory, of which memory.h has the allocation.
#pragma once

#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/queue.h"
#include "hal/status.h"

namespace halyard::hip {

class DeviceImpl;

// Of a range of managed memory. Returns when its pages have moved.
Status prefetch(DeviceImpl& device, const BufferRange& range, PrefetchTarget to);
Status advise(DeviceImpl& device, const BufferRange& range, MemoryAdvice advice);

}  // namespace halyard::hip
