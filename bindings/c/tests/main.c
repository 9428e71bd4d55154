/* The C interface, from C11, on one device:
 *
 *   halyard_c_test DEVICE PROFILE KERNELS      such as: amdgpu gfx90a cts/kernels
 *
 * Prints each check that fails and exits with 1 if there is one. */
#include <halyard/halyard.h>
#include <stdio.h>

#include "check.h"
#include "tests.h"

int failures = 0;

static void open_device(void) {
  MUST(halyard_registry_create(NULL, &registry));
  halyard_load_report* report = NULL;
  MUST(halyard_registry_report(registry, HALYARD_REPORT_SO_FAR, 0, &report));
  CHECK(halyard_load_report_candidate_count(report) >= 2);
  halyard_load_report_release(report);
  MUST(halyard_registry_open_device(registry, device_uri, NULL, 0, &device));
  MUST(halyard_device_create_queue(device, NULL, &queue));
  MUST(halyard_device_create_semaphore(device, 0, &done));
}

static void close_device(void) {
  halyard_semaphore_release(done);
  halyard_queue_release(queue);
  halyard_device_retain(device);
  halyard_device_release(device);
  halyard_device_release(device);
  halyard_registry_retain(registry);
  halyard_registry_release(registry);
  halyard_registry_release(registry);
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    fprintf(stderr, "usage: %s DEVICE PROFILE KERNELS\n", argv[0]);
    return 2;
  }
  device_uri = argv[1];
  kernels = argv[3];
  test_virtual_gpu(argv[2]);
  open_device();
  if (argc == 5) {
    be_the_other(argv[4]);
  } else {
    test_errors();
    test_bad_handles();
    test_struct_sizes();
    test_registry();
    test_registry_options();
    test_logical_device();
    test_device();
    test_clocks();
    test_buffers();
    test_import_release();
    test_find_allocation();
    test_fork();
    test_modules();
    test_residency();
    test_dispatch();
    test_pointers();
    test_dynamic_lds();
    test_copies_and_files();
    test_pool();
    test_memory_pools();
    test_command_buffers();
    test_semaphores();
    test_shared_semaphores(argv);
    test_host_calls();
    test_profile();
    test_profile_facts();
    test_queues();
  }
  close_device();
  if (failures == 0 && argc == 4) printf("all checks hold\n");
  return failures == 0 ? 0 : 1;
}
