/* What the tests of the C interface share: checks, and one device with a queue. A program includes
 * it once. */
#ifndef HALYARD_BINDINGS_C_TESTS_CHECK_H
#define HALYARD_BINDINGS_C_TESTS_CHECK_H

#include <halyard/halyard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static inline void fail(int line, const char* what) {
  fprintf(stderr, "%s:%d: %s\n", __BASE_FILE__, line, what);
  ++failures;
}

static inline bool is_true(int line, bool holds, const char* what) {
  if (!holds) fail(line, what);
  return holds;
}
#define CHECK(expression) is_true(__LINE__, (expression), #expression)

static inline bool is_ok(int line, halyard_error* error) {
  if (error == NULL) return true;
  fprintf(stderr, "%s:%d: %s: %s\n", __BASE_FILE__, line,
          halyard_code_name(halyard_error_code(error)), halyard_error_message(error));
  halyard_error_free(error);
  ++failures;
  return false;
}
#define OK(call) is_ok(__LINE__, (call))
/* For what nothing works without. */
#define MUST(call)          \
  do {                      \
    if (!OK(call)) exit(1); \
  } while (0)

static inline void is_refused(int line, halyard_error* error, halyard_code code,
                              const char* words) {
  if (error == NULL) {
    fail(line, "No error.");
    return;
  }
  if (halyard_error_code(error) != code || strstr(halyard_error_message(error), words) == NULL) {
    fprintf(stderr, "%s:%d: %s: %s\n  expected %s: …%s…\n", __BASE_FILE__, line,
            halyard_code_name(halyard_error_code(error)), halyard_error_message(error),
            halyard_code_name(code), words);
    ++failures;
  }
  halyard_error_free(error);
}
#define REFUSED(call, code, words) is_refused(__LINE__, (call), HALYARD_##code, words)

/* What all tests share. */
static const char* device_uri;
static const char* kernels;
static halyard_registry* registry;
static halyard_device* device;
static halyard_queue* queue;
static halyard_semaphore* done;
static uint64_t reached = 0; /* of `done` */

static inline halyard_executable* load(const char* file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", kernels, file);
  halyard_module* module = NULL;
  MUST(halyard_module_open(path, NULL, &module));
  halyard_executable* executable = NULL;
  MUST(halyard_device_load_module(device, module, &executable));
  halyard_module_release(module);
  return executable;
}

static inline halyard_function* find(halyard_executable* executable, const char* name) {
  halyard_function* function = NULL;
  MUST(halyard_executable_find(executable, name, &function));
  return function;
}

static inline halyard_buffer* allocate(uint64_t size, halyard_memory_type type) {
  const halyard_buffer_options options = {.struct_size = sizeof options, .type = type};
  halyard_buffer* buffer = NULL;
  MUST(halyard_device_allocate(device, size, &options, &buffer));
  return buffer;
}

/* The next point of `done`, to be signalled, as a sync. */
static halyard_point next_point;
static inline const halyard_sync* signal_next(void) {
  static halyard_sync sync;
  next_point.semaphore = done;
  next_point.value = ++reached;
  sync.wait = NULL;
  sync.wait_count = 0;
  sync.signal = &next_point;
  sync.signal_count = 1;
  return &sync;
}

/* Waits for all that was submitted to `queue`. */
static inline void finish(void) {
  MUST(halyard_queue_barrier(queue, signal_next()));
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
}

/* The words of a buffer of host memory. */
static inline uint32_t* words_of(halyard_buffer* buffer) {
  void* pointer = NULL;
  MUST(halyard_buffer_map(buffer, 0, HALYARD_TO_END, HALYARD_MAP_READ_WRITE, &pointer));
  return pointer;
}

#endif
