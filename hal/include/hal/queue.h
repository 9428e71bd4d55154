// Queue: takes the work of a device.
//
// A queue is in order: an operation starts when the previous one is done and its writes are
// visible. Work that can overlap goes to several queues, or into one CommandBuffer. Each operation
// is asynchronous: it waits for its `wait` points, on the device if possible, and reaches its
// `signal` points when it is done. If it fails, the semaphores of its signal points fail with a
// message that names it. If the queue cannot continue, those of all later operations fail too.
// Dropping the last reference does not wait: queued work continues.
//
// If a call fails (the returned Status), it has queued nothing and leaves its semaphores
// unchanged. The same operation can then go to another queue. An operation that would wait for
// itself, because it follows one that waits for its signal, is refused if this can be detected at
// submission: FAILED_PRECONDITION names the cycle. Otherwise its wait ends like any other
// (docs/failures.md).
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

// The points that an operation waits for and signals. Read before the call returns. The operation
// keeps the semaphores alive.
struct Sync {
  Span<const SemaphorePoint> wait = {};
  Span<const SemaphorePoint> signal = {};
};

// A copy of rows, and of slices of rows: Queue::copy_rectangle. Each side has its own pitches of
// rows and slices.
struct RectangleCopy {
  uint32_t struct_size = sizeof(RectangleCopy);
  uint64_t row_bytes = 0;  // to copy of each row
  uint64_t rows = 1;       // of each slice; at most 4294967295
  uint64_t slices = 1;     // at most 4294967295
  // Bytes from the start of a row to the start of the next, at least row_bytes. 0: row_bytes.
  uint64_t source_row_pitch = 0;
  uint64_t target_row_pitch = 0;
  // The same for slices, at least rows × the row pitch. 0: that.
  uint64_t source_slice_pitch = 0;
  uint64_t target_slice_pitch = 0;
};

// For Queue::alloca_buffer.
struct PoolOptions {
  uint32_t struct_size = sizeof(PoolOptions);
  MemoryType type = MemoryType::kDevice;
  uint64_t alignment = 0;  // as BufferOptions::alignment
  // The pool to allocate from, regardless of `type`. Null: the device's own pool of that
  // type.
  MemoryPool* pool = nullptr;
};

// Where Queue::prefetch moves pages.
enum class PrefetchTarget : uint32_t {
  kDevice = 0,  // the queue's GPU
  kHost = 1,
};

// A file that a queue reads or writes; the caller keeps the descriptor.
struct FileRange {
  int descriptor = -1;
  uint64_t offset = 0;  // bytes
};

// A host function in queue order. Called once, on a thread of the driver; must not block on work of
// the same queue. If it returns a failure or throws, the operation fails. Not called if a wait
// failed.
using HostFunction = Status (*)(void* context);

// Completes a host call that continues after its function has returned. Valid until complete().
class HostCompletion : protected HalyardHostCompletion {
 public:
  HostCompletion(const HostCompletion&) = delete;
  HostCompletion& operator=(const HostCompletion&) = delete;

  // Call it exactly once, from any thread, also within the function: the operation is done, or
  // fails with `outcome`. If a host call never completes, its queue never continues. If the
  // function throws before this call, the operation fails; a later call is legal and has no
  // effect.
  void complete(const Status& outcome) {
    HalyardHostCompletion::complete(this, Status(outcome).leak());
  }

 protected:
  HostCompletion() noexcept : HalyardHostCompletion() {}  // by the driver SDK
  ~HostCompletion() = default;
};
using DeferredHostFunction = void (*)(void* context, HostCompletion& completion);

// The host call that a driver gets from Queue::host_call and host_call_deferred: one of the two
// functions. A driver keeps known_part() of it, and calls run().
struct HostCall {
  uint32_t struct_size = sizeof(HostCall);
  HostFunction function = nullptr;
  DeferredHostFunction deferred = nullptr;
  void* context = nullptr;
  // Calls the function, and turns an exception into a failure. This is the program's own code,
  // because only that knows the exceptions of its standard library.
  void (*invoke)(const HostCall& call, HostCompletion& completion) = nullptr;

  // Calls the function, once. `completion` gets the outcome, before this returns or later; this
  // object can then be gone.
  void run(HostCompletion& completion) const { invoke(*this, completion); }
};

// The largest pattern of a fill, in bytes.
inline constexpr uint32_t kMaxPattern = 256;

// Any thread may use any method. Operations from several threads are ordered by their
// arrival.
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
  // buffer can be another device's, if Device::can_access is true for it.
  Status copy(const BufferRange& source, const BufferRange& target, const Sync& sync = {});
  // Copies a rectangle in 2 or 3 dimensions. The first row begins at each range's offset. A range
  // without a length ends with the last row; a range with one must contain all rows. The rows of
  // both sides share no byte; ranges that otherwise overlap need equal pitches.
  Status copy_rectangle(const BufferRange& source, const BufferRange& target,
                        const RectangleCopy& shape, const Sync& sync = {});
  // No lock, allocation or system call if the queue has room and waits only for itself.
  Status dispatch(const Dispatch& dispatch, const Sync& sync = {});
  // Work-group counts (3 × uint32) are read from `group_counts` on the device, after the waits.
  Status dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                           const Sync& sync = {});
  // `bindings[i]` is slot i of the recording.
  Status execute(CommandBuffer& commands, Span<const BufferRange> bindings = {},
                 const Sync& sync = {});
  // Queue-ordered memory: work that waits for `sync.signal` can use the buffer. It can be recorded
  // and bound at once.
  Result<Ref<Buffer>> alloca_buffer(uint64_t size, const PoolOptions& options = {},
                                    const Sync& sync = {});
  // Deallocates the buffer's memory, in this queue's order and after the waits. The queue need not
  // be the one that allocated it. From the call on, the buffer and its views have no bytes
  // (Buffer::size is 0), and their use is refused with FAILED_PRECONDITION, also in a recording
  // that names them. Earlier work is not affected. If a wait fails, or the queue is lost or
  // abandoned before the waits are met, the buffer keeps its memory: before the signals fail, it
  // has its bytes again, and can be used, and deallocated later.
  Status dealloca_buffer(Buffer& buffer, const Sync& sync = {});
  Status read(const FileRange& source, const BufferRange& target, const Sync& sync = {});
  Status write(const BufferRange& source, const FileRange& target, const Sync& sync = {});
  Status host_call(HostFunction function, void* context, const Sync& sync = {});
  // As host_call, but the operation lasts until the completion is called.
  Status host_call_deferred(DeferredHostFunction function, void* context, const Sync& sync = {});
  // For bindings to other languages, whose functions have other types: `call.invoke` is the
  // binding's function, and interprets call.function, call.deferred and call.context.
  Status host_call(const HostCall& call, const Sync& sync = {});
  // Only waits and signals.
  Status barrier(const Sync& sync);
  // Moves the pages of managed memory (BufferOptions::managed) that hold the range, as far as the
  // runtime and its kernel driver do so. The contents and the address stay the same. A hint: later
  // accesses from elsewhere are legal, and can move pages again. FAILED_PRECONDITION for other
  // memory. Since 2.1: UNIMPLEMENTED with an older driver or one without managed memory.
  Status prefetch(const BufferRange& range, PrefetchTarget to, const Sync& sync = {});

  // The vendor runtime's queue, for work beside Halyard: hsa_queue_t*, hipStream_t; null if there
  // is none. Lives as long as this. The driver's documentation says whether programs can also
  // submit to it.
  void* native_handle() const noexcept;

  // The value of ProfileEvent::queue, unique among the driver's queues, past and future. 0 if a
  // driver does not number its queues.
  uint64_t id() const noexcept;

  // OK while the queue accepts work; then the reason why it does not: its own work failed so that
  // it cannot continue, its device is lost, or it was abandoned (docs/failures.md).
  Status fault() const;
  // Gives up all unfinished work: each semaphore that it was to signal fails with CANCELLED, with
  // the name of the kernel that has not ended. This ends every wait for them. The queue accepts no
  // further work; the device and its other queues continue. Does not wait, and does not stop the
  // kernel: the vendor's queue is left alone, and work that still runs there keeps its memory until
  // it or the process ends. For a queue that is already lost: OK, and no effect.
  Status abandon();

 protected:
  Queue() noexcept = default;  // by the driver SDK
  ~Queue() = default;
};

}  // namespace halyard
