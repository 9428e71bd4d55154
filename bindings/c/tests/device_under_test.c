/* What the tests do with the device under test. */
#include <halyard/halyard.h>
#include <stdio.h>

#include "check.h"
#include "tests.h"

const char* device_uri;
const char* kernels;
halyard_registry* registry;
halyard_device* device;
halyard_queue* queue;
halyard_semaphore* done;
uint64_t reached = 0;

halyard_executable* load(const char* file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", kernels, file);
  halyard_module* module = NULL;
  MUST(halyard_module_open(path, NULL, &module));
  halyard_executable* executable = NULL;
  MUST(halyard_device_load_module(device, module, &executable));
  halyard_module_release(module);
  return executable;
}

halyard_function* find(halyard_executable* executable, const char* name) {
  halyard_function* function = NULL;
  MUST(halyard_executable_find(executable, name, &function));
  return function;
}

halyard_buffer* allocate(uint64_t size, halyard_memory_type type) {
  const halyard_buffer_options options = {.struct_size = sizeof options, .type = type};
  halyard_buffer* buffer = NULL;
  MUST(halyard_device_allocate(device, size, &options, &buffer));
  return buffer;
}

const halyard_sync* signal_next(void) {
  static halyard_point next_point;
  static halyard_sync sync;
  next_point.semaphore = done;
  next_point.value = ++reached;
  sync.wait = NULL;
  sync.wait_count = 0;
  sync.signal = &next_point;
  sync.signal_count = 1;
  return &sync;
}

void finish(void) {
  MUST(halyard_queue_barrier(queue, signal_next()));
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
}

uint32_t* words_of(halyard_buffer* buffer) {
  void* pointer = NULL;
  MUST(halyard_buffer_map(buffer, 0, HALYARD_TO_END, HALYARD_MAP_READ_WRITE, &pointer));
  return pointer;
}

void prepare_affine(struct affine* affine, halyard_executable* busy, halyard_range words,
                    uint32_t n, uint32_t factor, uint32_t summand) {
  affine->n = n;
  affine->factor = factor;
  affine->summand = summand;
  affine->arguments[0] = halyard_buffer_argument(words);
  affine->arguments[1] = halyard_value(&affine->n, 4);
  affine->arguments[2] = halyard_value(&affine->factor, 4);
  affine->arguments[3] = halyard_value(&affine->summand, 4);
  affine->dispatch = (halyard_dispatch){.struct_size = sizeof affine->dispatch,
                                        .function = find(busy, "affine"),
                                        .grid = {64, 1, 1},
                                        .workgroup = {64, 1, 1},
                                        .arguments = affine->arguments,
                                        .argument_count = 4};
}
