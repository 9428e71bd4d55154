/* Buffers. */
#ifndef HALYARD_C_BUFFER_H
#define HALYARD_C_BUFFER_H

#include "halyard/c/base.h"
#include "halyard/c/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct halyard_buffer_options {
  size_t struct_size;
  halyard_memory_type type;
  uint64_t alignment; /* a power of two, at most 2 MiB; 0: the device's own minimum */
  /* Since 0.2, of halyard_device_allocate. */
  uint32_t gpu; /* of a logical device: the GPU whose memory is used */
  bool shared;  /* every GPU of the logical device can use it by address alone */
  /* Since 0.3, for halyard_queue_alloca: the pool, regardless of `type`. Null: the device's own
   * pool of that type. */
  halyard_memory_pool* pool;
  /* Since 0.3, of halyard_device_allocate, with HALYARD_MEMORY_HOST: managed memory, one pointer
   * for the host and every GPU of the driver, whose pages the vendor's runtime can move. Only if
   * halyard_device_info.managed_memory. */
  bool managed;
  /* Since 0.3, of halyard_device_allocate: addresses of the device without memory, which
   * halyard_device_commit gives to parts of the buffer. `size` must be a multiple of
   * halyard_device_info.commit_granule; UNIMPLEMENTED if that is 0. */
  bool reserve;
} halyard_buffer_options;

/* `options` may be null: device memory. RESOURCE_EXHAUSTED names the requested size, the limit and
 * the memory in use. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_allocate(
    halyard_device* device, uint64_t size, const halyard_buffer_options* options,
    halyard_buffer** buffer);

typedef enum halyard_import_kind HALYARD_ENUM {
  HALYARD_IMPORT_HOST_MEMORY = 0,
  HALYARD_IMPORT_DEVICE_POINTER = 1, /* of the vendor's runtime in this process */
  HALYARD_IMPORT_IPC_HANDLE = 2,     /* halyard_exported_handle.ipc of another process */
  HALYARD_IMPORT_DMABUF = 3          /* since 0.3: a halyard_dmabuf */
} halyard_import_kind;

typedef struct halyard_import_options {
  size_t struct_size;
  halyard_import_kind kind;
  const void* pointer;
  uint64_t size;
  /* Since 0.3; may be null. Called once, with `release_context`, when nothing uses the memory any
   * longer: the buffer's last reference is gone, and all work that was given it is done. Not called
   * if the import fails, or while work runs that never ends. Called on any thread; it must not
   * block, and must not call Halyard. */
  void (*release)(void* context);
  void* release_context;
} halyard_import_options;

typedef struct halyard_exported_handle {
  size_t struct_size;
  uint8_t ipc[64];
} halyard_exported_handle;

/* Since 0.3. Memory of a Linux dma-buf, from the byte `offset` on. */
typedef struct halyard_dmabuf {
  size_t struct_size;
  int32_t fd; /* the descriptor, which its owner closes; an import does not need it any longer */
  int32_t reserved; /* 0 */
  uint64_t offset;
} halyard_dmabuf;

/* The memory's owner keeps it, and it must outlive the buffer. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_buffer(
    halyard_device* device, const halyard_import_options* options, halyard_buffer** buffer);
/* For another process with the same driver. This process keeps the buffer, which must outlive the
 * imports. FAILED_PRECONDITION for a part of an allocation, and for memory other than the device's
 * own. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_export_buffer(
    halyard_device* device, halyard_buffer* buffer, halyard_exported_handle* handle);

/* Since 0.3. A new descriptor of the buffer's memory, closed on exec. The caller closes it. Another
 * process that gets it (SCM_RIGHTS) can import it, with any driver, or map it. This process keeps
 * the buffer while others use the memory. FAILED_PRECONDITION as for halyard_device_export_buffer;
 * UNIMPLEMENTED if the vendor's runtime cannot export dma-bufs (HSA runtimes before 5.6). */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_export_dmabuf(halyard_device* device,
                                                                           halyard_buffer* buffer,
                                                                           halyard_dmabuf* dmabuf);

typedef enum halyard_map_access HALYARD_ENUM {
  HALYARD_MAP_READ = 1,
  HALYARD_MAP_WRITE = 2,
  HALYARD_MAP_READ_WRITE = 3
} halyard_map_access;

HALYARD_API void halyard_buffer_retain(halyard_buffer* buffer);
/* The memory is released when all work that was given the buffer is done. */
HALYARD_API void halyard_buffer_release(halyard_buffer* buffer);
/* 0 from halyard_queue_dealloca on. */
HALYARD_API uint64_t halyard_buffer_size(halyard_buffer* buffer);
HALYARD_API halyard_memory_type halyard_buffer_type(halyard_buffer* buffer);
/* The address that kernels see. Valid while the buffer lives. */
HALYARD_API uint64_t halyard_buffer_device_address(halyard_buffer* buffer);
/* The device of the buffer, without a new reference. Null for a bad handle. */
HALYARD_API halyard_device* halyard_buffer_device(halyard_buffer* buffer);
/* A host pointer to `length` bytes from `offset` on; HALYARD_TO_END: all that follow. Maps can
 * overlap; each needs its own unmap. FAILED_PRECONDITION if the host cannot access this memory. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_map(halyard_buffer* buffer,
                                                                 uint64_t offset, uint64_t length,
                                                                 halyard_map_access access,
                                                                 void** pointer);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_unmap(halyard_buffer* buffer,
                                                                   void* pointer);
/* flush makes the host's writes visible to the device, invalidate the device's writes to the host.
 * Needed if halyard_device_info.coherent_map is false. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_flush(halyard_buffer* buffer,
                                                                   uint64_t offset,
                                                                   uint64_t length);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_invalidate(halyard_buffer* buffer,
                                                                        uint64_t offset,
                                                                        uint64_t length);
/* A view of part of the buffer, which keeps it alive. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_subspan(halyard_buffer* buffer,
                                                                     uint64_t offset,
                                                                     uint64_t length,
                                                                     halyard_buffer** view);

#define HALYARD_TO_END UINT64_MAX

/* Part of a buffer, as an operand. In a command buffer, `buffer` can be null: `slot` is then an
 * entry of the table that halyard_queue_execute takes. */
typedef struct halyard_range {
  halyard_buffer* buffer;
  uint64_t offset;
  uint64_t length; /* HALYARD_TO_END: all that follow */
  uint32_t slot;
} halyard_range;

static inline halyard_range halyard_whole(halyard_buffer* buffer) {
  halyard_range range = {buffer, 0, HALYARD_TO_END, 0};
  return range;
}
static inline halyard_range halyard_part(halyard_buffer* buffer, uint64_t offset, uint64_t length) {
  halyard_range range = {buffer, offset, length, 0};
  return range;
}
static inline halyard_range halyard_slot(uint32_t slot) {
  halyard_range range = {NULL, 0, HALYARD_TO_END, slot};
  return range;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_BUFFER_H */
