// The recording of a logical device: one of each GPU.
#pragma once

#include <cstddef>

#include "hal/command_buffer.h"
#include "hal/ref.h"
#include "hal/status.h"

namespace halyard {

class GpuGroup;

namespace internal {

Result<Ref<CommandBuffer>> make_logical_command_buffer(GpuGroup& device);

// What a queue of a GPU executes of `commands`, which is a recording of a logical device; or why
// that GPU cannot (it has no variant of a function, or cannot access a buffer).
Result<CommandBuffer*> recording_for(CommandBuffer& commands, size_t gpu);

}  // namespace internal
}  // namespace halyard
