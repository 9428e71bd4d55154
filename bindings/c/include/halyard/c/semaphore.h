/* Semaphores, and deadlines. */
#ifndef HALYARD_C_SEMAPHORE_H
#define HALYARD_C_SEMAPHORE_H

#include "halyard/c/base.h"
#include "halyard/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A deadline is absolute. HALYARD_POLL has always passed. */
#define HALYARD_POLL UINT64_C(0)
#define HALYARD_FOREVER UINT64_MAX
/* `ns` from now; saturates. */
HALYARD_API uint64_t halyard_deadline_after(uint64_t ns);

/* A semaphore is a timeline: a value that only grows. Work waits until it reaches a value, and
 * sets it to a value when it is done; so does the host. It fails permanently when work that was
 * to signal it fails: a wait for a value that was not reached before then returns the first
 * failure. */
typedef struct halyard_point {
  halyard_semaphore* semaphore;
  uint64_t value;
} halyard_point;

typedef enum halyard_wait_mode HALYARD_ENUM {
  HALYARD_WAIT_ANY = 0,
  HALYARD_WAIT_ALL = 1
} halyard_wait_mode;

HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_semaphore(
    halyard_device* device, uint64_t initial_value, halyard_semaphore** semaphore);
HALYARD_API void halyard_semaphore_retain(halyard_semaphore* semaphore);
HALYARD_API void halyard_semaphore_release(halyard_semaphore* semaphore);
/* The value reached so far, or the failure. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_query(halyard_semaphore* semaphore,
                                                                      uint64_t* value);
/* Signals from the host. `value` is above the current one, and below the values of queued
 * signals. */
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
/* Since 0.3: a handle for another process, with the same driver or another. */
typedef struct halyard_exported_semaphore {
  size_t struct_size;
  uint8_t ipc[64];
} halyard_exported_semaphore;
/* Since 0.3: shares one timeline between processes of one user on one system. A value that one
 * signals is reached in all after some milliseconds at most; a failure in one is a failure in all.
 * Each process has its own semaphore. If a process ends without releasing it, the others fail
 * (ABORTED). */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_export_semaphore(
    halyard_device* device, halyard_semaphore* semaphore, halyard_exported_semaphore* exported);
/* FAILED_PRECONDITION if the exporter has released its semaphore, or has ended. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_semaphore(
    halyard_device* device, const halyard_exported_semaphore* exported,
    halyard_semaphore** semaphore);
/* Waits for any of the points, or for all. With HALYARD_WAIT_ANY, `index`, unless null, gets the
 * index of a reached point. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_wait(
    halyard_device* device, const halyard_point* points, size_t count, halyard_wait_mode mode,
    uint64_t deadline_ns, size_t* index);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_SEMAPHORE_H */
