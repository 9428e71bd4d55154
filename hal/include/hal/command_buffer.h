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

// Recording is for one thread at a time. After finish() it is immutable: any thread may execute it,
// any number of times, also while an earlier execution is still in flight.
//
// Commands may overlap and run in any order, except across a barrier(). A recording keeps alive the
// buffers and executables that it names, an execution what is bound to slots until it is done.
// Copies do not overlap themselves; where slots are involved, Queue::execute refuses the bindings.
class CommandBuffer : public Object<HalyardCommandBuffer> {
 public:
  Device& device() const noexcept;

  // The operations are Queue's, without the semaphores. A BufferRange without a buffer is a slot of
  // the binding table that Queue::execute is given.
  Status fill(const BufferRange& target, const void* pattern, uint32_t pattern_size);
  Status update(const BufferRange& target, const void* source, uint64_t size);
  Status copy(const BufferRange& source, const BufferRange& target);
  Status copy_rectangle(const BufferRange& source, const BufferRange& target,
                        const RectangleCopy& shape);
  Status dispatch(const Dispatch& dispatch);
  Status dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts);
  // All that was recorded before is done, and its writes are visible, before what comes after.
  Status barrier();
  Status begin_debug_group(StringView label);
  Status end_debug_group();
  // Ends the recording. FAILED_PRECONDITION if a debug group is open.
  Status finish();
  bool finished() const noexcept;

  // One more than the highest slot that the recording uses; what Queue::execute wants at least.
  uint32_t binding_count() const noexcept;
  // Bytes that the recording uses of the range bound to `slot`, as far as it says.
  uint64_t binding_bytes(uint32_t slot) const noexcept;
  static constexpr uint32_t kMaxBindings = 4096;

 protected:
  CommandBuffer() noexcept = default;  // by the driver SDK
  ~CommandBuffer() = default;
};

}  // namespace halyard
