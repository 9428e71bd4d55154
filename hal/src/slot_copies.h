// Copies of a recording whose places are known only at execution.
#pragma once

#include "hal/command_buffer.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::internal {

// For Queue::execute: INVALID_ARGUMENT if a recorded copy would overlap itself with these bindings,
// which have a buffer for every slot.
Status check_slot_copies(const char* operation, const CommandBuffer& commands,
                         Span<const BufferRange> bindings);

}  // namespace halyard::internal
