/* Queues. */
#ifndef HALYARD_C_QUEUE_H
#define HALYARD_C_QUEUE_H

#include "halyard/c/base.h"
#include "halyard/c/buffer.h"
#include "halyard/c/executable.h"
#include "halyard/c/semaphore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A queue is in order. Each operation is asynchronous: it waits for its `wait` points, on the
 * device if possible, and reaches its `signal` points when it is done; if it fails, their
 * semaphores fail. If a call returns an error, it has queued nothing and leaves its semaphores
 * unchanged. `sync` may be null: no points. All inputs are read before the call returns. Objects
 * stay alive until the work is done. */
typedef struct halyard_sync {
  const halyard_point* wait;
  size_t wait_count;
  const halyard_point* signal;
  size_t signal_count;
} halyard_sync;

typedef enum halyard_priority HALYARD_ENUM {
  HALYARD_PRIORITY_NORMAL = 0,
  HALYARD_PRIORITY_LOW = 1,
  HALYARD_PRIORITY_HIGH = 2
} halyard_priority;

typedef struct halyard_queue_options {
  size_t struct_size;
  halyard_priority priority;
  /* Operations on the device above which a submission waits; 0: the driver's default. */
  uint32_t capacity;
  uint32_t gpu; /* since 0.2; of a logical device: the GPU that runs the queue's work */
} halyard_queue_options;

/* `options` may be null. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_queue(
    halyard_device* device, const halyard_queue_options* options, halyard_queue** queue);
/* Over a queue of the vendor runtime (hipStream_t), which the caller keeps and which must outlive
 * it. FAILED_PRECONDITION if halyard_device_info.imports_queues is false. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_queue(halyard_device* device,
                                                                          void* native_queue,
                                                                          halyard_queue** queue);
HALYARD_API void halyard_queue_retain(halyard_queue* queue);
/* Does not wait: queued work continues. */
HALYARD_API void halyard_queue_release(halyard_queue* queue);
/* Without a new reference. Null for a bad handle. */
HALYARD_API halyard_device* halyard_queue_device(halyard_queue* queue);
/* Since 0.3: the queue's number in profiles, unique in the process. 0 for a bad handle, and if the
 * driver does not number its queues. */
HALYARD_API uint64_t halyard_queue_id(halyard_queue* queue);

/* An explicit kernel argument. */
typedef struct halyard_argument {
  halyard_argument_kind kind; /* VALUE, BUFFER or DYNAMIC_LDS */
  uint32_t size;              /* of a value or of the LDS */
  const void* value;          /* VALUE: read before the call returns */
  halyard_range range;        /* BUFFER; in a command buffer also a slot */
  /* BUFFER without range.buffer, with `is_address`: an address of device memory, or 0 for a null
   * pointer. It is not checked, and the memory is not kept alive, unless it is among
   * halyard_dispatch.uses. */
  uint64_t address;
  bool is_address;
} halyard_argument;

static inline halyard_argument halyard_value(const void* value, uint32_t size) {
  halyard_argument argument = {HALYARD_ARGUMENT_VALUE,       size, value,
                               {NULL, 0, HALYARD_TO_END, 0}, 0,    false};
  return argument;
}
static inline halyard_argument halyard_buffer_argument(halyard_range range) {
  halyard_argument argument = {HALYARD_ARGUMENT_BUFFER, 0, NULL, range, 0, false};
  return argument;
}
static inline halyard_argument halyard_address(uint64_t device_address) {
  halyard_argument argument = {HALYARD_ARGUMENT_BUFFER, 0,   NULL, {NULL, 0, HALYARD_TO_END, 0},
                               device_address,          true};
  return argument;
}
static inline halyard_argument halyard_dynamic_lds(uint32_t size) {
  halyard_argument argument = {HALYARD_ARGUMENT_DYNAMIC_LDS, size, NULL,
                               {NULL, 0, HALYARD_TO_END, 0}, 0,    false};
  return argument;
}

/* A kernel launch. The grid counts work-items, and need not be a multiple of the work-group. */
typedef struct halyard_dispatch {
  size_t struct_size;
  halyard_function* function;
  halyard_dim3 grid;
  halyard_dim3 workgroup;
  /* In addition to static LDS and LDS arguments (HIP's extern __shared__). */
  uint32_t dynamic_lds_bytes;
  const halyard_argument* arguments; /* one for each of the function's, in order */
  size_t argument_count;
  /* Since 0.3: memory that the kernel reaches through an address in other data, such as a struct
   * that is passed by value (halyard_buffer_device_address). It lives until the work is done, and
   * the device can access it. */
  const halyard_range* uses;
  size_t use_count;
} halyard_dispatch;

/* A copy of rows, and of slices of rows. A pitch is the distance from the start of a row (or slice)
 * to the start of the next; 0: no gap. */
typedef struct halyard_rectangle {
  size_t struct_size;
  uint64_t row_bytes;
  uint64_t rows;   /* of each slice; 0: 1 */
  uint64_t slices; /* 0: 1 */
  uint64_t source_row_pitch;
  uint64_t target_row_pitch;
  uint64_t source_slice_pitch;
  uint64_t target_slice_pitch;
} halyard_rectangle;

/* A file that a queue reads or writes; the caller keeps the descriptor. */
typedef struct halyard_file_range {
  int descriptor;
  uint64_t offset;
} halyard_file_range;

/* Repeats a pattern of 1 to 256 bytes over the range, whose length is a multiple of it. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_fill(halyard_queue* queue,
                                                                 halyard_range target,
                                                                 const void* pattern,
                                                                 uint32_t pattern_size,
                                                                 const halyard_sync* sync);
/* Writes host memory, which is copied before the call returns. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_update(halyard_queue* queue,
                                                                   halyard_range target,
                                                                   const void* source,
                                                                   uint64_t size,
                                                                   const halyard_sync* sync);
/* The lengths are equal; the ranges do not overlap. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_copy(halyard_queue* queue,
                                                                 halyard_range source,
                                                                 halyard_range target,
                                                                 const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_copy_rectangle(
    halyard_queue* queue, halyard_range source, halyard_range target,
    const halyard_rectangle* shape, const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_dispatch(
    halyard_queue* queue, const halyard_dispatch* dispatch, const halyard_sync* sync);
/* The device reads work-group counts (3 × uint32_t) from `group_counts`; the grid of `dispatch` is
 * ignored. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_dispatch_indirect(
    halyard_queue* queue, const halyard_dispatch* dispatch, halyard_range group_counts,
    const halyard_sync* sync);
/* `bindings[i]` is slot i of the recording. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_execute(
    halyard_queue* queue, halyard_command_buffer* commands, const halyard_range* bindings,
    size_t binding_count, const halyard_sync* sync);
/* Memory in queue order: work that waits for the signals can use the buffer. `options` may be
 * null. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_alloca(
    halyard_queue* queue, uint64_t size, const halyard_buffer_options* options,
    const halyard_sync* sync, halyard_buffer** buffer);
/* Deallocates the memory in queue order. From the call on, the buffer has no bytes; the caller
 * still releases the handle. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_dealloca(halyard_queue* queue,
                                                                     halyard_buffer* buffer,
                                                                     const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_read(halyard_queue* queue,
                                                                 halyard_file_range source,
                                                                 halyard_range target,
                                                                 const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_write(halyard_queue* queue,
                                                                  halyard_range source,
                                                                  halyard_file_range target,
                                                                  const halyard_sync* sync);

/* A host function in queue order. It returns null, or an error (halyard_error_create), which the
 * library frees and with which the operation fails. Called once, on a thread of the driver; must
 * not block on work of the same queue. Not called if a wait failed. */
typedef halyard_error* (*halyard_host_function)(void* context);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_host_call(
    halyard_queue* queue, halyard_host_function function, void* context, const halyard_sync* sync);
/* The same, but the operation lasts until halyard_completion_complete is called: exactly once, from
 * any thread, also within the function. It takes over `error`. */
typedef struct halyard_completion halyard_completion;
typedef void (*halyard_deferred_host_function)(void* context, halyard_completion* completion);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_host_call_deferred(
    halyard_queue* queue, halyard_deferred_host_function function, void* context,
    const halyard_sync* sync);
HALYARD_API void halyard_completion_complete(halyard_completion* completion, halyard_error* error);

/* Since 0.3: moves the pages of managed memory (halyard_buffer_options.managed) that hold the
 * range, as far as the vendor's runtime does so; a hint. FAILED_PRECONDITION for other memory. */
typedef enum halyard_prefetch_target HALYARD_ENUM {
  HALYARD_PREFETCH_TO_DEVICE = 0, /* the queue's GPU */
  HALYARD_PREFETCH_TO_HOST = 1
} halyard_prefetch_target;
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_prefetch(halyard_queue* queue,
                                                                     halyard_range range,
                                                                     halyard_prefetch_target to,
                                                                     const halyard_sync* sync);
/* Since 0.3: advice on the use of managed memory. The GPU is the device that is asked; of a logical
 * device the first one. */
typedef enum halyard_memory_advice HALYARD_ENUM {
  HALYARD_ADVICE_READ_MOSTLY = 0, /* the runtime may keep copies */
  HALYARD_ADVICE_NOT_READ_MOSTLY = 1,
  HALYARD_ADVICE_PREFER_DEVICE = 2,      /* its pages should be in the GPU's memory, */
  HALYARD_ADVICE_PREFER_HOST = 3,        /* or in the host's, */
  HALYARD_ADVICE_PREFER_NOTHING = 4,     /* or where the last access or prefetch leaves them */
  HALYARD_ADVICE_ACCESSED_BY_DEVICE = 5, /* the GPU should reach pages without moving them */
  HALYARD_ADVICE_NOT_ACCESSED_BY_DEVICE = 6
} halyard_memory_advice;
/* Advises the runtime on the pages that hold the range, at once. FAILED_PRECONDITION for memory
 * that is not managed. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_advise(halyard_device* device,
                                                                    halyard_range range,
                                                                    halyard_memory_advice advice);
/* Since 0.3: puts memory behind a range of a reserved buffer (halyard_buffer_options.reserve), in
 * whole granules. Work must only use parts that have memory. FAILED_PRECONDITION if a part has some
 * already, RESOURCE_EXHAUSTED if the heap is full. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_commit(halyard_device* device,
                                                                    halyard_range range);
/* Gives the memory of one or several whole ranges of halyard_device_commit back at once: work that
 * uses it must be done. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_decommit(halyard_device* device,
                                                                      halyard_range range);
/* Only waits and signals. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_barrier(halyard_queue* queue,
                                                                    const halyard_sync* sync);
/* hsa_queue_t* or hipStream_t; null if there is none. Lives as long as the queue. */
HALYARD_API void* halyard_queue_native_handle(halyard_queue* queue);
/* Null while the queue accepts work; then the reason why it does not. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_fault(halyard_queue* queue);
/* Gives up unfinished work: its signals fail with CANCELLED. The device continues. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_abandon(halyard_queue* queue);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_QUEUE_H */
