/* The contract between a host program and a driver plugin: ABI 2.
 *
 * A driver is a shared library with one C function, halyard_plugin (at the end of this file). It
 * makes objects: a driver, its devices, and the objects of devices. Each object begins with a
 * struct of this file, whose first member points to a table of functions. The driver's own data
 * follow it. The host calls the functions, and reads the struct's members, which do not change
 * unless a comment says so.
 *
 * A driver in C++ derives from the classes of hal/contract/objects.h, which fill in the tables. A
 * function does the same as the method with its name in hal/include/hal. The host has validated the
 * input: ranges are inside their buffers and have a length, sizes are not 0, arguments fit the
 * function's metadata, and shapes are within the device's limits.
 *
 * How it grows, within a major version:
 *
 *   - Tables get new functions at their end, and struct_size is a table's size. The host does not
 *     call a function that a table lacks or that is null: it returns UNIMPLEMENTED. Functions under
 *     "required" are in every table; the host refuses a driver without one.
 *   - Structs that begin with struct_size get new members at their end, at a multiple of 8 bytes; a
 *     member whose bytes are all 0 has the meaning of its absence. A reader reads no further than
 *     the struct's struct_size. A side that fills in a struct of the other side fills in no more
 *     than its struct_size, and sets struct_size to the filled size. Structs without a struct_size
 *     never change.
 *   - Enums get new values. A driver refuses a value that it does not know (UNIMPLEMENTED); a host
 *     treats it like the first one.
 *
 * Threads: any thread may call any function, except that only one thread at a time records a
 * command buffer. Functions do not throw. Text is UTF-8, and lives until the call returns; in an
 * object's facts, as long as the object. */
#ifndef HALYARD_CONTRACT_DRIVER_H
#define HALYARD_CONTRACT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HALYARD_ABI_MAJOR 2u
#define HALYARD_ABI_MINOR 1u

typedef struct HalyardDriver HalyardDriver;
typedef struct HalyardDevice HalyardDevice;
typedef struct HalyardQueue HalyardQueue;
typedef struct HalyardBuffer HalyardBuffer;
typedef struct HalyardSemaphore HalyardSemaphore;
typedef struct HalyardCommandBuffer HalyardCommandBuffer;
typedef struct HalyardExecutable HalyardExecutable;
typedef struct HalyardFunction HalyardFunction;
typedef struct HalyardMemoryPool HalyardMemoryPool;

/* Plain values. */

typedef struct HalyardText {
  const char* data; /* not necessarily terminated */
  size_t size;      /* bytes */
} HalyardText;

typedef struct HalyardDim3 {
  uint32_t x, y, z;
} HalyardDim3;

typedef struct HalyardOption {
  HalyardText key;
  HalyardText value;
} HalyardOption;

typedef struct HalyardOptions {
  const HalyardOption* data;
  size_t size;
} HalyardOptions;

/* The outcome of a call: null for success. The message has message_size bytes, and begins
 * struct_size bytes after the start of the status. Both sides count references, atomically; the
 * last one calls destroy, which belongs to the side that made the status. */
typedef struct HalyardStatus HalyardStatus;
struct HalyardStatus {
  uint32_t struct_size;
  int32_t code; /* HALYARD_ABI_STATUS_… */
  uint32_t references;
  uint64_t message_size;
  void (*destroy)(HalyardStatus* status);
};

enum {
  HALYARD_ABI_STATUS_CANCELLED = 1,
  HALYARD_ABI_STATUS_UNKNOWN = 2,
  HALYARD_ABI_STATUS_INVALID_ARGUMENT = 3,
  HALYARD_ABI_STATUS_DEADLINE_EXCEEDED = 4,
  HALYARD_ABI_STATUS_NOT_FOUND = 5,
  HALYARD_ABI_STATUS_ALREADY_EXISTS = 6,
  HALYARD_ABI_STATUS_PERMISSION_DENIED = 7,
  HALYARD_ABI_STATUS_RESOURCE_EXHAUSTED = 8,
  HALYARD_ABI_STATUS_FAILED_PRECONDITION = 9,
  HALYARD_ABI_STATUS_ABORTED = 10,
  HALYARD_ABI_STATUS_OUT_OF_RANGE = 11,
  HALYARD_ABI_STATUS_UNIMPLEMENTED = 12,
  HALYARD_ABI_STATUS_INTERNAL = 13,
  HALYARD_ABI_STATUS_UNAVAILABLE = 14,
  HALYARD_ABI_STATUS_DATA_LOSS = 15
};

/* The host's own data for an object. A driver only ends them: the side that drops the
 * last reference calls host->destroy(host), if `host` is not null, and then the
 * object's own destroy. A HalyardFunction has no references; its driver ends it in the
 * same way. */
typedef struct HalyardHostState HalyardHostState;
struct HalyardHostState {
  void (*destroy)(HalyardHostState* state);
};

/* Every object begins like this. `references` is 1 when the object is made, and changes only by
 * atomic operations. The driver sets struct_size to the size of the object's struct in this
 * file. */
#define HALYARD_OBJECT(Functions) \
  const Functions* functions;     \
  uint32_t references;            \
  uint32_t struct_size;           \
  HalyardHostState* host

/* Buffers. */

enum {
  HALYARD_ABI_MEMORY_DEVICE = 0,
  HALYARD_ABI_MEMORY_HOST = 1,
  HALYARD_ABI_MEMORY_DEVICE_MAPPED = 2
};
enum {
  HALYARD_ABI_MAP_READ = 1,
  HALYARD_ABI_MAP_WRITE = 2,
  HALYARD_ABI_MAP_READ_WRITE = 3,
  HALYARD_ABI_MAP_DISCARD_WRITE = 4 /* since 2.1 */
};

typedef struct HalyardBufferFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardBuffer* buffer);
  HalyardStatus* (*subspan)(HalyardBuffer* buffer, uint64_t offset, uint64_t length,
                            HalyardBuffer** view);
  /* Optional. */
  HalyardStatus* (*map)(HalyardBuffer* buffer, uint64_t offset, uint64_t length, uint32_t access,
                        void** pointer);
  HalyardStatus* (*unmap)(HalyardBuffer* buffer, void* pointer);
  HalyardStatus* (*flush)(HalyardBuffer* buffer, uint64_t offset, uint64_t length);
  HalyardStatus* (*invalidate)(HalyardBuffer* buffer, uint64_t offset, uint64_t length);
} HalyardBufferFunctions;

struct HalyardBuffer {
  HALYARD_OBJECT(HalyardBufferFunctions);
  HalyardDevice* device;
  uint64_t size;           /* bytes; 0 from Queue::dealloca_buffer on. Changed atomically. */
  uint64_t device_address; /* that kernels see */
  uint32_t type;           /* HALYARD_ABI_MEMORY_… */
};

/* Part of a buffer. In a recording, `buffer` can be null: `slot` is then an entry of the table that
 * Queue::execute takes. A length of UINT64_MAX means to the end, in arguments only. */
typedef struct HalyardRange {
  HalyardBuffer* buffer;
  uint64_t offset; /* bytes */
  uint64_t length; /* bytes */
  uint32_t slot;
} HalyardRange;

typedef struct HalyardRanges {
  const HalyardRange* data;
  size_t size;
} HalyardRanges;

/* Semaphores. */

typedef struct HalyardSemaphoreFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardSemaphore* semaphore);
  HalyardStatus* (*query)(const HalyardSemaphore* semaphore, uint64_t* value);
  HalyardStatus* (*signal)(HalyardSemaphore* semaphore, uint64_t value);
  /* Deadlines are nanoseconds of CLOCK_MONOTONIC; UINT64_MAX is none. */
  HalyardStatus* (*wait)(const HalyardSemaphore* semaphore, uint64_t value, uint64_t deadline);
  void (*fail)(HalyardSemaphore* semaphore, HalyardStatus* cause); /* the caller keeps `cause` */
} HalyardSemaphoreFunctions;

struct HalyardSemaphore {
  HALYARD_OBJECT(HalyardSemaphoreFunctions);
  HalyardDevice* device;
};

typedef struct HalyardPoint {
  HalyardSemaphore* semaphore;
  uint64_t value;
} HalyardPoint;

typedef struct HalyardPoints {
  const HalyardPoint* data;
  size_t size;
} HalyardPoints;

typedef struct HalyardSync {
  HalyardPoints wait;
  HalyardPoints signal;
} HalyardSync;

/* Executables. */

typedef struct HalyardArgumentInfo {
  uint32_t struct_size;
  uint32_t kind; /* halyard::ArgumentKind */
  uint32_t offset;
  uint32_t size;
  uint32_t alignment;
  HalyardText name;
  HalyardText type_name;
  HalyardText value_kind;
} HalyardArgumentInfo;

/* The distance of the entries is the first one's struct_size. */
typedef struct HalyardArgumentInfos {
  const HalyardArgumentInfo* data;
  size_t size;
} HalyardArgumentInfos;

typedef struct HalyardFunctionInfo {
  uint32_t struct_size;
  HalyardText name;
  HalyardArgumentInfos arguments; /* explicit ones */
  HalyardArgumentInfos hidden;
  uint32_t kernarg_size;
  uint32_t kernarg_alignment;
  uint32_t group_segment_size;
  uint32_t private_segment_size;
  bool uses_dynamic_stack;
  uint32_t sgpr_count;
  uint32_t vgpr_count;
  uint32_t agpr_count;
  uint32_t wavefront_size;
  uint32_t max_workgroup_size;
  HalyardDim3 required_workgroup_size;
  uint32_t missing_hidden; /* 1 + the index of one that the driver lacks; 0: it has all */
  /* Since 2.1: grids are whole work-groups, which the host checks. */
  bool uniform_workgroups;
  HalyardText problem; /* why no dispatch is possible; empty: it is; since 2.1 */
} HalyardFunctionInfo;

/* Lives as long as its executable. */
struct HalyardFunction {
  HalyardExecutable* executable;
  const HalyardFunctionInfo* info;
  HalyardHostState* host;
};

typedef struct HalyardExecutableInfo {
  uint32_t struct_size;
  HalyardText target;
  uint32_t code_object_version;
} HalyardExecutableInfo;

typedef struct HalyardGlobalInfo {
  uint32_t struct_size;
  uint64_t device_address;
  uint64_t size;
} HalyardGlobalInfo;

typedef struct HalyardExecutableFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardExecutable* executable);
  void (*info)(const HalyardExecutable* executable, HalyardExecutableInfo* info);
  size_t (*function_count)(const HalyardExecutable* executable);
  const HalyardFunction* (*function)(const HalyardExecutable* executable, size_t index);
  /* Optional. */
  HalyardStatus* (*global)(const HalyardExecutable* executable, HalyardText name,
                           HalyardGlobalInfo* info);
} HalyardExecutableFunctions;

struct HalyardExecutable {
  HALYARD_OBJECT(HalyardExecutableFunctions);
  HalyardDevice* device;
};

/* Launches. */

enum {
  HALYARD_ABI_ARGUMENT_VALUE = 0,
  HALYARD_ABI_ARGUMENT_BUFFER = 1,
  HALYARD_ABI_ARGUMENT_DYNAMIC_LDS = 2,
  HALYARD_ABI_ARGUMENT_ADDRESS = 3,
  /* Since 2.1: no argument of the function's, but memory that it reaches in another way. */
  HALYARD_ABI_ARGUMENT_USE = 4
};

typedef struct HalyardArgument {
  uint32_t kind;     /* HALYARD_ABI_ARGUMENT_… */
  uint32_t size;     /* of a value, or of dynamic LDS: bytes */
  const void* value; /* of a value: its address; null: in `immediate` */
  union {
    /* Of a buffer or a use, which always has a buffer; for an address: no buffer, the offset is the
     * address. */
    HalyardRange range;
    unsigned char immediate[sizeof(HalyardRange)];
  } u;
} HalyardArgument;

typedef struct HalyardArguments {
  const HalyardArgument* data;
  size_t size;
} HalyardArguments;

typedef struct HalyardDispatch {
  uint32_t struct_size;
  const HalyardFunction* function;
  HalyardDim3 grid;      /* work-items */
  HalyardDim3 workgroup; /* work-items */
  uint32_t dynamic_lds_bytes;
  HalyardArguments arguments; /* one for each explicit argument of the function; then uses */
} HalyardDispatch;

typedef struct HalyardRectangleCopy {
  uint32_t struct_size;
  uint64_t row_bytes;
  uint64_t rows;
  uint64_t slices;
  uint64_t source_row_pitch;
  uint64_t target_row_pitch;
  uint64_t source_slice_pitch;
  uint64_t target_slice_pitch;
} HalyardRectangleCopy;

/* Recordings. */

typedef struct HalyardCommandBufferFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardCommandBuffer* commands);
  HalyardStatus* (*fill)(HalyardCommandBuffer* commands, const HalyardRange* target,
                         const void* pattern, uint32_t pattern_size);
  HalyardStatus* (*update)(HalyardCommandBuffer* commands, const HalyardRange* target,
                           const void* source, uint64_t size);
  HalyardStatus* (*copy)(HalyardCommandBuffer* commands, const HalyardRange* source,
                         const HalyardRange* target);
  HalyardStatus* (*dispatch)(HalyardCommandBuffer* commands, const HalyardDispatch* dispatch);
  HalyardStatus* (*barrier)(HalyardCommandBuffer* commands);
  HalyardStatus* (*finish)(HalyardCommandBuffer* commands);
  /* Optional. */
  HalyardStatus* (*copy_rectangle)(HalyardCommandBuffer* commands, const HalyardRange* source,
                                   const HalyardRange* target, const HalyardRectangleCopy* shape);
  HalyardStatus* (*dispatch_indirect)(HalyardCommandBuffer* commands,
                                      const HalyardDispatch* dispatch,
                                      const HalyardRange* group_counts);
  HalyardStatus* (*begin_debug_group)(HalyardCommandBuffer* commands, HalyardText label);
  HalyardStatus* (*end_debug_group)(HalyardCommandBuffer* commands);
} HalyardCommandBufferFunctions;

struct HalyardCommandBuffer {
  HALYARD_OBJECT(HalyardCommandBufferFunctions);
  HalyardDevice* device;
};

/* Queues. */

typedef struct HalyardFileRange {
  int descriptor;
  uint64_t offset; /* bytes */
} HalyardFileRange;

/* Called once, by any thread, with the outcome of the call; takes over `outcome`. */
typedef struct HalyardHostCompletion HalyardHostCompletion;
struct HalyardHostCompletion {
  void (*complete)(HalyardHostCompletion* completion, HalyardStatus* outcome);
};

/* A driver keeps a copy of struct_size bytes, and calls `invoke` once, with a completion that lives
 * until it is called. The rest belongs to the program. */
typedef struct HalyardHostCall HalyardHostCall;
struct HalyardHostCall {
  uint32_t struct_size;
  void (*function)(void);
  void (*deferred)(void);
  void* context;
  void (*invoke)(const HalyardHostCall* call, HalyardHostCompletion* completion);
};

typedef struct HalyardPoolOptions {
  uint32_t struct_size;
  uint32_t type;           /* HALYARD_ABI_MEMORY_… */
  uint64_t alignment;      /* bytes; 0: the device's own */
  HalyardMemoryPool* pool; /* null: the device's own of that type */
} HalyardPoolOptions;

/* Since 2.1. */
enum { HALYARD_ABI_PREFETCH_TO_DEVICE = 0, HALYARD_ABI_PREFETCH_TO_HOST = 1 };

typedef struct HalyardQueueFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardQueue* queue);
  HalyardStatus* (*fill)(HalyardQueue* queue, const HalyardRange* target, const void* pattern,
                         uint32_t pattern_size, const HalyardSync* sync);
  HalyardStatus* (*update)(HalyardQueue* queue, const HalyardRange* target, const void* source,
                           uint64_t size, const HalyardSync* sync);
  HalyardStatus* (*copy)(HalyardQueue* queue, const HalyardRange* source,
                         const HalyardRange* target, const HalyardSync* sync);
  HalyardStatus* (*dispatch)(HalyardQueue* queue, const HalyardDispatch* dispatch,
                             const HalyardSync* sync);
  HalyardStatus* (*barrier)(HalyardQueue* queue, const HalyardSync* sync);
  HalyardStatus* (*fault)(const HalyardQueue* queue);
  HalyardStatus* (*abandon)(HalyardQueue* queue);
  /* Optional. */
  HalyardStatus* (*copy_rectangle)(HalyardQueue* queue, const HalyardRange* source,
                                   const HalyardRange* target, const HalyardRectangleCopy* shape,
                                   const HalyardSync* sync);
  HalyardStatus* (*dispatch_indirect)(HalyardQueue* queue, const HalyardDispatch* dispatch,
                                      const HalyardRange* group_counts, const HalyardSync* sync);
  HalyardStatus* (*execute)(HalyardQueue* queue, HalyardCommandBuffer* commands,
                            HalyardRanges bindings, const HalyardSync* sync);
  HalyardStatus* (*alloca_buffer)(HalyardQueue* queue, uint64_t size,
                                  const HalyardPoolOptions* options, const HalyardSync* sync,
                                  HalyardBuffer** buffer);
  HalyardStatus* (*dealloca_buffer)(HalyardQueue* queue, HalyardBuffer* buffer,
                                    const HalyardSync* sync);
  HalyardStatus* (*read)(HalyardQueue* queue, const HalyardFileRange* source,
                         const HalyardRange* target, const HalyardSync* sync);
  HalyardStatus* (*write)(HalyardQueue* queue, const HalyardRange* source,
                          const HalyardFileRange* target, const HalyardSync* sync);
  HalyardStatus* (*host_call)(HalyardQueue* queue, const HalyardHostCall* call,
                              const HalyardSync* sync);
  void* (*native_handle)(const HalyardQueue* queue);
  uint64_t (*id)(const HalyardQueue* queue);
  /* Since 2.1. Moves pages of managed memory; `to`: HALYARD_ABI_PREFETCH_… */
  HalyardStatus* (*prefetch)(HalyardQueue* queue, const HalyardRange* range, uint32_t to,
                             const HalyardSync* sync);
} HalyardQueueFunctions;

struct HalyardQueue {
  HALYARD_OBJECT(HalyardQueueFunctions);
  HalyardDevice* device;
};

/* Pools. */

typedef struct HalyardPoolStatistics {
  uint32_t struct_size;
  uint64_t reserved_bytes;
  uint64_t used_bytes;
  uint64_t peak_reserved_bytes;
  uint64_t allocations;
  uint64_t reuses;
} HalyardPoolStatistics;

typedef struct HalyardMemoryPoolFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardMemoryPool* pool);
  HalyardStatus* (*statistics)(const HalyardMemoryPool* pool, HalyardPoolStatistics* statistics);
  HalyardStatus* (*trim)(HalyardMemoryPool* pool, uint64_t keep_bytes);
} HalyardMemoryPoolFunctions;

/* As it was created. */
struct HalyardMemoryPool {
  HALYARD_OBJECT(HalyardMemoryPoolFunctions);
  HalyardDevice* device;
  uint64_t limit_bytes;
  uint64_t keep_bytes;
  uint32_t type; /* HALYARD_ABI_MEMORY_… */
};

/* Devices. */

typedef struct HalyardDeviceInfo {
  uint32_t struct_size;
  HalyardText driver;
  HalyardText name;
  HalyardText uuid;
  HalyardText target;
  uint32_t compute_units;
  uint32_t wavefront_size;
  uint32_t max_workgroup_size;
  HalyardDim3 max_workgroup;
  HalyardDim3 max_grid;
  uint64_t max_grid_size;
  uint32_t lds_bytes;
  uint64_t memory_bytes;
  uint64_t max_allocation_bytes;
  uint32_t allocation_alignment;
  uint32_t max_clock_mhz;
  uint64_t timestamp_hz;
  bool maps_device_memory;
  bool coherent_map;
  bool imports_queues;
  uint32_t gpu_count; /* 1: the host makes logical devices */
  HalyardText pci_address;
  bool managed_memory; /* since 2.1 */
  /* Since 2.1. Bytes; 0 if HalyardBufferOptions::reserve does not work. */
  uint64_t commit_granule;
} HalyardDeviceInfo;

typedef struct HalyardHeapInfo {
  uint32_t struct_size;
  uint32_t type; /* HALYARD_ABI_MEMORY_… */
  uint64_t size;
  uint64_t max_allocation;
  uint64_t granule;
  /* Since 2.1. */
  uint32_t clock_mhz;
  uint32_t bus_bits;
} HalyardHeapInfo;

typedef struct HalyardHeapStatistics {
  uint32_t struct_size;
  uint64_t live_bytes;
  uint64_t live_buffers;
  uint64_t peak_bytes;
} HalyardHeapStatistics;

typedef struct HalyardQueueOptions {
  uint32_t struct_size;
  uint32_t priority; /* 0 low, 1 normal, 2 high */
  uint32_t capacity;
  uint32_t gpu; /* 0 */
} HalyardQueueOptions;

typedef struct HalyardBufferOptions {
  uint32_t struct_size;
  uint32_t type;      /* HALYARD_ABI_MEMORY_… */
  uint64_t alignment; /* bytes; 0: the device's own */
  uint32_t gpu;       /* 0 */
  bool shared;        /* false */
  bool reserved[3];
  bool managed; /* since 2.1; only if HalyardDeviceInfo::managed_memory */
  /* Since 2.1: addresses without memory; only if HalyardDeviceInfo::commit_granule is not 0, and
   * with a size that is a multiple of it. */
  bool reserve;
} HalyardBufferOptions;

enum {
  HALYARD_ABI_IMPORT_HOST_MEMORY = 0,
  HALYARD_ABI_IMPORT_DEVICE_POINTER = 1,
  HALYARD_ABI_IMPORT_IPC_HANDLE = 2,
  HALYARD_ABI_IMPORT_DMABUF =
      3 /* since 2.1; only if HalyardDeviceFunctions::export_dmabuf is there */
};

typedef struct HalyardImportOptions {
  uint32_t struct_size;
  uint32_t kind;       /* HALYARD_ABI_IMPORT_… */
  const void* pointer; /* HALYARD_ABI_IMPORT_DMABUF: a HalyardDmabuf */
  uint64_t size;
  void (*release)(void* context); /* or null */
  void* release_context;
} HalyardImportOptions;

typedef struct HalyardExportedHandle {
  uint32_t struct_size;
  uint8_t ipc[64];
} HalyardExportedHandle;

/* Since 2.1. */
typedef struct HalyardDmabuf {
  uint32_t struct_size;
  int32_t fd;
  uint64_t offset;
} HalyardDmabuf;

typedef struct HalyardExportedSemaphore {
  uint32_t struct_size;
  uint8_t ipc[64];
} HalyardExportedSemaphore;

typedef struct HalyardPoolInfo {
  uint32_t struct_size;
  uint32_t type;        /* HALYARD_ABI_MEMORY_… */
  uint64_t limit_bytes; /* 0: none */
  uint64_t keep_bytes;  /* UINT64_MAX: as the device's own pools */
} HalyardPoolInfo;

typedef struct HalyardLinkInfo {
  uint32_t struct_size;
  uint32_t peer_ordinal;
  uint32_t hops;
  uint32_t min_bandwidth_mbps;
  uint32_t max_bandwidth_mbps;
  bool coherent;
  uint32_t kind; /* 0 unknown, 1 PCIe, 2 xGMI, 3 other */
  uint32_t gpu;
  uint32_t peer_gpu;
} HalyardLinkInfo;

typedef struct HalyardAllocationInfo {
  uint32_t struct_size;
  uint32_t type;  /* HALYARD_ABI_MEMORY_… */
  uint32_t owner; /* 0 the device's, 1 imported, 2 the program's */
  uint64_t device_address;
  uint64_t size;
  void* host_pointer;
} HalyardAllocationInfo;

typedef struct HalyardClockReading {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t device_ticks;
  uint64_t device_hz;
  uint64_t host_ns;
  uint64_t uncertainty_ns;
} HalyardClockReading;

typedef struct HalyardProfileOptions {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t kinds; /* a bit for each halyard::ProfileKind; 0: all */
} HalyardProfileOptions;

typedef struct HalyardProfileEvent {
  uint32_t struct_size;
  HalyardText name;
  uint64_t begin_ns;
  uint64_t end_ns;
  uint32_t kind; /* halyard::ProfileKind */
  uint32_t command;
  uint64_t execution;
  uint64_t queue;
  uint64_t bytes;
  HalyardDim3 grid;
  HalyardDim3 workgroup;
} HalyardProfileEvent;

/* Since 2.1. */
typedef struct HalyardDeviceDetails {
  uint32_t struct_size;
  int32_t numa_node;
  uint32_t cache_line_bytes;
  uint32_t l1_cache_bytes;
  uint32_t l2_cache_bytes;
  uint32_t l3_cache_bytes;
  uint32_t simds_per_compute_unit;
  uint32_t waves_per_compute_unit;
  uint32_t shader_engines;
  uint32_t copy_engines;
  uint32_t max_queues;
  uint32_t min_queue_packets;
  uint32_t max_queue_packets;
  uint32_t reserved;
} HalyardDeviceDetails;

/* Since 2.1. */
enum {
  HALYARD_ABI_ADVICE_READ_MOSTLY = 0,
  HALYARD_ABI_ADVICE_NOT_READ_MOSTLY = 1,
  HALYARD_ABI_ADVICE_PREFER_DEVICE = 2,
  HALYARD_ABI_ADVICE_PREFER_HOST = 3,
  HALYARD_ABI_ADVICE_PREFER_NOTHING = 4,
  HALYARD_ABI_ADVICE_ACCESSED_BY_DEVICE = 5,
  HALYARD_ABI_ADVICE_NOT_ACCESSED_BY_DEVICE = 6
};

/* The event lives until the call returns. */
typedef void (*HalyardProfileSink)(void* context, const HalyardProfileEvent* event);

typedef struct HalyardDeviceFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardDevice* device);
  size_t (*heap_count)(const HalyardDevice* device);
  HalyardStatus* (*heap)(const HalyardDevice* device, size_t index, HalyardHeapInfo* info);
  HalyardStatus* (*heap_statistics)(const HalyardDevice* device, size_t index,
                                    HalyardHeapStatistics* statistics);
  HalyardStatus* (*create_queue)(HalyardDevice* device, const HalyardQueueOptions* options,
                                 HalyardQueue** queue);
  HalyardStatus* (*allocate)(HalyardDevice* device, uint64_t size,
                             const HalyardBufferOptions* options, HalyardBuffer** buffer);
  HalyardStatus* (*create_semaphore)(HalyardDevice* device, uint64_t initial_value,
                                     HalyardSemaphore** semaphore);
  /* `mode`: 0 any, 1 all. `index` gets the index of a reached point. */
  HalyardStatus* (*wait)(HalyardDevice* device, HalyardPoints points, uint32_t mode,
                         uint64_t deadline, size_t* index);
  /* `data` is an AMD GPU code object. */
  HalyardStatus* (*load_executable)(HalyardDevice* device, const void* data, size_t size,
                                    HalyardExecutable** executable);
  HalyardStatus* (*fault)(const HalyardDevice* device);
  /* Optional. Without can_access, no device accesses another's memory. */
  HalyardStatus* (*create_command_buffer)(HalyardDevice* device, HalyardCommandBuffer** commands);
  HalyardStatus* (*pool_statistics)(const HalyardDevice* device, uint32_t type,
                                    HalyardPoolStatistics* statistics);
  HalyardStatus* (*trim_pool)(HalyardDevice* device, uint32_t type, uint64_t keep_bytes);
  HalyardStatus* (*create_pool)(HalyardDevice* device, const HalyardPoolInfo* info,
                                HalyardMemoryPool** pool);
  HalyardStatus* (*import_queue)(HalyardDevice* device, void* native_queue, HalyardQueue** queue);
  HalyardStatus* (*import_buffer)(HalyardDevice* device, const HalyardImportOptions* options,
                                  HalyardBuffer** buffer);
  HalyardStatus* (*export_buffer)(HalyardDevice* device, HalyardBuffer* buffer,
                                  HalyardExportedHandle* handle);
  HalyardStatus* (*find_allocation)(const HalyardDevice* device, const void* pointer,
                                    HalyardAllocationInfo* info);
  HalyardStatus* (*export_semaphore)(HalyardDevice* device, HalyardSemaphore* semaphore,
                                     HalyardExportedSemaphore* exported);
  HalyardStatus* (*import_semaphore)(HalyardDevice* device,
                                     const HalyardExportedSemaphore* exported,
                                     HalyardSemaphore** semaphore);
  bool (*can_access)(const HalyardDevice* device, const HalyardDevice* peer);
  HalyardStatus* (*let_in)(HalyardDevice* device, HalyardBuffer* buffer);
  size_t (*link_count)(const HalyardDevice* device);
  HalyardStatus* (*link)(const HalyardDevice* device, size_t index, HalyardLinkInfo* info);
  HalyardStatus* (*begin_profile)(HalyardDevice* device, const HalyardProfileOptions* options);
  HalyardStatus* (*end_profile)(HalyardDevice* device, HalyardProfileSink sink, void* context);
  HalyardStatus* (*read_clocks)(const HalyardDevice* device, HalyardClockReading* reading);
  /* Since 2.1. */
  HalyardStatus* (*details)(const HalyardDevice* device, HalyardDeviceDetails* details);
  HalyardStatus* (*export_dmabuf)(HalyardDevice* device, HalyardBuffer* buffer,
                                  HalyardDmabuf* exported);
  /* `advice`: HALYARD_ABI_ADVICE_…, of this device's managed memory. */
  HalyardStatus* (*advise)(HalyardDevice* device, const HalyardRange* range, uint32_t advice);
  /* Of a buffer with HalyardBufferOptions::reserve, in whole granules. */
  HalyardStatus* (*commit)(HalyardDevice* device, const HalyardRange* range);
  HalyardStatus* (*decommit)(HalyardDevice* device, const HalyardRange* range);
} HalyardDeviceFunctions;

struct HalyardDevice {
  HALYARD_OBJECT(HalyardDeviceFunctions);
  const HalyardDeviceInfo* info;
};

/* Drivers. */

typedef struct HalyardDriverInfo {
  uint32_t struct_size;
  HalyardText name;
  HalyardText description;
  HalyardText library_name;
  HalyardText library_path;
  HalyardText library_version;
  HalyardText library_uses; /* since 2.1 */
} HalyardDriverInfo;

typedef struct HalyardDeviceSummary {
  uint32_t struct_size;
  uint32_t ordinal;
  HalyardText name;
  HalyardText uuid;
  HalyardText target;
  uint32_t compute_units;
  uint64_t memory_bytes;
  HalyardText pci_address;
} HalyardDeviceSummary;

typedef void (*HalyardDeviceSink)(void* context, const HalyardDeviceSummary* summary);

/* Since 2.1: an option that a device may be opened with. */
typedef struct HalyardDeviceOption {
  uint32_t struct_size;
  uint32_t reserved;
  HalyardText key;
  HalyardText meaning; /* a noun phrase */
  HalyardText values;  /* what is legal: "a whole number from 1 to 1024" */
} HalyardDeviceOption;

typedef void (*HalyardDeviceOptionSink)(void* context, const HalyardDeviceOption* option);

typedef struct HalyardDriverFunctions {
  uint32_t struct_size;
  /* Required. */
  void (*destroy)(HalyardDriver* driver);
  void (*info)(const HalyardDriver* driver, HalyardDriverInfo* info);
  HalyardStatus* (*enumerate)(HalyardDriver* driver, HalyardDeviceSink sink, void* context);
  HalyardStatus* (*create_device)(HalyardDriver* driver, uint32_t ordinal, HalyardOptions options,
                                  HalyardDevice** device);
  /* Optional; since 2.1. The options that create_device knows: the host gives it no others. */
  HalyardStatus* (*device_options)(HalyardDriver* driver, HalyardDeviceOptionSink sink,
                                   void* context);
} HalyardDriverFunctions;

struct HalyardDriver {
  HALYARD_OBJECT(HalyardDriverFunctions);
};

/* The entry point. */

#define HALYARD_PLUGIN_SYMBOL "halyard_plugin"

/* The host's facts for the plugin. */
typedef struct HalyardHost {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
} HalyardHost;

/* The plugin's facts for the host. The host sets struct_size to the size of its struct, and
 * `error`/`error_size` to a buffer for a message; the plugin fills in the rest, and sets
 * struct_size to the filled size. The first three members stay at the same place in every
 * major. */
typedef struct HalyardPlugin {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  const char* name;        /* the driver's name in --device=NAME: [a-z][a-z0-9_]* */
  const char* version;     /* the plugin's own */
  const char* description; /* one line */
  char* error;
  size_t error_size;
  /* Makes the driver. A failure gives the reason (the vendor library is missing, …). On success,
   * the caller owns the reference in *driver. */
  HalyardStatus* (*create_driver)(HalyardOptions options, HalyardDriver** driver);
} HalyardPlugin;

/* The type of `halyard_plugin`. Returns 0 on success; any other value refuses the host, and
 * `plugin->error` has a sentence with the reason. The majors must be equal; minors can differ. */
typedef int (*HalyardPluginEntry)(const HalyardHost* host, HalyardPlugin* plugin);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
