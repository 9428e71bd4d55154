/* Errors, handles that are none, and structs of other versions. */
#include <halyard/halyard.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "tests.h"

/* The interface's structs as they are in version 0.3, for LP64. A struct may get longer; then its
 * first size stays in bindings/c/src/structs.h, and the size here is the new one. */
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
SIZE(halyard_virtual_gpu_options, 24);
SIZE(halyard_option, 16);
SIZE(halyard_driver_option, 24);
SIZE(halyard_named_device, 24);
SIZE(halyard_registry_options, 88);
SIZE(halyard_driver_info, 64);
SIZE(halyard_device_summary, 56);
SIZE(halyard_candidate, 96);
SIZE(halyard_searched_place, 48);
SIZE(halyard_dim3, 12);
SIZE(halyard_device_info, 152);
SIZE(halyard_device_details, 56);
SIZE(halyard_heap_info, 40);
SIZE(halyard_heap_statistics, 32);
SIZE(halyard_pool_statistics, 48);
SIZE(halyard_link_info, 40);
SIZE(halyard_profile_event, 88);
SIZE(halyard_buffer_options, 48);
SIZE(halyard_import_options, 48);
SIZE(halyard_exported_handle, 72);
SIZE(halyard_dmabuf, 24);
SIZE(halyard_range, 32);
SIZE(halyard_module_options, 32);
SIZE(halyard_module_variant, 72);
SIZE(halyard_argument_info, 48);
SIZE(halyard_function_info, 80);
SIZE(halyard_executable_info, 24);
SIZE(halyard_global_info, 24);
SIZE(halyard_point, 16);
SIZE(halyard_sync, 32);
SIZE(halyard_queue_options, 24);
SIZE(halyard_argument, 64);
SIZE(halyard_dispatch, 80);
SIZE(halyard_rectangle, 64);
SIZE(halyard_file_range, 16);
SIZE(halyard_memory_pool_info, 32);
SIZE(halyard_allocation_info, 40);
SIZE(halyard_clock_reading, 40);
SIZE(halyard_residency, 32);
SIZE(halyard_exported_semaphore, 72);
SIZE(halyard_code, 4);

void test_errors(void) {
  CHECK(halyard_c_version() >> 16 == HALYARD_C_MAJOR);
  CHECK((halyard_c_version() & 0xffff) >= HALYARD_C_MINOR);
  CHECK(halyard_error_code(NULL) == HALYARD_OK);
  CHECK(strcmp(halyard_error_message(NULL), "") == 0);
  halyard_error_free(NULL);
  halyard_text_free(NULL);
  halyard_error* error = halyard_error_create(HALYARD_DATA_LOSS, "The tape is torn (3).");
  CHECK(halyard_error_code(error) == HALYARD_DATA_LOSS);
  CHECK(strcmp(halyard_error_message(error), "The tape is torn (3).") == 0);
  halyard_error_free(error);
  error = halyard_error_create(HALYARD_OK, NULL);
  CHECK(halyard_error_code(error) == HALYARD_UNKNOWN);
  halyard_error_free(error);
  CHECK(strcmp(halyard_code_name(HALYARD_NOT_FOUND), "NOT_FOUND") == 0);
  CHECK(halyard_deadline_after(UINT64_MAX) == HALYARD_FOREVER);
  const uint64_t soon = halyard_deadline_after(0);
  CHECK(soon > 0 && halyard_deadline_after(1000000000) > soon);
}

/* Null, another kind of handle, memory that is no handle: each is an error. */
void test_bad_handles(void) {
  uint64_t memory[16] = {0};
  uint64_t value = 0;
  REFUSED(halyard_semaphore_query(NULL, &value), INVALID_ARGUMENT, "is given no semaphore (null)");
  REFUSED(halyard_semaphore_query((halyard_semaphore*)(void*)queue, &value), INVALID_ARGUMENT,
          "is not the handle of a semaphore");
  REFUSED(halyard_semaphore_query((halyard_semaphore*)(void*)memory, &value), INVALID_ARGUMENT,
          "is not the handle of a semaphore");
  REFUSED(halyard_semaphore_query((halyard_semaphore*)(void*)((char*)done + 1), &value),
          INVALID_ARGUMENT, "is not the handle of a semaphore");
  REFUSED(halyard_semaphore_query(done, NULL), INVALID_ARGUMENT, "no place for its output (null)");
  REFUSED(halyard_queue_barrier(NULL, NULL), INVALID_ARGUMENT, "is given no queue (null)");
  REFUSED(halyard_device_fault(NULL), INVALID_ARGUMENT, "is given no device (null)");
  REFUSED(halyard_buffer_unmap(NULL, NULL), INVALID_ARGUMENT, "is given no buffer (null)");
  REFUSED(halyard_command_buffer_finish(NULL), INVALID_ARGUMENT, "is given no command buffer");
  REFUSED(halyard_registry_open_device(registry, NULL, NULL, 0, NULL), INVALID_ARGUMENT,
          "is given no URI (null)");
  REFUSED(halyard_queue_fill(queue, halyard_whole(NULL), &value, 4, NULL), INVALID_ARGUMENT,
          "Queue::fill is given a target without a buffer (null)");
  REFUSED(halyard_queue_fill(queue, halyard_whole((halyard_buffer*)(void*)queue), &value, 4, NULL),
          INVALID_ARGUMENT, "is not the handle of a buffer");
  const halyard_point no_semaphore = {NULL, 1};
  const halyard_sync bad_points = {.signal = &no_semaphore, .signal_count = 1};
  REFUSED(halyard_queue_barrier(queue, &bad_points), INVALID_ARGUMENT, "no semaphore (null)");
  const halyard_sync no_points = {.wait = NULL, .wait_count = 2};
  REFUSED(halyard_queue_barrier(queue, &no_points), INVALID_ARGUMENT,
          "2 wait points at no address");

  /* Functions without an error. */
  CHECK(halyard_buffer_size(NULL) == 0);
  CHECK(halyard_buffer_device_address((halyard_buffer*)(void*)queue) == 0);
  CHECK(halyard_buffer_device(NULL) == NULL && halyard_queue_device(NULL) == NULL);
  CHECK(halyard_executable_device(NULL) == NULL && halyard_function_executable(NULL) == NULL);
  CHECK(halyard_executable_function_count(NULL) == 0 && halyard_module_variant_count(NULL) == 0);
  CHECK(halyard_device_heap_count(NULL) == 0 && halyard_device_link_count(NULL) == 0);
  CHECK(!halyard_device_can_access(device, NULL) && !halyard_device_validates(NULL));
  CHECK(halyard_queue_native_handle(NULL) == NULL);
  CHECK(halyard_command_buffer_binding_count(NULL) == 0 && !halyard_command_buffer_finished(NULL));
  CHECK(strcmp(halyard_load_report_text(NULL), "") == 0);
  halyard_buffer_retain(NULL);
  halyard_buffer_release(NULL);
  halyard_buffer_release((halyard_buffer*)(void*)queue);
  OK(halyard_queue_fault(queue));
}

void test_struct_sizes(void) {
  /* An older, or mistaken, caller. */
  halyard_device_info info = {.struct_size = 0};
  REFUSED(halyard_device_get_info(device, &info), INVALID_ARGUMENT, "struct_size (0)");
  info.struct_size = 120;
  REFUSED(halyard_device_get_info(device, &info), INVALID_ARGUMENT, "struct_size (120)");
  /* One that was built with version 0.1: nothing is written behind what it has. */
  info.pci_address = "not touched";
  info.struct_size = 128;
  MUST(halyard_device_get_info(device, &info));
  CHECK(strcmp(info.pci_address, "not touched") == 0 && info.compute_units > 0);
  info.struct_size = SIZE_MAX;
  REFUSED(halyard_device_get_info(device, &info), INVALID_ARGUMENT, "struct_size (");
  /* A newer one: what the library does not know becomes 0. */
  struct {
    halyard_device_info known;
    uint64_t later;
  } newer = {.known = {.struct_size = sizeof newer}, .later = 7};
  MUST(halyard_device_get_info(device, &newer.known));
  CHECK(newer.later == 0 && newer.known.struct_size == sizeof newer);
  CHECK(newer.known.compute_units > 0);

  struct {
    halyard_buffer_options known;
    uint64_t later;
  } options = {.known = {.struct_size = sizeof options}, .later = 0};
  halyard_buffer* buffer = NULL;
  MUST(halyard_device_allocate(device, 64, &options.known, &buffer));
  halyard_buffer_release(buffer);
  buffer = NULL;
  options.later = 1;
  REFUSED(halyard_device_allocate(device, 64, &options.known, &buffer), INVALID_ARGUMENT,
          "whose byte 48 is not 0");
  CHECK(buffer == NULL);
  /* One that was built with version 0.2 has no pool. */
  options.known.pool = (halyard_memory_pool*)(void*)queue;
  options.known.struct_size = 32;
  MUST(halyard_device_allocate(device, 64, &options.known, &buffer));
  halyard_buffer_release(buffer);
  options.known.struct_size = 8;
  REFUSED(halyard_device_allocate(device, 64, &options.known, &buffer), INVALID_ARGUMENT,
          "struct_size (8)");
}
