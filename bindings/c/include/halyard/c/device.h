/* Devices, their memory in numbers, and pools. */
#ifndef HALYARD_C_DEVICE_H
#define HALYARD_C_DEVICE_H

#include "halyard/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The constant facts and limits of a device. */
typedef struct halyard_device_info {
  size_t struct_size;
  const char* driver; /* "amdgpu" */
  const char* name;   /* "Radeon RX Vega 64" */
  const char* uuid;   /* "" if the device has none */
  const char* target; /* "gfx90a:sramecc+:xnack-" */
  uint32_t compute_units;
  uint32_t wavefront_size;
  uint32_t max_workgroup_size; /* in total */
  halyard_dim3 max_workgroup;  /* in each dimension */
  halyard_dim3 max_grid;       /* in each dimension */
  uint32_t lds_bytes;          /* of a work-group */
  uint64_t max_grid_size;      /* in total */
  uint64_t memory_bytes;       /* the device's own */
  uint64_t max_allocation_bytes;
  uint32_t allocation_alignment;
  uint32_t max_clock_mhz;
  uint64_t timestamp_hz;   /* the clock of profiling timestamps */
  bool maps_device_memory; /* HALYARD_MEMORY_DEVICE_MAPPED exists */
  bool coherent_map;       /* halyard_buffer_flush and _invalidate do nothing */
  bool imports_queues;     /* halyard_device_import_queue works */
  /* Since 0.2. */
  const char* pci_address; /* "0000:c1:00.0"; "" if there is none */
  uint32_t gpu_count;      /* of a logical device; 1 for any other */
  bool managed_memory;     /* since 0.3: halyard_buffer_options.managed works */
  /* Since 0.3: bytes; 0 if halyard_buffer_options.reserve does not work. */
  uint64_t commit_granule;
} halyard_device_info;

/* Since 0.3: what the hardware is made of. 0 where the driver does not know. */
typedef struct halyard_device_details {
  size_t struct_size;
  int32_t numa_node; /* the host's node nearest to the GPU; -1: unknown */
  uint32_t cache_line_bytes;
  uint32_t l1_cache_bytes; /* of each compute unit */
  uint32_t l2_cache_bytes; /* of the GPU */
  uint32_t l3_cache_bytes;
  uint32_t simds_per_compute_unit;
  uint32_t waves_per_compute_unit; /* that can be resident, of any kernel */
  uint32_t shader_engines;
  uint32_t copy_engines;      /* 0: none, or the vendor's runtime does not tell (ROCm 5.2) */
  uint32_t max_queues;        /* of the hardware, of all processes */
  uint32_t min_queue_packets; /* of one queue */
  uint32_t max_queue_packets;
} halyard_device_details;

/* Where a buffer's memory is, and who can access it. */
typedef enum halyard_memory_type HALYARD_ENUM {
  HALYARD_MEMORY_DEVICE = 0,       /* the device's own; the host does not map it */
  HALYARD_MEMORY_HOST = 1,         /* the host's, pinned and coherent */
  HALYARD_MEMORY_DEVICE_MAPPED = 2 /* the device's own, mapped into the host's address space */
} halyard_memory_type;

typedef struct halyard_heap_info {
  size_t struct_size;
  halyard_memory_type type;
  uint64_t size;
  uint64_t max_allocation;
  uint64_t granule; /* an allocation takes a multiple of it */
} halyard_heap_info;

/* The allocations from a heap through this device. */
typedef struct halyard_heap_statistics {
  size_t struct_size;
  uint64_t live_bytes;
  uint64_t live_buffers;
  uint64_t peak_bytes;
} halyard_heap_statistics;

/* The contents of the pool of halyard_queue_alloca for one memory type. */
typedef struct halyard_pool_statistics {
  size_t struct_size;
  uint64_t reserved_bytes; /* allocated from the heap */
  uint64_t used_bytes;     /* of these, in live buffers */
  uint64_t peak_reserved_bytes;
  uint64_t allocations; /* buffers so far */
  uint64_t reuses;      /* of these, in memory of an earlier buffer */
} halyard_pool_statistics;

/* Since 0.3. For halyard_device_create_memory_pool. */
typedef struct halyard_memory_pool_info {
  size_t struct_size;
  halyard_memory_type type;
  /* The most bytes that the pool reserves; 0: no limit. Blocks are rounded up to at most 9/8 of a
   * buffer's size (or 4 KiB more). */
  uint64_t limit_bytes;
  /* The most unused bytes that the pool keeps for reuse until it is trimmed. 0: as the device's own
   * pools; HALYARD_KEEP_NONE: none. */
  uint64_t keep_bytes;
} halyard_memory_pool_info;
#define HALYARD_KEEP_NONE UINT64_MAX

/* Since 0.3. The result of halyard_device_find_allocation. */
typedef enum halyard_allocation_owner HALYARD_ENUM {
  HALYARD_OWNER_DEVICE = 0,     /* allocated from the device, or from a pool of it */
  HALYARD_OWNER_IMPORTED = 1,   /* imported as a device pointer or an IPC handle */
  HALYARD_OWNER_HOST_MEMORY = 2 /* the program's own, imported as host memory */
} halyard_allocation_owner;

typedef struct halyard_allocation_info {
  size_t struct_size;
  halyard_memory_type type;
  halyard_allocation_owner owner;
  uint64_t device_address; /* of the first byte */
  uint64_t size;
  void* host_pointer; /* to the first byte; null if the host cannot access it */
} halyard_allocation_info;

/* Since 0.3. The clocks of the device and of the host, read at one moment. */
typedef struct halyard_clock_reading {
  size_t struct_size;
  uint64_t device_ticks;   /* what s_memrealtime and wall_clock64() read in a kernel */
  uint64_t device_hz;      /* their frequency */
  uint64_t host_ns;        /* of CLOCK_MONOTONIC */
  uint64_t uncertainty_ns; /* the longest time between the two readings */
} halyard_clock_reading;

typedef enum halyard_link_kind HALYARD_ENUM {
  HALYARD_LINK_UNKNOWN = 0,
  HALYARD_LINK_PCIE = 1,
  HALYARD_LINK_XGMI = 2,
  HALYARD_LINK_OTHER = 3
} halyard_link_kind;

/* halyard_link_info.peer_gpu of a GPU that is not part of the device. */
#define HALYARD_NO_GPU UINT32_MAX

/* A link from a GPU to another GPU of the same driver. */
typedef struct halyard_link_info {
  size_t struct_size;
  uint32_t peer_ordinal;
  uint32_t hops;
  uint32_t min_bandwidth_mbps; /* MB/s; 0: unknown */
  uint32_t max_bandwidth_mbps;
  bool coherent;
  /* Since 0.2. */
  halyard_link_kind kind;
  uint32_t gpu; /* of a logical device: the GPUs that the link is between */
  uint32_t peer_gpu;
} halyard_link_info;

HALYARD_API void halyard_device_retain(halyard_device* device);
/* The last release waits some seconds at most for work in flight. */
HALYARD_API void halyard_device_release(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_get_info(halyard_device* device,
                                                                      halyard_device_info* info);
/* Since 0.3. UNIMPLEMENTED with a driver that does not say. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_get_details(
    halyard_device* device, halyard_device_details* details);
HALYARD_API size_t halyard_device_heap_count(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_heap(halyard_device* device,
                                                                  size_t index,
                                                                  halyard_heap_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_heap_statistics(
    halyard_device* device, size_t index, halyard_heap_statistics* statistics);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_pool_statistics(
    halyard_device* device, halyard_memory_type type, halyard_pool_statistics* statistics);
/* Frees unused blocks until the pool has at most `keep_bytes` reserved, or only used blocks. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_trim_pool(halyard_device* device,
                                                                       halyard_memory_type type,
                                                                       uint64_t keep_bytes);
/* Since 0.3: creates a further pool, for halyard_buffer_options.pool. Does not allocate from the
 * heap yet. `info` may be null. Buffers keep their pool alive. The pool frees its memory when the
 * last buffer and the last reference are gone and no work uses it. UNIMPLEMENTED if the driver has
 * no such pools. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_memory_pool(
    halyard_device* device, const halyard_memory_pool_info* info, halyard_memory_pool** pool);
HALYARD_API void halyard_memory_pool_retain(halyard_memory_pool* pool);
HALYARD_API void halyard_memory_pool_release(halyard_memory_pool* pool);
/* Without a new reference. Null for a bad handle. */
HALYARD_API halyard_device* halyard_memory_pool_device(halyard_memory_pool* pool);
/* As the pool was created. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_memory_pool_get_info(
    halyard_memory_pool* pool, halyard_memory_pool_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_memory_pool_statistics(
    halyard_memory_pool* pool, halyard_pool_statistics* statistics);
/* halyard_device_trim_pool of this pool. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_memory_pool_trim(halyard_memory_pool* pool,
                                                                       uint64_t keep_bytes);
/* Since 0.3: finds the device's buffer (not a view) that contains `pointer`, an address of the
 * device or the host. Imports can overlap; then a buffer that the device has allocated is
 * preferred. NOT_FOUND if there is none. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_find_allocation(
    halyard_device* device, const void* pointer, halyard_allocation_info* info);
/* Since 0.3. UNIMPLEMENTED if the vendor's runtime does not report the device's time. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_read_clocks(
    halyard_device* device, halyard_clock_reading* reading);
HALYARD_API size_t halyard_device_link_count(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_link(halyard_device* device,
                                                                  size_t index,
                                                                  halyard_link_info* info);
/* Whether the device's work can use buffers of `peer`. False for a bad handle. */
HALYARD_API bool halyard_device_can_access(halyard_device* device, halyard_device* peer);
/* Since 0.2: the number of GPUs of a logical device; 1 for any other device, 0 for a bad handle.
 * Queues and allocations select one; the first is the default. */
HALYARD_API size_t halyard_device_gpu_count(halyard_device* device);
/* Since 0.2: one of the GPUs, as a device. The caller gets a reference. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_gpu(halyard_device* device,
                                                                 size_t index,
                                                                 halyard_device** gpu);
/* Since 0.2: gives the device access to another device's buffer, also by its address alone. An
 * operation that is given the buffer does this itself. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_let_in(halyard_device* device,
                                                                    halyard_buffer* buffer);
/* Null while the device works; then the failure that lost it. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_fault(halyard_device* device);
/* Validation of operations is on unless a benchmark turns it off. */
HALYARD_API bool halyard_device_validates(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_set_validation(halyard_device* device,
                                                                            bool on);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_DEVICE_H */
