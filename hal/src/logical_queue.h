// The queue of a logical device: the queue of one of its GPUs.
#pragma once

#include <cstddef>

#include "hal/queue.h"
#include "hal/ref.h"

namespace halyard {

class GpuGroup;

namespace internal {

Ref<Queue> make_logical_queue(GpuGroup& device, size_t gpu, Ref<Queue> queue);

}  // namespace internal
}  // namespace halyard
