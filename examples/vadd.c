/* Adds two vectors on a GPU, from C: open a device, load a file with kernels, launch one, read the
 * result.
 *
 *   vadd cts/kernels/vadd_c_v6.hipfb                  on the first AMD GPU
 *   vadd cts/kernels/vadd_c_v6.hipfb amdgpu gfx90a    on a virtual one */
#include <halyard/halyard.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1000 };

static void must(halyard_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", halyard_error_message(error));
  halyard_error_free(error);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s MODULE [DEVICE [PROFILE]]\n", argv[0]);
    return 2;
  }
  halyard_registry* registry;
  halyard_device* device;
  halyard_module* module;
  halyard_executable* executable;
  halyard_function* vadd;
  halyard_queue* queue;
  halyard_semaphore* done;
  if (argc > 3) must(halyard_load_virtual_gpu(argv[3], NULL));
  must(halyard_registry_default(&registry));
  must(halyard_registry_open_device(registry, argc > 2 ? argv[2] : "amdgpu", NULL, 0, &device));
  must(halyard_module_open(argv[1], NULL, &module));
  must(halyard_device_load_module(device, module, &executable));
  must(halyard_executable_find(executable, "vadd", &vadd));
  must(halyard_device_create_queue(device, NULL, &queue));
  must(halyard_device_create_semaphore(device, 0, &done));

  float ones[kCount], numbers[kCount];
  for (int i = 0; i < kCount; ++i) {
    ones[i] = 1;
    numbers[i] = (float)i;
  }
  const halyard_buffer_options host = {.struct_size = sizeof host, .type = HALYARD_MEMORY_HOST};
  halyard_buffer *a, *b, *out;
  must(halyard_device_allocate(device, sizeof ones, NULL, &a)); /* the device's memory */
  must(halyard_device_allocate(device, sizeof ones, NULL, &b));
  must(halyard_device_allocate(device, sizeof ones, &host,
                               &out)); /* the host's, which the device sees */
  must(halyard_queue_update(queue, halyard_whole(a), ones, sizeof ones, NULL));
  must(halyard_queue_update(queue, halyard_whole(b), numbers, sizeof numbers, NULL));

  const uint32_t n = kCount;
  const halyard_argument arguments[] = {
      halyard_buffer_argument(halyard_whole(a)), halyard_buffer_argument(halyard_whole(b)),
      halyard_buffer_argument(halyard_whole(out)), halyard_value(&n, sizeof n)};
  const halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                                     .function = vadd,
                                     .grid = {kCount, 1, 1}, /* work-items */
                                     .workgroup = {256, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 4};
  const halyard_point end = {done, 1};
  const halyard_sync sync = {NULL, 0, &end, 1}; /* a queue is in order: nothing to wait for */
  must(halyard_queue_dispatch(queue, &dispatch, &sync));
  must(halyard_semaphore_wait(done, 1, HALYARD_FOREVER));

  void* mapped;
  must(halyard_buffer_map(out, 0, HALYARD_TO_END, HALYARD_MAP_READ, &mapped));
  const float* const sums = mapped;
  halyard_device_info info = {.struct_size = sizeof info};
  must(halyard_device_get_info(device, &info));
  printf("%s: %g %g %g … %g\n", info.name, sums[0], sums[1], sums[2], sums[kCount - 1]);
  must(halyard_buffer_unmap(out, mapped));

  halyard_buffer_release(out);
  halyard_buffer_release(b);
  halyard_buffer_release(a);
  halyard_semaphore_release(done);
  halyard_queue_release(queue);
  halyard_executable_release(executable);
  halyard_module_release(module);
  halyard_device_release(device);
  halyard_registry_release(registry);
  return 0;
}
