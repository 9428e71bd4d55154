/* The C interface, from C11, on one device:
 *
 *   halyard_c_test DEVICE PROFILE KERNELS      such as: amdgpu gfx90a cts/kernels
 *
 * Prints each check that fails and exits with 1 if there is one. */
#include <fcntl.h>
#include <halyard/halyard.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

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
SIZE(halyard_device_info, 144);
SIZE(halyard_heap_info, 40);
SIZE(halyard_heap_statistics, 32);
SIZE(halyard_pool_statistics, 48);
SIZE(halyard_link_info, 40);
SIZE(halyard_profile_event, 88);
SIZE(halyard_buffer_options, 40);
SIZE(halyard_import_options, 48);
SIZE(halyard_exported_handle, 72);
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
SIZE(halyard_dispatch, 64);
SIZE(halyard_rectangle, 64);
SIZE(halyard_file_range, 16);
SIZE(halyard_memory_pool_info, 32);
SIZE(halyard_allocation_info, 40);
SIZE(halyard_clock_reading, 40);
SIZE(halyard_residency, 32);
SIZE(halyard_exported_semaphore, 72);
SIZE(halyard_code, 4);

static void test_errors(void) {
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
static void test_bad_handles(void) {
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
          "null");
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

static void test_struct_sizes(void) {
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
          "whose byte 40 is not 0");
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

static void test_registry(void) {
  halyard_device* none = NULL;
  REFUSED(halyard_registry_open_device(registry, "nosuchdriver", NULL, 0, &none), NOT_FOUND,
          "nosuchdriver");
  REFUSED(halyard_registry_open_device(registry, "a b", NULL, 0, &none), INVALID_ARGUMENT, "");
  CHECK(none == NULL);

  halyard_driver* driver = NULL;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(device_uri, ":?"), device_uri);
  MUST(halyard_registry_driver(registry, name, &driver));
  halyard_driver_info info = {.struct_size = sizeof info};
  MUST(halyard_driver_get_info(driver, &info));
  CHECK(strcmp(info.name, name) == 0 && info.path[0] == '/' && info.description[0] != '\0');
  CHECK(strstr(info.library_name, "lib") != NULL && info.library_path[0] == '/');
  MUST(halyard_driver_device_count(driver) > 0 ? NULL : halyard_error_create(HALYARD_UNKNOWN, ""));
  halyard_device_summary summary = {.struct_size = sizeof summary};
  MUST(halyard_driver_device(driver, 0, &summary));
  CHECK(summary.ordinal == 0 && strncmp(summary.target, "gfx9", 4) == 0);
  REFUSED(halyard_driver_device(driver, halyard_driver_device_count(driver), &summary),
          OUT_OF_RANGE, "device");
  halyard_device* opened = NULL;
  const halyard_option unknown = {"nosuchkey", "1"};
  REFUSED(halyard_driver_open_device(driver, 0, &unknown, 1, &opened), INVALID_ARGUMENT,
          "nosuchkey");
  MUST(halyard_driver_open_device(driver, 0, NULL, 0, &opened));
  halyard_driver_retain(driver);
  halyard_driver_release(driver);
  halyard_driver_release(driver);
  halyard_device_info facts = {.struct_size = sizeof facts};
  MUST(halyard_device_get_info(opened, &facts)); /* the device outlives the driver's handle */
  CHECK(strcmp(facts.driver, name) == 0 && facts.memory_bytes > 0 && facts.lds_bytes == 65536);
  CHECK(facts.max_workgroup.x == 1024 && facts.wavefront_size == 64);
  halyard_device_release(opened);

  size_t count = 0;
  MUST(halyard_registry_driver_count(registry, &count));
  CHECK(count >= 2); /* amdgpu and hip */
  MUST(halyard_registry_driver_at(registry, 0, &driver));
  MUST(halyard_driver_get_info(driver, &info));
  CHECK(strcmp(info.name, "amdgpu") == 0);
  halyard_driver_release(driver);
  REFUSED(halyard_registry_driver_at(registry, count, &driver), OUT_OF_RANGE, "driver");

  halyard_load_report* report = NULL;
  MUST(halyard_registry_report(registry, HALYARD_REPORT_COMPLETE, 0, &report));
  CHECK(strstr(halyard_load_report_text(report), "libhalyard_driver_hip.so") != NULL);
  bool found = false;
  for (size_t i = 0; i < halyard_load_report_candidate_count(report); ++i) {
    halyard_candidate candidate = {.struct_size = sizeof candidate};
    MUST(halyard_load_report_candidate(report, i, &candidate));
    if (strcmp(candidate.driver, name) != 0) continue;
    found = true;
    CHECK(candidate.stage == HALYARD_STAGE_ENUMERATED && candidate.device_count > 0);
    CHECK(candidate.code == HALYARD_OK && candidate.tried && !candidate.fatal);
    CHECK(candidate.origin == HALYARD_ORIGIN_INSTALLATION);
  }
  CHECK(found);
  CHECK(halyard_load_report_place_count(report) > 0);
  halyard_searched_place place = {.struct_size = sizeof place};
  MUST(halyard_load_report_place(report, 0, &place));
  CHECK(place.path[0] != '\0');
  halyard_load_report_retain(report);
  halyard_load_report_release(report);
  halyard_load_report_release(report);
  REFUSED(halyard_registry_report(registry, (halyard_report_kind)9, 0, &report), INVALID_ARGUMENT,
          "kind of report (9)");

  halyard_registry* shared = NULL;
  halyard_registry* again = NULL;
  MUST(halyard_registry_default(&shared));
  MUST(halyard_registry_default(&again));
  CHECK(shared == again);
  halyard_registry_release(again);
  halyard_registry_release(shared);
}

static void test_registry_options(void) {
  const char* const uris[] = {device_uri, device_uri};
  const halyard_named_device named = {"twice", uris, 2};
  const char* const disabled[] = {"skeleton"};
  const halyard_registry_options options = {.struct_size = sizeof options,
                                            .no_validation = true,
                                            .ignore_environment = true,
                                            .named_devices = &named,
                                            .named_device_count = 1,
                                            .disabled_drivers = disabled,
                                            .disabled_driver_count = 1};
  halyard_registry* own = NULL;
  MUST(halyard_registry_create(&options, &own));
  halyard_device* devices[2] = {NULL, NULL};
  size_t count = 0;
  REFUSED(halyard_registry_open_devices(own, "twice", NULL, 0, devices, 1, &count), OUT_OF_RANGE,
          "stands for 2");
  CHECK(count == 2 && devices[0] == NULL);
  REFUSED(halyard_registry_open_device(own, "twice", NULL, 0, devices), INVALID_ARGUMENT, "");
  CHECK(devices[0] == NULL);
  MUST(halyard_registry_open_devices(own, "twice", NULL, 0, devices, 2, &count));
  halyard_registry_release(own); /* the devices stay */
  CHECK(!halyard_device_validates(devices[0]) && !halyard_device_validates(devices[1]));
  MUST(halyard_device_set_validation(devices[1], true));
  CHECK(halyard_device_validates(devices[1]));
  halyard_device_release(devices[0]);
  halyard_device_release(devices[1]);

  const halyard_registry_options nowhere = {
      .struct_size = sizeof nowhere, .ignore_environment = true, .ignore_installation = true};
  MUST(halyard_registry_create(&nowhere, &own));
  REFUSED(halyard_registry_open_device(own, "amdgpu", NULL, 0, devices), NOT_FOUND, "amdgpu");
  halyard_registry_release(own);
}

/* All of the driver's GPUs as one device; with one GPU that is the GPU itself. */
static void test_logical_device(void) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(device_uri, ":?"), device_uri);
  halyard_driver* driver = NULL;
  MUST(halyard_registry_driver(registry, name, &driver));
  const size_t count = halyard_driver_device_count(driver);
  char* uris = NULL;
  MUST(halyard_registry_gpus(registry, name, &uris));
  size_t lines = 0;
  for (const char* at = uris; *at != '\0'; ++at) lines += *at == '\n';
  CHECK(lines == count && strstr(uris, ":0") != NULL);
  halyard_text_free(uris);

  halyard_device* all = NULL;
  const uint32_t ordinals[] = {0, 1};
  REFUSED(halyard_driver_open_logical_device(driver, NULL, 0, NULL, 0, &all), INVALID_ARGUMENT, "");
  REFUSED(halyard_driver_open_logical_device(driver, NULL, 1, NULL, 0, &all), INVALID_ARGUMENT,
          "1 ordinals at no address");
  MUST(halyard_driver_open_logical_device(driver, ordinals, count < 2 ? count : 2, NULL, 0, &all));
  halyard_driver_release(driver);
  CHECK(halyard_device_gpu_count(all) == count && halyard_device_gpu_count(NULL) == 0);
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(all, &info));
  CHECK(info.gpu_count == count && info.pci_address != NULL);
  halyard_device* gpu = NULL;
  REFUSED(halyard_device_gpu(all, count, &gpu), OUT_OF_RANGE, "GPU");
  MUST(halyard_device_gpu(all, count - 1, &gpu));
  CHECK(halyard_device_gpu_count(gpu) == 1);

  /* The last GPU fills its own memory, and that of the first where the two are let in. */
  const halyard_queue_options on_last = {.struct_size = sizeof on_last, .gpu = (uint32_t)count - 1};
  halyard_queue* last = NULL;
  MUST(halyard_device_create_queue(all, &on_last, &last));
  const halyard_queue_options nowhere = {.struct_size = sizeof nowhere, .gpu = 99};
  halyard_queue* none = NULL;
  REFUSED(halyard_device_create_queue(all, &nowhere, &none), OUT_OF_RANGE, "GPU 99");
  const halyard_buffer_options shared = {
      .struct_size = sizeof shared, .type = HALYARD_MEMORY_HOST, .shared = true};
  halyard_buffer* buffer = NULL;
  MUST(halyard_device_allocate(all, 64, &shared, &buffer));
  REFUSED(halyard_queue_alloca(last, 64, &shared, NULL, &buffer), INVALID_ARGUMENT,
          "shared (true)");
  MUST(halyard_device_let_in(all, buffer));
  halyard_semaphore* end = NULL;
  MUST(halyard_device_create_semaphore(all, 0, &end));
  const halyard_point point = {end, 1};
  const halyard_sync sync = {.signal = &point, .signal_count = 1};
  const uint32_t pattern = 0xabcd;
  MUST(halyard_queue_fill(last, halyard_whole(buffer), &pattern, 4, &sync));
  MUST(halyard_semaphore_wait(end, 1, HALYARD_FOREVER));
  CHECK(words_of(buffer)[15] == pattern);

  char path[4096];
  snprintf(path, sizeof path, "%s/vadd_c_v6.hipfb", kernels);
  halyard_module* module = NULL;
  halyard_executable *executable = NULL, *part = NULL;
  MUST(halyard_module_open(path, NULL, &module));
  MUST(halyard_device_load_module(all, module, &executable));
  REFUSED(halyard_executable_on_gpu(executable, count, &part), OUT_OF_RANGE, "GPU");
  MUST(halyard_executable_on_gpu(executable, count - 1, &part));
  CHECK(halyard_executable_function_count(part) == 1);
  halyard_executable_release(part);
  halyard_executable_release(executable);
  halyard_module_release(module);
  halyard_semaphore_release(end);
  halyard_buffer_release(buffer);
  halyard_queue_release(last);
  halyard_device_release(gpu);
  halyard_device_release(all);
}

static void test_device(void) {
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(device, &info));
  CHECK(info.coherent_map || info.maps_device_memory);
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
}

static void test_buffers(void) {
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
  REFUSED(halyard_buffer_subspan(host, 4096, 1, &view), OUT_OF_RANGE, "4096");
  void* pointer = NULL;
  REFUSED(halyard_buffer_map(host, 0, 4097, HALYARD_MAP_READ, &pointer), OUT_OF_RANGE, "4097");
  REFUSED(halyard_buffer_unmap(host, &pointer), INVALID_ARGUMENT, "");
  OK(halyard_buffer_unmap(host, words));
  OK(halyard_buffer_unmap(view, words_of(view)));

  halyard_buffer* on_device = allocate(4096, HALYARD_MEMORY_DEVICE);
  REFUSED(halyard_buffer_map(on_device, 0, 16, HALYARD_MAP_READ, &pointer), FAILED_PRECONDITION,
          "");
  halyard_exported_handle handle = {.struct_size = sizeof handle};
  OK(halyard_device_export_buffer(device, on_device, &handle));
  uint8_t bits = 0;
  for (size_t i = 0; i < sizeof handle.ipc; ++i) bits |= handle.ipc[i];
  CHECK(bits != 0);
  REFUSED(halyard_device_export_buffer(device, host, &handle), FAILED_PRECONDITION, "");
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

static void test_modules(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/vadd_c_v6.hipfb", kernels);
  halyard_module* module = NULL;
  REFUSED(halyard_module_open("/nosuch/file", NULL, &module), NOT_FOUND, "/nosuch/file");
  REFUSED(halyard_module_read("nonsense", 8, NULL, &module), INVALID_ARGUMENT, "");
  MUST(halyard_module_open(path, NULL, &module));
  CHECK(halyard_module_get_format(module) == HALYARD_FORMAT_OFFLOAD_BUNDLE);
  const size_t count = halyard_module_variant_count(module);
  CHECK(count > 2);
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(device, &info));
  size_t chosen = 0;
  size_t number = 0;
  MUST(halyard_module_choose(module, info.target, &chosen, 1, &number));
  CHECK(number == 1 && chosen < count);
  halyard_module_variant variant = {.struct_size = sizeof variant};
  MUST(halyard_module_get_variant(module, chosen, &variant));
  CHECK(strncmp(variant.target, "gfx9", 4) == 0 && variant.problem[0] == '\0');
  CHECK(variant.code_object_version == 6 && memcmp(variant.data, "\177ELF", 4) == 0);
  REFUSED(halyard_module_choose(module, "gfx700", &chosen, 1, &number), FAILED_PRECONDITION,
          "gfx700");
  REFUSED(halyard_module_get_variant(module, count, &variant), OUT_OF_RANGE, "variant");
  CHECK(halyard_module_ignored_count(module) == 0);
  const char *file, *reason;
  REFUSED(halyard_module_ignored(module, 0, &file, &reason), OUT_OF_RANGE, "ignored file 0");

  /* One variant is a code object, which a device loads as it is. */
  MUST(halyard_module_get_variant(module, chosen < count ? chosen : 0, &variant));
  halyard_executable* executable = NULL;
  MUST(halyard_device_load_executable(device, variant.data, variant.size, &executable));
  halyard_module_retain(module);
  halyard_module_release(module);
  halyard_module_release(module);
  CHECK(halyard_executable_device(executable) == device);
  halyard_executable_info facts = {.struct_size = sizeof facts};
  MUST(halyard_executable_get_info(executable, &facts));
  CHECK(strncmp(facts.target, "gfx9", 4) == 0 && facts.code_object_version == 6);
  CHECK(halyard_executable_function_count(executable) == 1);

  halyard_function* function = NULL;
  MUST(halyard_executable_function(executable, 0, &function));
  CHECK(function == find(executable, "vadd"));
  CHECK(halyard_function_executable(function) == executable);
  REFUSED(halyard_executable_find(executable, "vad", &function), NOT_FOUND, "vadd");
  REFUSED(halyard_executable_function(executable, 1, &function), OUT_OF_RANGE, "function 1");
  halyard_function_info shape = {.struct_size = sizeof shape};
  MUST(halyard_function_get_info(function, &shape));
  CHECK(strcmp(shape.name, "vadd") == 0 && shape.argument_count == 4 && shape.vgpr_count > 0);
  CHECK(shape.kernarg_size >= 28 && shape.wavefront_size == 64);
  halyard_argument_info argument = {.struct_size = sizeof argument};
  MUST(halyard_function_argument(function, 0, &argument));
  CHECK(argument.kind == HALYARD_ARGUMENT_BUFFER && argument.size == 8 && argument.offset == 0);
  CHECK(strcmp(argument.value_kind, "global_buffer") == 0);
  MUST(halyard_function_argument(function, 3, &argument));
  CHECK(argument.kind == HALYARD_ARGUMENT_VALUE && argument.size == 4 && argument.offset == 24);
  REFUSED(halyard_function_argument(function, 4, &argument), OUT_OF_RANGE, "argument 4");
  for (uint32_t i = 0; i < shape.hidden_count; ++i) {
    MUST(halyard_function_hidden_argument(function, i, &argument));
    CHECK(argument.kind >= HALYARD_ARGUMENT_FIRST_HIDDEN);
  }
  halyard_executable_release(executable);

  executable = load("global.hipfb");
  halyard_global_info global = {.struct_size = sizeof global};
  MUST(halyard_executable_global(executable, "global_input", &global));
  CHECK(global.size == 16 && global.device_address != 0);
  REFUSED(halyard_executable_global(executable, "nosuch", &global), NOT_FOUND, "nosuch");
  halyard_executable_release(executable);
}

/* out[i] = a[i] + b[i], in three ways of giving the arguments. */
static void test_dispatch(void) {
  enum { kCount = 1000 };
  halyard_executable* executable = load("vadd_c_v6.hipfb");
  halyard_function* function = find(executable, "vadd");
  halyard_executable_retain(executable);
  halyard_executable_release(executable);
  float a[kCount], b[kCount];
  for (int i = 0; i < kCount; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f;
  }
  halyard_buffer* inputs = allocate(2 * sizeof a, HALYARD_MEMORY_DEVICE);
  halyard_buffer* out = allocate(sizeof a, HALYARD_MEMORY_HOST);
  MUST(halyard_queue_update(queue, halyard_part(inputs, 0, sizeof a), a, sizeof a, NULL));
  MUST(halyard_queue_update(queue, halyard_part(inputs, sizeof a, sizeof b), b, sizeof b, NULL));
  const uint32_t n = kCount;
  halyard_argument arguments[4] = {
      halyard_buffer_argument(halyard_part(inputs, 0, sizeof a)),
      halyard_address(halyard_buffer_device_address(inputs) + sizeof a),
      halyard_buffer_argument(halyard_whole(out)),
      halyard_value(&n, sizeof n),
  };
  halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                               .function = function,
                               .grid = {kCount, 1, 1},
                               .workgroup = {256, 1, 1},
                               .arguments = arguments,
                               .argument_count = 4};
  MUST(halyard_queue_dispatch(queue, &dispatch, signal_next()));
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
  const float* sums = (const float*)(const void*)words_of(out);
  for (int i = 0; i < kCount; ++i) {
    if (!CHECK(sums[i] == (float)i + 0.5f)) break;
  }

  /* The same, with the number of groups from memory. */
  memset((void*)(uintptr_t)sums, 0, sizeof a);
  const uint32_t groups[3] = {4, 1, 1};
  halyard_buffer* counts = allocate(sizeof groups, HALYARD_MEMORY_DEVICE);
  MUST(halyard_queue_update(queue, halyard_whole(counts), groups, sizeof groups, NULL));
  MUST(halyard_queue_dispatch_indirect(queue, &dispatch, halyard_whole(counts), NULL));
  finish();
  CHECK(sums[0] == 0.5f && sums[kCount - 1] == (float)(kCount - 1) + 0.5f);

  /* What does not fit the kernel. */
  dispatch.argument_count = 3;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "vadd");
  dispatch.argument_count = 4;
  const uint64_t wide = kCount;
  arguments[3] = halyard_value(&wide, sizeof wide);
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "8");
  arguments[3] = halyard_value(NULL, 4);
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "no value (null)");
  arguments[3] = halyard_value(&n, sizeof n);
  arguments[0].kind = HALYARD_ARGUMENT_UNSUPPORTED;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "kind (3)");
  arguments[0] = halyard_buffer_argument(halyard_whole(NULL));
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "");
  dispatch.function = NULL;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "no function (null)");
  REFUSED(halyard_queue_dispatch(queue, NULL, NULL), INVALID_ARGUMENT, "no dispatch (null)");
  dispatch.struct_size = 1;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "struct_size (1)");
  OK(halyard_queue_fault(queue));
  halyard_buffer_release(counts);
  halyard_buffer_release(out);
  halyard_buffer_release(inputs);
  halyard_executable_release(executable);
}

static void test_dynamic_lds(void) {
  halyard_executable* executable = load("dynamic_lds_cl.hipfb");
  enum { kGroup = 64 };
  halyard_buffer* in = allocate(kGroup * 4, HALYARD_MEMORY_HOST);
  halyard_buffer* out = allocate(kGroup * 4, HALYARD_MEMORY_HOST);
  uint32_t* values = words_of(in);
  for (uint32_t i = 0; i < kGroup; ++i) values[i] = i;
  const halyard_argument arguments[4] = {
      halyard_buffer_argument(halyard_whole(in)), halyard_buffer_argument(halyard_whole(out)),
      halyard_dynamic_lds(kGroup * 4), halyard_dynamic_lds(kGroup * 8)};
  const halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                                     .function = find(executable, "dynamic_lds"),
                                     .grid = {kGroup, 1, 1},
                                     .workgroup = {kGroup, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 4};
  MUST(halyard_queue_dispatch(queue, &dispatch, NULL));
  finish();
  const uint32_t* result = words_of(out);
  CHECK(result[0] == 63 + 62 && result[10] == 53 + 52 && result[63] == 0 + 63);
  halyard_buffer_release(in);
  halyard_buffer_release(out);
  halyard_executable_release(executable);
}

static void test_copies_and_files(void) {
  halyard_buffer* source = allocate(256, HALYARD_MEMORY_HOST);
  halyard_buffer* target = allocate(256, HALYARD_MEMORY_HOST);
  uint32_t* from = words_of(source);
  uint32_t* to = words_of(target);
  for (uint32_t i = 0; i < 64; ++i) from[i] = i;
  memset(to, 0, 256);
  MUST(halyard_queue_copy(queue, halyard_part(source, 16, 32), halyard_part(target, 0, 32), NULL));
  finish();
  CHECK(to[0] == 4 && to[7] == 11 && to[8] == 0);

  /* 3 rows of 2 words, of 8 words apart, to rows without gaps. */
  memset(to, 0, 256);
  const halyard_rectangle shape = {
      .struct_size = sizeof shape, .row_bytes = 8, .rows = 3, .source_row_pitch = 32};
  MUST(halyard_queue_copy_rectangle(queue, halyard_whole(source), halyard_whole(target), &shape,
                                    NULL));
  finish();
  const uint32_t expected[] = {0, 1, 8, 9, 16, 17, 0};
  CHECK(memcmp(to, expected, sizeof expected) == 0);
  REFUSED(
      halyard_queue_copy_rectangle(queue, halyard_whole(source), halyard_whole(target), NULL, NULL),
      INVALID_ARGUMENT, "no shape (null)");

  char path[] = "/tmp/halyard_c_test_XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  unlink(path);
  MUST(halyard_queue_write(queue, halyard_part(source, 0, 64), (halyard_file_range){file, 100},
                           NULL));
  MUST(
      halyard_queue_read(queue, (halyard_file_range){file, 104}, halyard_part(target, 0, 8), NULL));
  finish();
  CHECK(to[0] == 1 && to[1] == 2);
  close(file);
  halyard_buffer_release(source);
  halyard_buffer_release(target);
}

static void test_pool(void) {
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
  REFUSED(halyard_queue_fill(queue, halyard_whole(buffer), "", 1, NULL), FAILED_PRECONDITION, "");
  finish();
  halyard_buffer_release(buffer);
  MUST(halyard_device_trim_pool(device, HALYARD_MEMORY_HOST, 0));
  MUST(halyard_device_pool_statistics(device, HALYARD_MEMORY_HOST, &after));
  CHECK(after.used_bytes == before.used_bytes);
  REFUSED(halyard_device_trim_pool(device, (halyard_memory_type)9, 0), INVALID_ARGUMENT,
          "memory type (9)");
}

static void test_command_buffers(void) {
  halyard_command_buffer* commands = NULL;
  MUST(halyard_device_create_command_buffer(device, &commands));
  halyard_buffer* fixed = allocate(64, HALYARD_MEMORY_HOST);
  halyard_buffer* bound = allocate(4096, HALYARD_MEMORY_HOST);
  const uint32_t five = 5, n = 8;
  halyard_executable* executable = load("busy.hipfb");
  const uint32_t three = 3, one = 1;
  halyard_range slot = halyard_slot(0);
  slot.length = 32;
  MUST(halyard_command_buffer_begin_debug_group(commands, "group"));
  REFUSED(halyard_command_buffer_finish(commands), FAILED_PRECONDITION, "");
  MUST(halyard_command_buffer_end_debug_group(commands));
  MUST(halyard_command_buffer_fill(commands, slot, &five, 4));
  MUST(halyard_command_buffer_barrier(commands));
  const halyard_argument arguments[4] = {halyard_buffer_argument(slot), halyard_value(&n, 4),
                                         halyard_value(&three, 4), halyard_value(&one, 4)};
  halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                               .function = find(executable, "affine"),
                               .grid = {64, 1, 1},
                               .workgroup = {64, 1, 1},
                               .arguments = arguments,
                               .argument_count = 4};
  MUST(halyard_command_buffer_dispatch(commands, &dispatch));
  MUST(halyard_command_buffer_barrier(commands));
  const uint32_t groups[3] = {1, 1, 1};
  MUST(halyard_command_buffer_update(commands, halyard_part(fixed, 0, 12), groups, 12));
  MUST(halyard_command_buffer_barrier(commands));
  MUST(halyard_command_buffer_dispatch_indirect(commands, &dispatch, halyard_part(fixed, 0, 12)));
  MUST(halyard_command_buffer_barrier(commands));
  MUST(halyard_command_buffer_copy(commands, slot, halyard_part(fixed, 32, 32)));
  const halyard_rectangle shape = {.struct_size = sizeof shape, .row_bytes = 4};
  MUST(halyard_command_buffer_copy_rectangle(commands, slot, halyard_part(fixed, 16, 4), &shape));
  CHECK(!halyard_command_buffer_finished(commands));
  MUST(halyard_command_buffer_finish(commands));
  CHECK(halyard_command_buffer_finished(commands));
  CHECK(halyard_command_buffer_binding_count(commands) == 1);
  CHECK(halyard_command_buffer_binding_bytes(commands, 0) == 32);
  REFUSED(halyard_command_buffer_barrier(commands), FAILED_PRECONDITION, "");

  REFUSED(halyard_queue_execute(queue, commands, NULL, 0, NULL), INVALID_ARGUMENT, "");
  REFUSED(halyard_queue_execute(queue, commands, NULL, 1, NULL), INVALID_ARGUMENT, "1 bindings");
  halyard_executable_release(executable); /* the recording keeps it */
  for (int round = 0; round < 2; ++round) {
    const halyard_range binding = halyard_part(bound, (uint64_t)round * 1024, 1024);
    MUST(halyard_queue_execute(queue, commands, &binding, 1, NULL));
  }
  halyard_command_buffer_retain(commands);
  halyard_command_buffer_release(commands);
  halyard_command_buffer_release(commands);
  finish();
  const uint32_t* words = words_of(bound);
  const uint32_t* copied = words_of(fixed);
  CHECK(words[0] == 49 && words[7] == 49 && words[256] == 49); /* (5 × 3 + 1) × 3 + 1 */
  CHECK(copied[8] == 49 && copied[15] == 49 && copied[4] == 49);
  halyard_buffer_release(fixed);
  halyard_buffer_release(bound);
}

static void test_semaphores(void) {
  halyard_semaphore *a, *b;
  MUST(halyard_device_create_semaphore(device, 3, &a));
  MUST(halyard_device_create_semaphore(device, 0, &b));
  uint64_t value = 0;
  MUST(halyard_semaphore_query(a, &value));
  CHECK(value == 3);
  REFUSED(halyard_semaphore_signal(a, 3), INVALID_ARGUMENT, "3");
  REFUSED(halyard_semaphore_wait(a, 4, HALYARD_POLL), DEADLINE_EXCEEDED, "");
  REFUSED(halyard_semaphore_wait(a, 4, halyard_deadline_after(1000000)), DEADLINE_EXCEEDED, "");
  MUST(halyard_semaphore_signal(a, 5));
  MUST(halyard_semaphore_wait(a, 4, HALYARD_FOREVER));

  const halyard_point points[2] = {{b, 1}, {a, 5}};
  size_t index = 99;
  MUST(halyard_device_wait(device, points, 2, HALYARD_WAIT_ANY, HALYARD_FOREVER, &index));
  CHECK(index == 1);
  REFUSED(halyard_device_wait(device, points, 2, HALYARD_WAIT_ALL, HALYARD_POLL, NULL),
          DEADLINE_EXCEEDED, "");
  REFUSED(halyard_device_wait(device, NULL, 1, HALYARD_WAIT_ALL, HALYARD_POLL, NULL),
          INVALID_ARGUMENT, "1 points at no address");
  REFUSED(halyard_device_wait(device, points, 2, (halyard_wait_mode)5, HALYARD_POLL, NULL),
          INVALID_ARGUMENT, "mode (5)");
  REFUSED(halyard_semaphore_fail(b, HALYARD_OK, "x"), INVALID_ARGUMENT, "code (0)");
  MUST(halyard_semaphore_fail(b, HALYARD_ABORTED, "The host gives it up."));
  REFUSED(halyard_semaphore_wait(b, 1, HALYARD_FOREVER), ABORTED, "The host gives it up.");
  REFUSED(halyard_device_wait(device, points, 2, HALYARD_WAIT_ALL, HALYARD_FOREVER, NULL), ABORTED,
          "gives it up");

  /* Work that waits for the host. */
  halyard_semaphore* gate;
  MUST(halyard_device_create_semaphore(device, 0, &gate));
  const halyard_point wait = {gate, 1}, signal = {a, 6};
  const halyard_sync sync = {&wait, 1, &signal, 1};
  MUST(halyard_queue_barrier(queue, &sync));
  REFUSED(halyard_semaphore_wait(a, 6, HALYARD_POLL), DEADLINE_EXCEEDED, "");
  MUST(halyard_semaphore_signal(gate, 1));
  MUST(halyard_semaphore_wait(a, 6, HALYARD_FOREVER));
  halyard_semaphore_retain(a);
  halyard_semaphore_release(a);
  halyard_semaphore_release(a);
  halyard_semaphore_release(b);
  halyard_semaphore_release(gate);
}

static halyard_error* count_call(void* context) {
  ++*(int*)context;
  return NULL;
}

static halyard_error* failing_call(void* context) {
  (void)context;
  return halyard_error_create(HALYARD_DATA_LOSS, "The host's file is torn.");
}

static void complete_at_once(void* context, halyard_completion* completion) {
  halyard_completion_complete(
      completion, context != NULL ? halyard_error_create(HALYARD_ABORTED, context) : NULL);
}

static void* complete_later(void* completion) {
  halyard_completion_complete(completion, NULL);
  return NULL;
}

static void hand_over(void* context, halyard_completion* completion) {
  if (pthread_create(context, NULL, &complete_later, completion) != 0) abort();
}

static void test_host_calls(void) {
  int calls = 0;
  MUST(halyard_queue_host_call(queue, &count_call, &calls, NULL));
  MUST(halyard_queue_host_call(queue, &count_call, &calls, NULL));
  finish();
  CHECK(calls == 2);
  REFUSED(halyard_queue_host_call(queue, NULL, NULL, NULL), INVALID_ARGUMENT, "no function (null)");
  REFUSED(halyard_queue_host_call_deferred(queue, NULL, NULL, NULL), INVALID_ARGUMENT,
          "no function (null)");
  halyard_semaphore* semaphore;
  MUST(halyard_device_create_semaphore(device, 0, &semaphore));
  const halyard_point point = {semaphore, 1};
  const halyard_sync signal = {.signal = &point, .signal_count = 1};
  MUST(halyard_queue_host_call(queue, &failing_call, NULL, &signal));
  REFUSED(halyard_semaphore_wait(semaphore, 1, HALYARD_FOREVER), DATA_LOSS,
          "The host function of halyard_queue_host_call fails: The host's file is torn.");
  /* A call whose wait has failed is not made, and nothing of it is left behind. */
  const halyard_sync wait = {.wait = &point, .wait_count = 1};
  OK(halyard_queue_host_call(queue, &count_call, &calls, &wait));
  finish();
  CHECK(calls == 2);
  halyard_semaphore_release(semaphore);

  MUST(halyard_queue_host_call_deferred(queue, &complete_at_once, NULL, NULL));
  pthread_t thread;
  MUST(halyard_queue_host_call_deferred(queue, &hand_over, &thread, NULL));
  finish();
  pthread_join(thread, NULL);
  MUST(halyard_device_create_semaphore(device, 0, &semaphore));
  const halyard_point failed = {semaphore, 1};
  const halyard_sync sync = {.signal = &failed, .signal_count = 1};
  char words[] = "The thread gives up.";
  MUST(halyard_queue_host_call_deferred(queue, &complete_at_once, words, &sync));
  REFUSED(halyard_semaphore_wait(semaphore, 1, HALYARD_FOREVER), ABORTED, words);
  halyard_semaphore_release(semaphore);
  halyard_completion_complete(NULL, halyard_error_create(HALYARD_ABORTED, "")); /* freed */
}

struct profile {
  int vadds;
  bool ordered;
  uint64_t last;
};

static void note_event(void* context, const halyard_profile_event* event) {
  struct profile* profile = context;
  if (strcmp(event->name, "affine") == 0) ++profile->vadds;
  if (event->struct_size != sizeof *event || event->end_ns < event->begin_ns) {
    profile->ordered = false;
  }
}

static void test_profile(void) {
  halyard_executable* executable = load("busy.hipfb");
  halyard_buffer* data = allocate(256, HALYARD_MEMORY_DEVICE);
  const uint32_t n = 64;
  const halyard_argument arguments[4] = {halyard_buffer_argument(halyard_whole(data)),
                                         halyard_value(&n, 4), halyard_value(&n, 4),
                                         halyard_value(&n, 4)};
  const halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                                     .function = find(executable, "affine"),
                                     .grid = {64, 1, 1},
                                     .workgroup = {64, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 4};
  MUST(halyard_device_begin_profile(device));
  for (int i = 0; i < 3; ++i) MUST(halyard_queue_dispatch(queue, &dispatch, NULL));
  struct profile profile = {0, true, 0};
  REFUSED(halyard_device_end_profile(device, NULL, NULL), INVALID_ARGUMENT, "no sink (null)");
  MUST(halyard_device_end_profile(device, &note_event, &profile));
  CHECK(profile.vadds == 3 && profile.ordered);
  halyard_buffer_release(data);
  halyard_executable_release(executable);
}

static void test_queues(void) {
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
    REFUSED(halyard_device_import_queue(device, &info, &imported), FAILED_PRECONDITION, "");
  }
  /* Work that is given up. */
  halyard_semaphore *gate, *end;
  MUST(halyard_device_create_semaphore(device, 0, &gate));
  MUST(halyard_device_create_semaphore(device, 0, &end));
  const halyard_point wait = {gate, 1}, signal = {end, 1};
  const halyard_sync sync = {&wait, 1, &signal, 1};
  MUST(halyard_queue_barrier(own, &sync));
  MUST(halyard_queue_abandon(own));
  REFUSED(halyard_semaphore_wait(end, 1, HALYARD_FOREVER), CANCELLED, "");
  REFUSED(halyard_queue_fault(own), CANCELLED, "");
  OK(halyard_device_fault(device));
  halyard_queue_retain(own);
  halyard_queue_release(own);
  halyard_queue_release(own);
  halyard_semaphore_release(gate);
  halyard_semaphore_release(end);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s DEVICE PROFILE KERNELS\n", argv[0]);
    return 2;
  }
  device_uri = argv[1];
  kernels = argv[3];
  test_errors();
  char* library = NULL;
  CHECK(!halyard_virtual_gpu_loaded());
  MUST(halyard_virtual_gpu_library(&library));
  CHECK(strcmp(library, "") == 0);
  halyard_text_free(library);
  REFUSED(halyard_check_with_virtual_gpu(NULL, NULL), FAILED_PRECONDITION, "");
  REFUSED(halyard_load_virtual_gpu("nosuchprofile", NULL), INVALID_ARGUMENT, "nosuchprofile");
  MUST(halyard_load_virtual_gpu(argv[2], NULL));
  MUST(halyard_load_virtual_gpu(argv[2], NULL));
  CHECK(halyard_virtual_gpu_loaded());
  MUST(halyard_virtual_gpu_library(&library));
  CHECK(strstr(library, "libhalyard-kfd.so") != NULL);
  halyard_text_free(library);
  REFUSED(halyard_check_with_virtual_gpu("nosuchcheck", NULL), INVALID_ARGUMENT, "nosuchcheck");

  MUST(halyard_registry_create(NULL, &registry));
  halyard_load_report* report = NULL;
  MUST(halyard_registry_report(registry, HALYARD_REPORT_SO_FAR, 0, &report));
  CHECK(halyard_load_report_candidate_count(report) >= 2);
  halyard_load_report_release(report);
  MUST(halyard_registry_open_device(registry, device_uri, NULL, 0, &device));
  MUST(halyard_device_create_queue(device, NULL, &queue));
  MUST(halyard_device_create_semaphore(device, 0, &done));

  test_bad_handles();
  test_struct_sizes();
  test_registry();
  test_registry_options();
  test_logical_device();
  test_device();
  test_buffers();
  test_modules();
  test_dispatch();
  test_dynamic_lds();
  test_copies_and_files();
  test_pool();
  test_command_buffers();
  test_semaphores();
  test_host_calls();
  test_profile();
  test_queues();

  halyard_semaphore_release(done);
  halyard_queue_release(queue);
  halyard_device_retain(device);
  halyard_device_release(device);
  halyard_device_release(device);
  halyard_registry_retain(registry);
  halyard_registry_release(registry);
  halyard_registry_release(registry);
  if (failures == 0) printf("all checks hold\n");
  return failures == 0 ? 0 : 1;
}
