// A queue's fill, update and copies: each goes to whoever moves it best (mover.h).
#pragma once

#include <cstdint>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/operation.h"

namespace halyard::amdgpu {

// Bytes that an update takes along in its kernel arguments. More are copied to pinned memory first.
inline constexpr uint64_t kInlineUpdateBytes = kKernargBlock - 64;

Status submit_fill(QueueCore& core, const BufferRange& target, const void* pattern,
                   uint32_t pattern_size, const Sync& sync);
Status submit_update(QueueCore& core, const BufferRange& target, const void* source, uint64_t size,
                     const Sync& sync);
Status submit_copy(QueueCore& core, const BufferRange& source, const BufferRange& target,
                   const Sync& sync);
// By a kernel, wherever the memory lies.
Status submit_copy_rectangle(QueueCore& core, const BufferRange& source, const BufferRange& target,
                             const RectangleCopy& shape, const Sync& sync);

}  // namespace halyard::amdgpu
