// CommandBuffer: work recorded once and executed many times.
#pragma once

#include <cstdint>

#include "hal/buffer.h"
#include "hal/dispatch.h"
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
class CommandBuffer : public RefCounted {
 public:
  Device& device() const noexcept { return *device_; }

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
  bool finished() const noexcept { return finished_; }

  // One more than the highest slot that the recording uses; what Queue::execute wants at least.
  uint32_t binding_count() const noexcept { return binding_count_; }
  // Bytes that the recording uses of the range bound to `slot`, as far as it says.
  uint64_t binding_bytes(uint32_t slot) const noexcept {
    return slot < binding_count_ ? binding_bytes_[slot] : 0;
  }
  static constexpr uint32_t kMaxBindings = 4096;
  // For Queue::execute: INVALID_ARGUMENT if a recorded copy would overlap itself with these
  // bindings, which have a buffer for every slot.
  Status check_copies(const char* operation, Span<const BufferRange> bindings) const;

 protected:
  explicit CommandBuffer(Device& device) noexcept : device_(&device) {}
  ~CommandBuffer();

 private:
  virtual Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size) = 0;
  virtual Status do_update(const BufferRange& target, const void* source, uint64_t size) = 0;
  virtual Status do_copy(const BufferRange& source, const BufferRange& target) = 0;
  virtual Status do_dispatch(const Dispatch& dispatch) = 0;
  virtual Status do_dispatch_indirect(const Dispatch& dispatch,
                                      const BufferRange& group_counts) = 0;
  virtual Status do_barrier() = 0;
  virtual Status do_begin_debug_group(StringView label) = 0;
  virtual Status do_end_debug_group() = 0;
  virtual Status do_finish() = 0;
  // Since minor 2, as Queue's.
  virtual Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                                   const RectangleCopy& shape) = 0;

  Status check_recording(const char* operation) const;
  // Notes the slot that `range` names, if it names one.
  Status use(const char* operation, const BufferRange& range);
  Status use_arguments(const char* operation, const Dispatch& dispatch);
  // Notes a copy whose place is known only at execution. `shape`, which may be null, makes it one
  // of a rectangle.
  Status note_copy(const char* operation, const BufferRange& source, const BufferRange& target,
                   const RectangleCopy* shape);

  struct SlotCopy;

  Device* device_;
  uint32_t open_debug_groups_ = 0;
  bool finished_ = false;
  uint32_t binding_count_ = 0;
  uint64_t* binding_bytes_ = nullptr;  // malloc'ed, one for each slot
  SlotCopy* slot_copies_ = nullptr;    // malloc'ed
  uint32_t slot_copy_count_ = 0;
  uint32_t slot_copy_room_ = 0;
};

}  // namespace halyard
