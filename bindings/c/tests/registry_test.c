/* The virtual GPU, drivers, load reports, and devices of several GPUs. */
#include <halyard/halyard.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests.h"

/* Before anything has opened a device. */
void test_virtual_gpu(const char* profile) {
  char* library = NULL;
  CHECK(!halyard_virtual_gpu_loaded());
  MUST(halyard_virtual_gpu_library(&library));
  CHECK(strcmp(library, "") == 0);
  halyard_text_free(library);
  REFUSED(halyard_check_with_virtual_gpu(NULL, NULL), FAILED_PRECONDITION, "load_virtual_gpu");
  REFUSED(halyard_load_virtual_gpu("nosuchprofile", NULL), INVALID_ARGUMENT, "nosuchprofile");
  MUST(halyard_load_virtual_gpu(profile, NULL));
  MUST(halyard_load_virtual_gpu(profile, NULL));
  CHECK(halyard_virtual_gpu_loaded());
  MUST(halyard_virtual_gpu_library(&library));
  CHECK(strstr(library, "libhalyard-kfd.so") != NULL);
  halyard_text_free(library);
  REFUSED(halyard_check_with_virtual_gpu("nosuchcheck", NULL), INVALID_ARGUMENT, "nosuchcheck");
}

void test_registry(void) {
  halyard_device* none = NULL;
  REFUSED(halyard_registry_open_device(registry, "nosuchdriver", NULL, 0, &none), NOT_FOUND,
          "nosuchdriver");
  REFUSED(halyard_registry_open_device(registry, "a b", NULL, 0, &none), INVALID_ARGUMENT,
          "The device URI (a b) is malformed");
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
          OUT_OF_RANGE, "halyard_driver_device is given device");
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
  REFUSED(halyard_registry_driver_at(registry, count, &driver), OUT_OF_RANGE, "is given driver");

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

void test_registry_options(void) {
  const char* const uris[] = {device_uri, device_uri};
  const halyard_named_device named = {"twice", uris, 2};
  const char* const disabled[] = {"host_memory"};
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
  REFUSED(halyard_registry_open_device(own, "twice", NULL, 0, devices), INVALID_ARGUMENT,
          "twice. Leave one of them out");
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
  REFUSED(halyard_registry_open_device(own, "amdgpu", NULL, 0, devices), NOT_FOUND,
          "There is no driver (amdgpu)");
  halyard_registry_release(own);
}

/* All of the driver's GPUs as one device; with one GPU that is the GPU itself. */
void test_logical_device(void) {
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
  REFUSED(halyard_driver_open_logical_device(driver, NULL, 0, NULL, 0, &all), INVALID_ARGUMENT,
          "Driver::create_logical_device is given no GPU");
  REFUSED(halyard_driver_open_logical_device(driver, NULL, 1, NULL, 0, &all), INVALID_ARGUMENT,
          "1 ordinals at no address");
  MUST(halyard_driver_open_logical_device(driver, ordinals, count < 2 ? count : 2, NULL, 0, &all));
  halyard_driver_release(driver);
  CHECK(halyard_device_gpu_count(all) == count && halyard_device_gpu_count(NULL) == 0);
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(all, &info));
  CHECK(info.gpu_count == count && info.pci_address != NULL);
  halyard_device* gpu = NULL;
  REFUSED(halyard_device_gpu(all, count, &gpu), OUT_OF_RANGE, "is given GPU");
  MUST(halyard_device_gpu(all, count - 1, &gpu));
  CHECK(halyard_device_gpu_count(gpu) == 1);

  /* The last GPU fills its own memory, and that of the first where the two are let in. */
  const halyard_queue_options on_last = {.struct_size = sizeof on_last, .gpu = (uint32_t)count - 1};
  halyard_queue* last = NULL;
  MUST(halyard_device_create_queue(all, &on_last, &last));
  const halyard_queue_options nowhere = {.struct_size = sizeof nowhere, .gpu = 99};
  halyard_queue* none = NULL;
  REFUSED(halyard_device_create_queue(all, &nowhere, &none), OUT_OF_RANGE, "is given GPU 99");
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
  REFUSED(halyard_executable_on_gpu(executable, count, &part), OUT_OF_RANGE, "is given GPU");
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
