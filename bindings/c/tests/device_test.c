/* What a device says of itself, and queues. */
#include <halyard/halyard.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "tests.h"

void test_device(void) {
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(device, &info));
  CHECK(info.coherent_map || info.maps_device_memory);
  halyard_device_details details = {.struct_size = sizeof details};
  MUST(halyard_device_get_details(device, &details));
  CHECK(details.waves_per_compute_unit >= 1 && details.l2_cache_bytes > details.cache_line_bytes);
  if (strcmp(info.driver, "amdgpu") == 0) { /* HIP tells less */
    CHECK(details.waves_per_compute_unit > details.simds_per_compute_unit);
    CHECK(details.simds_per_compute_unit >= 1 && details.cache_line_bytes >= 1);
    CHECK(details.max_queue_packets > details.min_queue_packets);
  }
  details.struct_size = 8;
  REFUSED(halyard_device_get_details(device, &details), INVALID_ARGUMENT, "struct_size (8)");
  CHECK(halyard_device_heap_count(device) >= 2);
  halyard_heap_info heap = {.struct_size = sizeof heap};
  MUST(halyard_device_heap(device, 0, &heap));
  CHECK(heap.size > 0 && heap.granule > 0 && heap.max_allocation <= heap.size);
  REFUSED(halyard_device_heap(device, 99, &heap), OUT_OF_RANGE, "heap 99");

  halyard_heap_statistics before = {.struct_size = sizeof before};
  halyard_heap_statistics after = {.struct_size = sizeof after};
  size_t index = 0;
  while (heap.type != HALYARD_MEMORY_DEVICE) MUST(halyard_device_heap(device, ++index, &heap));
  MUST(halyard_device_heap_statistics(device, index, &before));
  halyard_buffer* buffer = allocate(1 << 20, HALYARD_MEMORY_DEVICE);
  MUST(halyard_device_heap_statistics(device, index, &after));
  CHECK(after.live_bytes == before.live_bytes + (1 << 20));
  CHECK(after.live_buffers == before.live_buffers + 1 && after.peak_bytes >= after.live_bytes);
  halyard_buffer_release(buffer);

  CHECK(halyard_device_can_access(device, device));
  halyard_link_info link = {.struct_size = sizeof link};
  REFUSED(halyard_device_link(device, 99, &link), OUT_OF_RANGE, "link 99");
  OK(halyard_device_fault(device));
  REFUSED(halyard_device_allocate(device, 0, NULL, &buffer), INVALID_ARGUMENT, "0 bytes");
  const halyard_buffer_options bad = {.struct_size = sizeof bad, .type = (halyard_memory_type)7};
  REFUSED(halyard_device_allocate(device, 64, &bad, &buffer), INVALID_ARGUMENT, "memory type (7)");

  const halyard_buffer_options managed = {
      .struct_size = sizeof managed, .type = HALYARD_MEMORY_HOST, .managed = true};
  if (!info.managed_memory) {
    REFUSED(halyard_device_allocate(device, 64, &managed, &buffer), UNIMPLEMENTED,
            "managed_memory is false");
  } else {
    MUST(halyard_device_allocate(device, 64, &managed, &buffer));
    OK(halyard_device_advise(device, halyard_whole(buffer), HALYARD_ADVICE_PREFER_DEVICE));
    OK(halyard_queue_prefetch(queue, halyard_whole(buffer), HALYARD_PREFETCH_TO_DEVICE, NULL));
    halyard_buffer_release(buffer);
  }
  REFUSED(halyard_queue_alloca(queue, 64, &managed, NULL, &buffer), INVALID_ARGUMENT,
          "pools do not have");
  const halyard_buffer_options reserve = {.struct_size = sizeof reserve, .reserve = true};
  if (info.commit_granule == 0) {
    REFUSED(halyard_device_allocate(device, 1 << 21, &reserve, &buffer), UNIMPLEMENTED,
            "commit_granule is 0");
    buffer = allocate(64, HALYARD_MEMORY_DEVICE);
    REFUSED(halyard_device_commit(device, halyard_whole(buffer)), UNIMPLEMENTED, "commit");
    REFUSED(halyard_device_decommit(device, halyard_whole(buffer)), UNIMPLEMENTED, "decommit");
    halyard_buffer_release(buffer);
  } else {
    MUST(halyard_device_allocate(device, 2 * info.commit_granule, &reserve, &buffer));
    const halyard_range half = {.buffer = buffer, .length = info.commit_granule};
    OK(halyard_device_commit(device, half));
    REFUSED(halyard_device_commit(device, half), FAILED_PRECONDITION, "has memory already");
    OK(halyard_device_decommit(device, half));
    halyard_buffer_release(buffer);
  }
  REFUSED(halyard_queue_alloca(queue, 64, &reserve, NULL, &buffer), INVALID_ARGUMENT,
          "reserved buffer, which pools do not have");
  buffer = allocate(64, HALYARD_MEMORY_HOST);
  REFUSED(halyard_device_advise(device, halyard_whole(buffer), (halyard_memory_advice)7),
          INVALID_ARGUMENT, "advice (7)");
  REFUSED(halyard_queue_prefetch(queue, halyard_whole(buffer), (halyard_prefetch_target)2, NULL),
          INVALID_ARGUMENT, "target (2)");
  halyard_buffer_release(buffer);
}

void test_clocks(void) {
  halyard_clock_reading one = {.struct_size = sizeof one}, two = {.struct_size = sizeof two};
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  MUST(halyard_device_read_clocks(device, &one));
  MUST(halyard_device_read_clocks(device, &two));
  clock_gettime(CLOCK_MONOTONIC, &after);
  const uint64_t second = 1000000000;
  CHECK(one.host_ns >= (uint64_t)before.tv_sec * second + (uint64_t)before.tv_nsec);
  CHECK(two.host_ns <= (uint64_t)after.tv_sec * second + (uint64_t)after.tv_nsec);
  CHECK(one.host_ns <= two.host_ns && one.device_ticks <= two.device_ticks);
  CHECK(one.device_hz > 1000000 && two.device_hz > 1000000);
}

void test_queues(void) {
  halyard_queue* own = NULL;
  const halyard_queue_options bad = {.struct_size = sizeof bad, .priority = (halyard_priority)9};
  REFUSED(halyard_device_create_queue(device, &bad, &own), INVALID_ARGUMENT, "priority (9)");
  const halyard_queue_options options = {.struct_size = sizeof options,
                                         .priority = HALYARD_PRIORITY_HIGH};
  MUST(halyard_device_create_queue(device, &options, &own));
  CHECK(halyard_queue_device(own) == device);
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(device, &info));
  CHECK(halyard_queue_native_handle(own) != NULL);
  halyard_queue* imported = NULL;
  if (info.imports_queues) {
    MUST(halyard_device_import_queue(device, halyard_queue_native_handle(own), &imported));
    MUST(halyard_queue_barrier(imported, signal_next()));
    MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
    halyard_queue_release(imported);
  } else {
    REFUSED(halyard_device_import_queue(device, &info, &imported), FAILED_PRECONDITION,
            "does not import queues");
  }
  /* Work that is given up. */
  halyard_semaphore *gate, *end;
  MUST(halyard_device_create_semaphore(device, 0, &gate));
  MUST(halyard_device_create_semaphore(device, 0, &end));
  const halyard_point wait = {gate, 1}, signal = {end, 1};
  const halyard_sync sync = {&wait, 1, &signal, 1};
  MUST(halyard_queue_barrier(own, &sync));
  MUST(halyard_queue_abandon(own));
  REFUSED(halyard_semaphore_wait(end, 1, HALYARD_FOREVER), CANCELLED,
          "is abandoned (Queue::abandon)");
  REFUSED(halyard_queue_fault(own), CANCELLED, "is abandoned (Queue::abandon)");
  OK(halyard_device_fault(device));
  halyard_queue_retain(own);
  halyard_queue_release(own);
  halyard_queue_release(own);
  halyard_semaphore_release(gate);
  halyard_semaphore_release(end);
}
