/* Semaphores, and deadlines. */
#ifndef HALYARD_C_SEMAPHORE_H
#define HALYARD_C_SEMAPHORE_H

#include "halyard/c/base.h"
#include "halyard/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A deadline is absolute. HALYARD_POLL is always over. */
#define HALYARD_POLL UINT64_C(0)
#define HALYARD_FOREVER UINT64_MAX
/* `ns` from now; saturates. */
HALYARD_API uint64_t halyard_deadline_after(uint64_t ns);

/* A semaphore is a timeline: a value that only grows. Work waits until it has reached a value, and
 * makes it reach one when done; so does the host. It fails for good when work that was to signal it
 * fails: a wait for a value that was not reached before gives that first failure. */
typedef struct halyard_point {
  halyard_semaphore* semaphore;
  uint64_t value;
} halyard_point;

typedef enum halyard_wait_mode { HALYARD_WAIT_ANY = 0, HALYARD_WAIT_ALL = 1 } halyard_wait_mode;

HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_semaphore(
    halyard_device* device, uint64_t initial_value, halyard_semaphore** semaphore);
HALYARD_API void halyard_semaphore_retain(halyard_semaphore* semaphore);
HALYARD_API void halyard_semaphore_release(halyard_semaphore* semaphore);
/* The value reached so far, or the failure. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_query(halyard_semaphore* semaphore,
                                                                      uint64_t* value);
/* From the host. `value` is above the current one, and below any that queued work will signal. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_signal(halyard_semaphore* semaphore,
                                                                       uint64_t value);
/* DEADLINE_EXCEEDED if `value` is not reached before the deadline. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_wait(halyard_semaphore* semaphore,
                                                                     uint64_t value,
                                                                     uint64_t deadline_ns);
/* Fails the semaphore. Only the first failure counts. `code` is not HALYARD_OK. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_fail(halyard_semaphore* semaphore,
                                                                     halyard_code code,
                                                                     const char* message);
/* Since 0.3: what another process imports, with the same driver or another. */
typedef struct halyard_exported_semaphore {
  size_t struct_size;
  uint8_t ipc[64];
} halyard_exported_semaphore;
/* Since 0.3: one timeline in several processes. What one signals is reached in all, some
 * milliseconds later at most, and a failure of one is a failure of all. Each process has a
 * semaphore of its own. If a process ends that has not released it, the others' fail (ABORTED).
 * Processes of one user on one system. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_export_semaphore(
    halyard_device* device, halyard_semaphore* semaphore, halyard_exported_semaphore* exported);
/* FAILED_PRECONDITION if the exporter has released its semaphore, or ended. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_semaphore(
    halyard_device* device, const halyard_exported_semaphore* exported,
    halyard_semaphore** semaphore);
/* Waits for one of the points, or for all. With HALYARD_WAIT_ANY `index`, unless null, gets the
 * index of a point that is reached. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_wait(
    halyard_device* device, const halyard_point* points, size_t count, halyard_wait_mode mode,
    uint64_t deadline_ns, size_t* index);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_SEMAPHORE_H */
