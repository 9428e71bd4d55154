// CommandBuffer: work recorded once and executed many times.
#pragma once

#include <cstdint>

#include "hal/buffer.h"
#include "hal/dispatch.h"
#include "hal/object.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class Device;

// Only one thread at a time may record. After finish() the recording is immutable: any thread can
// execute it any number of times, also while an earlier execution is in flight.
//
// Commands can overlap and run in any order, except across a barrier(). A recording keeps its
// buffers and executables alive. An execution keeps the buffers of its slots alive until it is
// done. Source and target of a copy must not overlap; for slots, Queue::execute checks this.
class CommandBuffer : public Object<HalyardCommandBuffer> {
 public:
  Device& device() const noexcept;

  // The operations are Queue's, without semaphores. A BufferRange without a buffer is a slot of the
  // binding table that Queue::execute takes.
  Status fill(const BufferRange& target, const void* pattern, uint32_t pattern_size);
  Status update(const BufferRange& target, const void* source, uint64_t size);
  Status copy(const BufferRange& source, const BufferRange& target);
  Status copy_rectangle(const BufferRange& source, const BufferRange& target,
                        const RectangleCopy& shape);
  Status dispatch(const Dispatch& dispatch);
  Status dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts);
  // Later commands start when all earlier commands are done and their writes are visible.
  Status barrier();
  Status begin_debug_group(StringView label);
  Status end_debug_group();
  // Ends the recording. FAILED_PRECONDITION if a debug group is open.
  Status finish();
  bool finished() const noexcept;

  // One more than the highest slot that the recording uses: the minimum for Queue::execute.
  uint32_t binding_count() const noexcept;
  // The bytes that the recording uses of the range bound to `slot`, if it gives lengths.
  uint64_t binding_bytes(uint32_t slot) const noexcept;
  static constexpr uint32_t kMaxBindings = 4096;

 protected:
  CommandBuffer() noexcept = default;  // by the driver SDK
  ~CommandBuffer() = default;
};

}  // namespace halyard
