// What a queue's read or write of a file does with the GPU's memory.
#pragma once

#include "drivers/amdgpu/queue_core.h"
#include "hal/status.h"
#include "plugins/sdk/file_work.h"

namespace halyard::amdgpu {

// Returns when the bytes are where they belong. Nothing is in flight on the queue.
Status move_file(QueueCore& core, const FileWork& work);

}  // namespace halyard::amdgpu
