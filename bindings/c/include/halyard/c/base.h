/* The version, handles, and what the other headers share. */
#ifndef HALYARD_C_BASE_H
#define HALYARD_C_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HALYARD_API __attribute__((visibility("default")))
#define HALYARD_MUST_CHECK __attribute__((warn_unused_result))
#else
#define HALYARD_API
#define HALYARD_MUST_CHECK
#endif

/* Without a type, an enum of C++ may have no other values than those between its own. */
#ifdef __cplusplus
#define HALYARD_ENUM : int
#else
#define HALYARD_ENUM
#endif

/* The interface that these headers describe. A library with the same major number and at least this
 * minor one has all of it. */
#define HALYARD_C_MAJOR 0
#define HALYARD_C_MINOR 3
/* The version of the library: major << 16 | minor. */
HALYARD_API uint32_t halyard_c_version(void);

typedef struct halyard_error halyard_error;
typedef struct halyard_registry halyard_registry;
typedef struct halyard_load_report halyard_load_report;
typedef struct halyard_driver halyard_driver;
typedef struct halyard_device halyard_device;
typedef struct halyard_buffer halyard_buffer;
typedef struct halyard_module halyard_module;
typedef struct halyard_executable halyard_executable;
typedef struct halyard_function halyard_function;
typedef struct halyard_semaphore halyard_semaphore;
typedef struct halyard_queue halyard_queue;
typedef struct halyard_command_buffer halyard_command_buffer;
typedef struct halyard_memory_pool halyard_memory_pool; /* since 0.3 */

/* An extent. */
typedef struct halyard_dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
} halyard_dim3;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_BASE_H */
