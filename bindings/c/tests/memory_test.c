/* Buffers, memory of others, and pools. */
#include <halyard/halyard.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "tests.h"

/* Where the runtime has no dma-bufs (HSA before 5.6), that is said of both directions. */
static void test_dmabuf(halyard_buffer* buffer) {
  halyard_dmabuf dmabuf = {.struct_size = sizeof dmabuf, .fd = -1};
  const halyard_import_options import = {.struct_size = sizeof import,
                                         .kind = HALYARD_IMPORT_DMABUF,
                                         .pointer = &dmabuf,
                                         .size = 4096};
  halyard_buffer* imported = NULL;
  REFUSED(halyard_device_import_buffer(device, &import, &imported), INVALID_ARGUMENT,
          "a descriptor (-1) that is not open");
  halyard_error* error = halyard_device_export_dmabuf(device, buffer, &dmabuf);
  if (error != NULL) {
    CHECK(halyard_error_code(error) == HALYARD_UNIMPLEMENTED);
    halyard_error_free(error);
    return;
  }
  MUST(halyard_device_import_buffer(device, &import, &imported));
  close(dmabuf.fd);
  CHECK(halyard_buffer_size(imported) == 4096);
  halyard_buffer_release(imported);
}

void test_buffers(void) {
  halyard_buffer* host = allocate(4096, HALYARD_MEMORY_HOST);
  CHECK(halyard_buffer_size(host) == 4096 && halyard_buffer_type(host) == HALYARD_MEMORY_HOST);
  CHECK(halyard_buffer_device(host) == device && halyard_buffer_device_address(host) != 0);
  uint32_t* words = words_of(host);
  for (uint32_t i = 0; i < 1024; ++i) words[i] = i;
  OK(halyard_buffer_flush(host, 0, HALYARD_TO_END));
  OK(halyard_buffer_invalidate(host, 0, 4096));

  halyard_buffer* view = NULL;
  MUST(halyard_buffer_subspan(host, 1024, HALYARD_TO_END, &view));
  CHECK(halyard_buffer_size(view) == 3072);
  CHECK(halyard_buffer_device_address(view) == halyard_buffer_device_address(host) + 1024);
  CHECK(words_of(view)[0] == 256);
  REFUSED(halyard_buffer_subspan(host, 4096, 1, &view), OUT_OF_RANGE, "from offset 4096");
  void* pointer = NULL;
  REFUSED(halyard_buffer_map(host, 0, 4097, HALYARD_MAP_READ, &pointer), OUT_OF_RANGE,
          "a range of 4097 bytes");
  REFUSED(halyard_buffer_unmap(host, &pointer), INVALID_ARGUMENT,
          "Buffer::unmap is given a pointer");
  OK(halyard_buffer_unmap(host, words));
  OK(halyard_buffer_unmap(view, words_of(view)));

  halyard_buffer* on_device = allocate(4096, HALYARD_MEMORY_DEVICE);
  REFUSED(halyard_buffer_map(on_device, 0, 16, HALYARD_MAP_READ, &pointer), FAILED_PRECONDITION,
          "a buffer of device memory (4096 bytes)");
  halyard_exported_handle handle = {.struct_size = sizeof handle};
  OK(halyard_device_export_buffer(device, on_device, &handle));
  uint8_t bits = 0;
  for (size_t i = 0; i < sizeof handle.ipc; ++i) bits |= handle.ipc[i];
  CHECK(bits != 0);
  REFUSED(halyard_device_export_buffer(device, host, &handle), FAILED_PRECONDITION,
          "Export a whole buffer of device memory");
  test_dmabuf(on_device);
  halyard_buffer_release(on_device);
  halyard_buffer_release(host);
  CHECK(words_of(view)[1] == 257); /* the view keeps the memory */
  halyard_buffer_release(view);

  /* Memory of the program's. */
  uint32_t* own = aligned_alloc(4096, 4096);
  memset(own, 0, 4096);
  const halyard_import_options import = {.struct_size = sizeof import,
                                         .kind = HALYARD_IMPORT_HOST_MEMORY,
                                         .pointer = own,
                                         .size = 4096};
  halyard_buffer* imported = NULL;
  MUST(halyard_device_import_buffer(device, &import, &imported));
  const uint32_t pattern = 0x01020304;
  OK(halyard_queue_fill(queue, halyard_part(imported, 8, 16), &pattern, 4, NULL));
  finish();
  CHECK(own[1] == 0 && own[2] == pattern && own[5] == pattern && own[6] == 0);
  halyard_buffer_release(imported);
  free(own);
  REFUSED(halyard_device_import_buffer(device, NULL, &imported), INVALID_ARGUMENT, "no options");
}

static uint32_t host_memory[1024];
static atomic_int releases;

static void count_release(void* context) {
  if (context == host_memory) atomic_fetch_add(&releases, 1);
}

void test_import_release(void) {
  const halyard_import_options options = {.struct_size = sizeof options,
                                          .kind = HALYARD_IMPORT_HOST_MEMORY,
                                          .pointer = host_memory,
                                          .size = sizeof host_memory,
                                          .release = &count_release,
                                          .release_context = host_memory};
  halyard_buffer* buffer = NULL;
  MUST(halyard_device_import_buffer(device, &options, &buffer));
  halyard_allocation_info info = {.struct_size = sizeof info};
  MUST(halyard_device_find_allocation(device, &host_memory[5], &info));
  CHECK(info.owner == HALYARD_OWNER_HOST_MEMORY);
  const uint32_t seven = 7;
  MUST(halyard_queue_fill(queue, halyard_whole(buffer), &seven, 4, signal_next()));
  CHECK(atomic_load(&releases) == 0);
  halyard_buffer_release(buffer);
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
  CHECK(host_memory[1023] == 7);
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 60000 && atomic_load(&releases) == 0; ++i) nanosleep(&pause, NULL);
  CHECK(atomic_load(&releases) == 1);
  /* An import that fails leaves the memory to the caller. */
  halyard_import_options bad = options;
  bad.size = 0;
  REFUSED(halyard_device_import_buffer(device, &bad, &buffer), INVALID_ARGUMENT,
          "a size of 0 bytes");
  CHECK(atomic_load(&releases) == 1);
}

void test_find_allocation(void) {
  halyard_buffer* buffer = allocate(4096, HALYARD_MEMORY_HOST);
  const uint32_t* const words = words_of(buffer);
  halyard_allocation_info info = {.struct_size = sizeof info};
  MUST(halyard_device_find_allocation(device, words + 3, &info));
  CHECK(info.type == HALYARD_MEMORY_HOST && info.owner == HALYARD_OWNER_DEVICE);
  CHECK(info.size == 4096 && info.host_pointer == (const void*)words);
  CHECK(info.device_address == halyard_buffer_device_address(buffer));
  const uintptr_t address = (uintptr_t)halyard_buffer_device_address(buffer);
  MUST(halyard_device_find_allocation(device, (const void*)(address + 4095), &info));
  CHECK(info.device_address == address);
  int on_stack = 0;
  REFUSED(halyard_device_find_allocation(device, &on_stack, &info), NOT_FOUND,
          "which lies in no buffer");
  MUST(halyard_buffer_unmap(buffer, (void*)(uintptr_t)words));
  halyard_buffer_release(buffer);
}

void test_pool(void) {
  halyard_pool_statistics before = {.struct_size = sizeof before};
  halyard_pool_statistics after = {.struct_size = sizeof after};
  MUST(halyard_device_pool_statistics(device, HALYARD_MEMORY_HOST, &before));
  const halyard_buffer_options options = {.struct_size = sizeof options,
                                          .type = HALYARD_MEMORY_HOST};
  halyard_buffer* buffer = NULL;
  MUST(halyard_queue_alloca(queue, 1024, &options, signal_next(), &buffer));
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
  CHECK(halyard_buffer_size(buffer) == 1024);
  MUST(halyard_device_pool_statistics(device, HALYARD_MEMORY_HOST, &after));
  CHECK(after.allocations == before.allocations + 1 && after.used_bytes > before.used_bytes);
  MUST(halyard_queue_dealloca(queue, buffer, NULL));
  CHECK(halyard_buffer_size(buffer) == 0);
  REFUSED(halyard_queue_fill(queue, halyard_whole(buffer), "", 1, NULL), FAILED_PRECONDITION,
          "whose memory was deallocated");
  finish();
  halyard_buffer_release(buffer);
  MUST(halyard_device_trim_pool(device, HALYARD_MEMORY_HOST, 0));
  MUST(halyard_device_pool_statistics(device, HALYARD_MEMORY_HOST, &after));
  CHECK(after.used_bytes == before.used_bytes);
  REFUSED(halyard_device_trim_pool(device, (halyard_memory_type)9, 0), INVALID_ARGUMENT,
          "memory type (9)");
}

void test_memory_pools(void) {
  const uint64_t limit = UINT64_C(8) << 20;
  const halyard_memory_pool_info info = {.struct_size = sizeof info, .limit_bytes = limit};
  halyard_memory_pool* pool = NULL;
  MUST(halyard_device_create_memory_pool(device, &info, &pool));
  CHECK(halyard_memory_pool_device(pool) == device && halyard_memory_pool_device(NULL) == NULL);
  halyard_memory_pool_info got = {.struct_size = sizeof got};
  MUST(halyard_memory_pool_get_info(pool, &got));
  CHECK(got.type == HALYARD_MEMORY_DEVICE && got.limit_bytes == limit && got.keep_bytes == 0);

  const halyard_buffer_options options = {.struct_size = sizeof options, .pool = pool};
  halyard_buffer *small = NULL, *large = NULL;
  MUST(halyard_queue_alloca(queue, 4096, &options, NULL, &small));
  REFUSED(halyard_queue_alloca(queue, limit * 2, &options, NULL, &large), RESOURCE_EXHAUSTED,
          "a pool whose limit is 8388608 bytes");
  CHECK(large == NULL);
  halyard_pool_statistics statistics = {.struct_size = sizeof statistics};
  MUST(halyard_memory_pool_statistics(pool, &statistics));
  CHECK(statistics.allocations == 1 && statistics.used_bytes >= 4096);
  MUST(halyard_queue_dealloca(queue, small, NULL));
  finish();
  halyard_buffer_release(small);
  MUST(halyard_memory_pool_trim(pool, 0));
  MUST(halyard_memory_pool_statistics(pool, &statistics));
  CHECK(statistics.used_bytes == 0 && statistics.reserved_bytes == 0);

  REFUSED(halyard_device_allocate(device, 64, &options, &large), INVALID_ARGUMENT,
          "Pools are for halyard_queue_alloca");
  const halyard_buffer_options wrong = {.struct_size = sizeof wrong,
                                        .pool = (halyard_memory_pool*)(void*)queue};
  REFUSED(halyard_queue_alloca(queue, 64, &wrong, NULL, &large), INVALID_ARGUMENT,
          "is not the handle of a memory pool");
  halyard_memory_pool_retain(pool);
  halyard_memory_pool_release(pool);
  halyard_memory_pool_release(pool);

  /* It keeps nothing. */
  const halyard_memory_pool_info none = {
      .struct_size = sizeof none, .type = HALYARD_MEMORY_HOST, .keep_bytes = HALYARD_KEEP_NONE};
  MUST(halyard_device_create_memory_pool(device, &none, &pool));
  got.struct_size = sizeof got;
  MUST(halyard_memory_pool_get_info(pool, &got));
  CHECK(got.type == HALYARD_MEMORY_HOST && got.keep_bytes == HALYARD_KEEP_NONE);
  halyard_memory_pool_release(pool);
  const halyard_memory_pool_info bad = {.struct_size = sizeof bad, .type = (halyard_memory_type)9};
  REFUSED(halyard_device_create_memory_pool(device, &bad, &pool), INVALID_ARGUMENT,
          "memory type (9)");
  REFUSED(halyard_memory_pool_trim(NULL, 0), INVALID_ARGUMENT, "no memory pool (null)");
}
