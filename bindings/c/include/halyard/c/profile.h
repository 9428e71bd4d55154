/* Profiles: what ran when. */
#ifndef HALYARD_C_PROFILE_H
#define HALYARD_C_PROFILE_H

#include "halyard/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.3. The kind of an operation. New kinds can be added. */
typedef enum halyard_profile_kind HALYARD_ENUM {
  HALYARD_PROFILE_UNKNOWN = 0, /* the driver does not report it */
  HALYARD_PROFILE_DISPATCH = 1,
  HALYARD_PROFILE_COPY = 2, /* also of rectangles */
  HALYARD_PROFILE_FILL = 3,
  HALYARD_PROFILE_UPDATE = 4,
  HALYARD_PROFILE_HOST_CALL = 5,
  HALYARD_PROFILE_READ = 6,    /* of a file */
  HALYARD_PROFILE_WRITE = 7,   /* to a file */
  HALYARD_PROFILE_BARRIER = 8, /* only waits and signals */
  HALYARD_PROFILE_ALLOCA = 9,
  HALYARD_PROFILE_DEALLOCA = 10
} halyard_profile_kind;
/* "dispatch", "host_call" and so on; "unknown" for other numbers. Static. */
HALYARD_API const char* halyard_profile_kind_name(halyard_profile_kind kind);

/* One operation. Valid until the sink returns. Each command of a recording is a separate
 * operation. */
typedef struct halyard_profile_event {
  size_t struct_size;
  const char* name; /* for a dispatch its function's; otherwise its kind's */
  uint64_t begin_ns;
  uint64_t end_ns;
  /* Since 0.3; all 0 if the driver does not report them. */
  halyard_profile_kind kind;
  uint32_t command;       /* in a recording: its position, from 0 */
  uint64_t execution;     /* the same for all commands of one execution; 0: not in a recording */
  uint64_t queue;         /* halyard_queue_id */
  uint64_t bytes;         /* that a transfer writes */
  halyard_dim3 grid;      /* of a dispatch; 0 x 0 x 0 if only the device knows it */
  halyard_dim3 workgroup; /* of a dispatch */
} halyard_profile_event;
typedef void (*halyard_profile_sink)(void* context, const halyard_profile_event* event);

/* Records the times of operations that are submitted between the two calls. The second call waits
 * for them and passes each to `sink`, on the calling thread. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_begin_profile(halyard_device* device);
/* Since 0.3: records only some kinds, as the bits 1 << halyard_profile_kind of `kinds`; 0: all.
 * Other operations run as without a profile. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_begin_profile_of(
    halyard_device* device, uint64_t kinds);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_end_profile(halyard_device* device,
                                                                         halyard_profile_sink sink,
                                                                         void* context);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_PROFILE_H */
