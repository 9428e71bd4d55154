/* The virtual GPU's own C interface, beside the hsaKmt* functions that the vendor's runtime calls.
 *
 * libhsakmt.so.1 is opened at run time, with RTLD_NOW | RTLD_GLOBAL and before the HSA runtime, and
 * this function is looked up in it with dlsym. It is safe to call from any thread. */
#ifndef HALYARD_VGPU_HALYARD_VGPU_H
#define HALYARD_VGPU_HALYARD_VGPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses the profile of the virtual GPU, before the HSA runtime is initialised.
 *
 * profile     a name (config/vgpu/NAME.yaml), or a path if it holds a '/' or ends in ".yaml"; null
 *             or "": gfx900. Without a call, HALYARD_VGPU_PROFILE chooses.
 * error       receives what is wrong, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0 if the profile was read and is the one that will be (or is already) in use. */
int halyard_vgpu_configure(const char* profile, char* error, size_t error_size);

typedef int (*halyard_vgpu_configure_t)(const char* profile, char* error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
