/* A driver in plain C: the contract (hal/contract/driver.h) and nothing else. Its one device is the
 * host's memory; an operation is done when the call that submits it returns, after the waits. It
 * has no kernels. Of the optional functions it has those for mapping buffers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hal/contract/driver.h"

/* Status. */

typedef struct Failure {
  HalyardStatus status;
  char message[200];
} Failure;

static void free_status(HalyardStatus* status) {
  free(status);
}

static HalyardStatus* failure(int32_t code, const char* message) {
  Failure* made = malloc(sizeof *made);
  if (made == NULL) abort();
  made->status.struct_size = offsetof(Failure, message);
  made->status.code = code;
  made->status.references = 1;
  made->status.destroy = free_status;
  made->status.message_size =
      (uint64_t)snprintf(made->message, sizeof made->message, "%s", message);
  return &made->status;
}

static HalyardStatus* retain_status(HalyardStatus* status) {
  if (status != NULL) __atomic_fetch_add(&status->references, 1, __ATOMIC_RELAXED);
  return status;
}

static void release_status(HalyardStatus* status) {
  if (status == NULL) return;
  if (__atomic_fetch_sub(&status->references, 1, __ATOMIC_ACQ_REL) == 1) status->destroy(status);
}

static HalyardText text(const char* chars) {
  const HalyardText made = {chars, strlen(chars)};
  return made;
}

/* Objects. Every struct below begins with the contract's. */

#define RETAIN(object) __atomic_fetch_add(&(object)->references, 1, __ATOMIC_RELAXED)
#define RELEASE(object)                                                        \
  do {                                                                         \
    if (__atomic_fetch_sub(&(object)->references, 1, __ATOMIC_ACQ_REL) == 1) { \
      if ((object)->host != NULL) (object)->host->destroy((object)->host);     \
      (object)->functions->destroy(object);                                    \
    }                                                                          \
  } while (0)

/* malloc'ed and all 0 but for what every object has; null if there is no memory. */
#define NEW(Type, table)                            \
  {                                                 \
    made = calloc(1, sizeof *made);                 \
    if (made == NULL) return no_memory();           \
    made->object.functions = &(table);              \
    made->object.references = 1;                    \
    made->object.struct_size = sizeof made->object; \
  }

static HalyardStatus* no_memory(void) {
  return failure(HALYARD_ABI_STATUS_RESOURCE_EXHAUSTED, "There is no more host memory.");
}

/* Semaphores: one lock for all. */

typedef struct Semaphore {
  HalyardSemaphore object;
  uint64_t value;         /* under the lock */
  HalyardStatus* failure; /* under the lock */
} Semaphore;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

static void destroy_semaphore(HalyardSemaphore* object) {
  Semaphore* semaphore = (Semaphore*)object;
  release_status(semaphore->failure);
  RELEASE(semaphore->object.device);
  free(semaphore);
}

static HalyardStatus* query(const HalyardSemaphore* object, uint64_t* value) {
  const Semaphore* semaphore = (const Semaphore*)object;
  pthread_mutex_lock(&lock);
  HalyardStatus* status = retain_status(semaphore->failure);
  *value = semaphore->value;
  pthread_mutex_unlock(&lock);
  return status;
}

static HalyardStatus* signal_semaphore(HalyardSemaphore* object, uint64_t value) {
  Semaphore* semaphore = (Semaphore*)object;
  HalyardStatus* status = NULL;
  pthread_mutex_lock(&lock);
  if (semaphore->failure != NULL) {
    status = retain_status(semaphore->failure);
  } else if (value <= semaphore->value) {
    status = failure(HALYARD_ABI_STATUS_INVALID_ARGUMENT, "A semaphore's value only grows.");
  } else {
    semaphore->value = value;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static HalyardStatus* wait_semaphore(const HalyardSemaphore* object, uint64_t value,
                                     uint64_t deadline) {
  const Semaphore* semaphore = (const Semaphore*)object;
  const struct timespec until = {(time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u)};
  HalyardStatus* status = NULL;
  int late = 0;
  pthread_mutex_lock(&lock);
  while (semaphore->value < value && semaphore->failure == NULL && late == 0) {
    late = deadline == UINT64_MAX ? pthread_cond_wait(&changed, &lock)
                                  : pthread_cond_timedwait(&changed, &lock, &until);
  }
  if (semaphore->value < value) {
    status = semaphore->failure != NULL ? retain_status(semaphore->failure)
                                        : failure(HALYARD_ABI_STATUS_DEADLINE_EXCEEDED,
                                                  "The value is not reached in time.");
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static void fail_semaphore(HalyardSemaphore* object, HalyardStatus* cause) {
  Semaphore* semaphore = (Semaphore*)object;
  pthread_mutex_lock(&lock);
  if (semaphore->failure == NULL) semaphore->failure = retain_status(cause);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static const HalyardSemaphoreFunctions semaphore_functions = {
    .struct_size = sizeof(HalyardSemaphoreFunctions),
    .destroy = destroy_semaphore,
    .query = query,
    .signal = signal_semaphore,
    .wait = wait_semaphore,
    .fail = fail_semaphore,
};

static HalyardStatus* create_semaphore(HalyardDevice* device, uint64_t initial_value,
                                       HalyardSemaphore** semaphore) {
  Semaphore* made;
  NEW(Semaphore, semaphore_functions)
  RETAIN(device);
  made->object.device = device;
  made->value = initial_value;
  *semaphore = &made->object;
  return NULL;
}

static HalyardStatus* wait_points(HalyardDevice* device, HalyardPoints points, uint32_t mode,
                                  uint64_t deadline, size_t* index) {
  (void)device;
  if (mode == 0 && points.size != 1) {
    return failure(HALYARD_ABI_STATUS_UNIMPLEMENTED,
                   "The C driver does not wait for any of several.");
  }
  for (size_t i = 0; i < points.size; ++i) {
    HalyardStatus* status =
        wait_semaphore(points.data[i].semaphore, points.data[i].value, deadline);
    if (status != NULL) return status;
  }
  *index = 0;
  return NULL;
}

/* Buffers. */

typedef struct Buffer {
  HalyardBuffer object;
  HalyardBuffer* parent; /* of a view; then the memory is its */
} Buffer;

static char* bytes_of(const HalyardBuffer* buffer, uint64_t offset) {
  return (char*)(uintptr_t)(buffer->device_address + offset);
}

static void destroy_buffer(HalyardBuffer* object) {
  Buffer* buffer = (Buffer*)object;
  if (buffer->parent != NULL) {
    RELEASE(buffer->parent);
  } else {
    free(bytes_of(object, 0));
  }
  RELEASE(buffer->object.device);
  free(buffer);
}

static HalyardStatus* subspan(HalyardBuffer* buffer, uint64_t offset, uint64_t length,
                              HalyardBuffer** view);

static HalyardStatus* map(HalyardBuffer* buffer, uint64_t offset, uint64_t length, uint32_t access,
                          void** pointer) {
  (void)length;
  (void)access;
  *pointer = bytes_of(buffer, offset);
  return NULL;
}

static HalyardStatus* unmap(HalyardBuffer* buffer, void* pointer) {
  (void)buffer;
  (void)pointer;
  return NULL;
}

static const HalyardBufferFunctions buffer_functions = {
    .struct_size = sizeof(HalyardBufferFunctions),
    .destroy = destroy_buffer,
    .subspan = subspan,
    .map = map,
    .unmap = unmap,
};

static HalyardStatus* new_buffer(HalyardDevice* device, uint32_t type, void* memory, uint64_t size,
                                 HalyardBuffer* parent, HalyardBuffer** buffer) {
  Buffer* made;
  NEW(Buffer, buffer_functions)
  RETAIN(device);
  if (parent != NULL) RETAIN(parent);
  made->parent = parent;
  made->object.device = device;
  made->object.size = size;
  made->object.device_address = (uint64_t)(uintptr_t)memory;
  made->object.type = type;
  *buffer = &made->object;
  return NULL;
}

static HalyardStatus* subspan(HalyardBuffer* buffer, uint64_t offset, uint64_t length,
                              HalyardBuffer** view) {
  return new_buffer(buffer->device, buffer->type, bytes_of(buffer, offset), length, buffer, view);
}

static HalyardStatus* allocate(HalyardDevice* device, uint64_t size,
                               const HalyardBufferOptions* options, HalyardBuffer** buffer) {
  void* memory = calloc(1, size);
  if (memory == NULL) return no_memory();
  HalyardStatus* status = new_buffer(device, options->type, memory, size, NULL, buffer);
  if (status != NULL) free(memory);
  return status;
}

/* Queues. */

typedef struct Queue {
  HalyardQueue object;
  int abandoned;
} Queue;

static void destroy_queue(HalyardQueue* object) {
  RELEASE(object->device);
  free(object);
}

static HalyardStatus* fault_of_queue(const HalyardQueue* object) {
  return ((const Queue*)object)->abandoned
             ? failure(HALYARD_ABI_STATUS_CANCELLED, "The queue was abandoned.")
             : NULL;
}

static HalyardStatus* abandon(HalyardQueue* object) {
  ((Queue*)object)->abandoned = 1;
  return NULL;
}

/* Whether the operation may run; if not, its signals have failed. */
static int begin(const HalyardSync* sync) {
  size_t index;
  HalyardStatus* status = wait_points(NULL, sync->wait, 1, UINT64_MAX, &index);
  if (status == NULL) return 1;
  for (size_t i = 0; i < sync->signal.size; ++i) {
    fail_semaphore(sync->signal.data[i].semaphore, status);
  }
  release_status(status);
  return 0;
}

static void end(const HalyardSync* sync) {
  for (size_t i = 0; i < sync->signal.size; ++i) {
    release_status(signal_semaphore(sync->signal.data[i].semaphore, sync->signal.data[i].value));
  }
}

static HalyardStatus* barrier(HalyardQueue* queue, const HalyardSync* sync) {
  HalyardStatus* fault = fault_of_queue(queue);
  if (fault != NULL) return fault;
  if (begin(sync)) end(sync);
  return NULL;
}

static HalyardStatus* fill(HalyardQueue* queue, const HalyardRange* target, const void* pattern,
                           uint32_t pattern_size, const HalyardSync* sync) {
  HalyardStatus* fault = fault_of_queue(queue);
  if (fault != NULL) return fault;
  if (!begin(sync)) return NULL;
  char* at = bytes_of(target->buffer, target->offset);
  for (uint64_t i = 0; i < target->length; i += pattern_size) memcpy(at + i, pattern, pattern_size);
  end(sync);
  return NULL;
}

static HalyardStatus* update(HalyardQueue* queue, const HalyardRange* target, const void* source,
                             uint64_t size, const HalyardSync* sync) {
  HalyardStatus* fault = fault_of_queue(queue);
  if (fault != NULL) return fault;
  if (!begin(sync)) return NULL;
  memcpy(bytes_of(target->buffer, target->offset), source, size);
  end(sync);
  return NULL;
}

static HalyardStatus* copy(HalyardQueue* queue, const HalyardRange* source,
                           const HalyardRange* target, const HalyardSync* sync) {
  return update(queue, target, bytes_of(source->buffer, source->offset), source->length, sync);
}

static HalyardStatus* dispatch(HalyardQueue* queue, const HalyardDispatch* launch,
                               const HalyardSync* sync) {
  (void)queue;
  (void)launch;
  (void)sync;
  return failure(HALYARD_ABI_STATUS_UNIMPLEMENTED, "The C driver runs no kernels.");
}

static const HalyardQueueFunctions queue_functions = {
    .struct_size = sizeof(HalyardQueueFunctions),
    .destroy = destroy_queue,
    .fill = fill,
    .update = update,
    .copy = copy,
    .dispatch = dispatch,
    .barrier = barrier,
    .fault = fault_of_queue,
    .abandon = abandon,
};

static HalyardStatus* create_queue(HalyardDevice* device, const HalyardQueueOptions* options,
                                   HalyardQueue** queue) {
  (void)options;
  Queue* made;
  NEW(Queue, queue_functions)
  RETAIN(device);
  made->object.device = device;
  *queue = &made->object;
  return NULL;
}

/* The device. */

typedef struct Device {
  HalyardDevice object;
  HalyardDriver* driver;
} Device;

static void destroy_device(HalyardDevice* object) {
  Device* device = (Device*)object;
  RELEASE(device->driver);
  free(device);
}

static size_t heap_count(const HalyardDevice* device) {
  (void)device;
  return 1;
}

/* What the host has no room for is not filled in. */
static void give(void* to, const void* from, uint32_t own_size) {
  uint32_t room;
  memcpy(&room, to, sizeof room);
  const uint32_t size = room < own_size ? room : own_size;
  memcpy(to, from, size);
  memcpy(to, &size, sizeof size);
}

static HalyardStatus* heap(const HalyardDevice* device, size_t index, HalyardHeapInfo* info) {
  (void)device;
  (void)index;
  const HalyardHeapInfo own = {sizeof own, HALYARD_ABI_MEMORY_HOST, 1u << 30, 1u << 28, 16};
  give(info, &own, sizeof own);
  return NULL;
}

static HalyardStatus* heap_statistics(const HalyardDevice* device, size_t index,
                                      HalyardHeapStatistics* statistics) {
  (void)device;
  (void)index;
  const HalyardHeapStatistics own = {.struct_size = sizeof own};
  give(statistics, &own, sizeof own);
  return NULL;
}

static HalyardStatus* load_executable(HalyardDevice* device, const void* data, size_t size,
                                      HalyardExecutable** executable) {
  (void)device;
  (void)data;
  (void)size;
  (void)executable;
  return failure(HALYARD_ABI_STATUS_UNIMPLEMENTED, "The C driver runs no kernels.");
}

static HalyardStatus* fault_of_device(const HalyardDevice* device) {
  (void)device;
  return NULL;
}

static const HalyardDeviceFunctions device_functions = {
    .struct_size = sizeof(HalyardDeviceFunctions),
    .destroy = destroy_device,
    .heap_count = heap_count,
    .heap = heap,
    .heap_statistics = heap_statistics,
    .create_queue = create_queue,
    .allocate = allocate,
    .create_semaphore = create_semaphore,
    .wait = wait_points,
    .load_executable = load_executable,
    .fault = fault_of_device,
};

static HalyardDeviceInfo device_info;

/* The driver. */

static void destroy_driver(HalyardDriver* driver) {
  free(driver);
}

static void driver_info(const HalyardDriver* driver, HalyardDriverInfo* info) {
  (void)driver;
  HalyardDriverInfo own = {.struct_size = sizeof own};
  own.name = text("c_driver");
  own.description = text("a driver in plain C");
  give(info, &own, sizeof own);
}

static HalyardStatus* enumerate(HalyardDriver* driver, HalyardDeviceSink sink, void* context) {
  (void)driver;
  HalyardDeviceSummary summary = {.struct_size = sizeof summary};
  summary.name = text("The host's memory");
  summary.target = text("none");
  sink(context, &summary);
  return NULL;
}

static HalyardStatus* create_device(HalyardDriver* driver, uint32_t ordinal, HalyardOptions options,
                                    HalyardDevice** device) {
  if (ordinal != 0) return failure(HALYARD_ABI_STATUS_NOT_FOUND, "The C driver has device 0 only.");
  if (options.size != 0) {
    return failure(HALYARD_ABI_STATUS_INVALID_ARGUMENT, "The C driver knows no device option.");
  }
  Device* made;
  NEW(Device, device_functions)
  RETAIN(driver);
  made->driver = driver;
  made->object.info = &device_info;
  *device = &made->object;
  return NULL;
}

static const HalyardDriverFunctions driver_functions = {
    .struct_size = sizeof(HalyardDriverFunctions),
    .destroy = destroy_driver,
    .info = driver_info,
    .enumerate = enumerate,
    .create_device = create_device,
};

typedef struct Driver {
  HalyardDriver object;
} Driver;

static HalyardStatus* create_driver(HalyardOptions options, HalyardDriver** driver) {
  if (options.size != 0) {
    return failure(HALYARD_ABI_STATUS_INVALID_ARGUMENT, "The C driver knows no driver option.");
  }
  device_info.struct_size = sizeof device_info;
  device_info.driver = text("c_driver");
  device_info.name = text("The host's memory");
  device_info.uuid = text("");
  device_info.target = text("none");
  device_info.max_allocation_bytes = 1u << 28;
  device_info.coherent_map = true;
  device_info.gpu_count = 1;
  Driver* made;
  NEW(Driver, driver_functions)
  *driver = &made->object;
  return NULL;
}

__attribute__((constructor)) static void use_monotonic_clock(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&changed, &attributes);
}

__attribute__((visibility("default"))) int halyard_plugin(const HalyardHost* host,
                                                          HalyardPlugin* plugin) {
  plugin->abi_major = HALYARD_ABI_MAJOR;
  plugin->abi_minor = HALYARD_ABI_MINOR;
  if (host->abi_major != HALYARD_ABI_MAJOR) return 0;
  if (plugin->struct_size < sizeof *plugin) return 1;
  plugin->struct_size = sizeof *plugin;
  plugin->name = "c_driver";
  plugin->version = "1";
  plugin->description = "a driver in plain C";
  plugin->create_driver = create_driver;
  return 0;
}
