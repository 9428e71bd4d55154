// Queue: where a device takes its work.
//
// A queue is in order: an operation starts when the one submitted before it is done and its writes
// are visible. Work that may overlap goes to several queues, or into one CommandBuffer. Each
// operation is asynchronous: it waits for its `wait` points on the device where it can, and makes
// its `signal` points true when it is done. If it fails, its signal points' semaphores fail with a
// message that names it; so do those of everything behind it on a queue that can no more run.
// Dropping the last reference waits for nothing: what is queued goes on.
//
// A failed call (the returned Status) has queued nothing, and leaves its semaphores as they were:
// it neither signals nor fails them. The same operation may then be given to another queue. An
// operation that would wait for itself, as it comes behind one that waits for what it is to signal,
// is refused where that can be told when it is submitted: FAILED_PRECONDITION names the way round.
// Otherwise its wait ends like any other (docs/failures.md).
#pragma once

#include <cstdint>

#include "hal/buffer.h"
#include "hal/dispatch.h"
#include "hal/object.h"
#include "hal/ref.h"
#include "hal/semaphore.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class CommandBuffer;
class Device;
class MemoryPool;

// What an operation waits for and what it signals. Read before the call returns. Semaphores are
// kept alive by the operation.
struct Sync {
  Span<const SemaphorePoint> wait = {};
  Span<const SemaphorePoint> signal = {};
};

// A copy of rows, and of slices of rows: Queue::copy_rectangle. Each side has distances of its own
// from one row to the next, and from one slice to the next.
struct RectangleCopy {
  uint32_t struct_size = sizeof(RectangleCopy);
  uint64_t row_bytes = 0;  // that are copied of each row
  uint64_t rows = 1;       // of each slice; at most 4294967295
  uint64_t slices = 1;     // at most 4294967295
  // Bytes from the beginning of a row to that of the next, at least row_bytes. 0: row_bytes.
  uint64_t source_row_pitch = 0;
  uint64_t target_row_pitch = 0;
  // … of a slice, at least rows × the row pitch. 0: that.
  uint64_t source_slice_pitch = 0;
  uint64_t target_slice_pitch = 0;
};

// For Queue::alloca_buffer.
struct PoolOptions {
  uint32_t struct_size = sizeof(PoolOptions);
  MemoryType type = MemoryType::kDevice;
  uint64_t alignment = 0;  // as BufferOptions::alignment
  // Takes the memory from there, whatever `type` says. Null: from the device's own
  // pool of that type.
  MemoryPool* pool = nullptr;
};

// A file that a queue reads from or writes to; the descriptor stays the caller's.
struct FileRange {
  int descriptor = -1;
  uint64_t offset = 0;  // bytes
};

// A host function in queue order. Called once, on a thread of the driver's; must not block on work
// of the same queue. A failure that it returns fails the operation, and so does an exception that
// it throws. Not called if a wait failed.
using HostFunction = Status (*)(void* context);

// The end of a host call that goes on after its function has returned. Valid until complete().
class HostCompletion : protected HalyardHostCompletion {
 public:
  HostCompletion(const HostCompletion&) = delete;
  HostCompletion& operator=(const HostCompletion&) = delete;

  // Exactly once, from any thread, also from within the function: the operation is done, or failed
  // with `outcome`. A queue whose host call never completes never goes on. An exception that the
  // function throws before this is called fails the operation; this may still be called then, and
  // changes nothing.
  void complete(const Status& outcome) {
    HalyardHostCompletion::complete(this, Status(outcome).leak());
  }

 protected:
  HostCompletion() noexcept : HalyardHostCompletion() {}  // by the driver SDK
  ~HostCompletion() = default;
};
using DeferredHostFunction = void (*)(void* context, HostCompletion& completion);

// What Queue::host_call and host_call_deferred give to a driver: one of the two functions. A driver
// keeps known_part() of it, and calls run().
struct HostCall {
  uint32_t struct_size = sizeof(HostCall);
  HostFunction function = nullptr;
  DeferredHostFunction deferred = nullptr;
  void* context = nullptr;
  // Calls the function, and turns an exception into a failure. It is the program's own code, as
  // only that knows the exceptions of its standard library.
  void (*invoke)(const HostCall& call, HostCompletion& completion) = nullptr;

  // Calls the function, once. `completion` is told the outcome, before this returns or later; then
  // this may be gone.
  void run(HostCompletion& completion) const { invoke(*this, completion); }
};

// The most bytes that a fill's pattern has.
inline constexpr uint32_t kMaxPattern = 256;

// Any thread may use any method. Operations submitted from several threads at once are ordered
// as they happen to arrive.
class Queue : public Object<HalyardQueue> {
 public:
  Device& device() const noexcept;

  // Repeats a pattern of 1 to 256 bytes over the range, whose length is a multiple of it.
  Status fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
              const Sync& sync = {});
  // Writes `size` bytes of host memory, which are copied before the call returns.
  Status update(const BufferRange& target, const void* source, uint64_t size,
                const Sync& sync = {});
  // Copies source to target; the lengths are equal. Overlapping ranges are INVALID_ARGUMENT. Either
  // may be a buffer of another device that Device::can_access is true of.
  Status copy(const BufferRange& source, const BufferRange& target, const Sync& sync = {});
  // Copies a rectangle in 2 or 3 dimensions. The first row begins at each range's offset; a range
  // without a length reaches as far as the rows do, and one with a length must. No byte may be in
  // rows of both sides; ranges that overlap otherwise need equal pitches.
  Status copy_rectangle(const BufferRange& source, const BufferRange& target,
                        const RectangleCopy& shape, const Sync& sync = {});
  // No lock, no allocation and no system call where the queue has room and waits are on this queue.
  Status dispatch(const Dispatch& dispatch, const Sync& sync = {});
  // Work-group counts (3 × uint32) are read from `group_counts` on the device, after the waits.
  Status dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                           const Sync& sync = {});
  // `bindings[i]` stands for slot i of the recording.
  Status execute(CommandBuffer& commands, Span<const BufferRange> bindings = {},
                 const Sync& sync = {});
  // Queue-ordered memory: the buffer may be used by work that waits for `sync.signal`. It may be
  // recorded and bound at once.
  Result<Ref<Buffer>> alloca_buffer(uint64_t size, const PoolOptions& options = {},
                                    const Sync& sync = {});
  // Gives the buffer's memory back, in this queue's order and after the waits; the queue need not
  // be the one that allocated it. From the call on the buffer and its views have no bytes
  // (Buffer::size is 0), and their use is refused with FAILED_PRECONDITION, also by way of a
  // recording that names them. Work that was submitted before is not affected. If a wait fails, or
  // the queue is lost or abandoned before the waits are over, the memory stays the buffer's: before
  // the signals fail, it has its bytes again, and may be used, and given back later.
  Status dealloca_buffer(Buffer& buffer, const Sync& sync = {});
  Status read(const FileRange& source, const BufferRange& target, const Sync& sync = {});
  Status write(const BufferRange& source, const FileRange& target, const Sync& sync = {});
  Status host_call(HostFunction function, void* context, const Sync& sync = {});
  // As host_call, but the operation lasts until the completion is told.
  Status host_call_deferred(DeferredHostFunction function, void* context, const Sync& sync = {});
  // For bindings to other languages, whose functions have other types: `call.invoke` is the
  // binding's, and knows what is behind call.function, call.deferred and call.context.
  Status host_call(const HostCall& call, const Sync& sync = {});
  // Only waits and signals.
  Status barrier(const Sync& sync);

  // The vendor runtime's own queue, for work beside Halyard: hsa_queue_t*, hipStream_t; null if
  // there is none. Lives as long as this. Whether the vendor's queue may also be submitted to is
  // the driver's to say (docs).
  void* native_handle() const noexcept;

  // What ProfileEvent::queue says: no other queue of the driver's, before or after, has the same.
  // 0 from a driver that does not number its queues.
  uint64_t id() const noexcept;

  // OK while the queue takes work; afterwards why it does not: its own work has failed so that it
  // cannot go on, its device is lost, or it was abandoned (docs/failures.md).
  Status fault() const;
  // Gives up what is queued and not done: each semaphore that it was to signal fails, with a
  // CANCELLED that names the kernel that has not ended, and so ends each wait for it. The queue
  // takes no work any more; the device and its other queues go on. Does not wait, and does not end
  // the kernel: the vendor's queue is left alone, and what may still run there keeps its memory
  // until it ends, or the process does. Of a queue that is lost already: OK, and changes nothing.
  Status abandon();

 protected:
  Queue() noexcept = default;  // by the driver SDK
  ~Queue() = default;
};

}  // namespace halyard
