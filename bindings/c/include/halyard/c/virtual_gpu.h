/* The virtual GPU. */
#ifndef HALYARD_C_VIRTUAL_GPU_H
#define HALYARD_C_VIRTUAL_GPU_H

#include "halyard/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct halyard_virtual_gpu_options {
  size_t struct_size;
  /* The installation prefix, instead of the program's and the library's; null: those. */
  const char* installation;
  /* The library or its folder, if HALYARD_VGPU_PATH is not set; null: search for it. */
  const char* library;
} halyard_virtual_gpu_options;

/* Loads the virtual GPU into this process, permanently. Call it before any device is opened or any
 * driver is loaded. `profile`: a name ("gfx900") or a YAML file; null or "": HALYARD_VGPU_PROFILE,
 * or else the default. `options` may be null. A second call with the same profile has no effect.
 * FAILED_PRECONDITION: the process already has another profile or the vendor's library; NOT_FOUND
 * lists the paths that were tried. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_load_virtual_gpu(
    const char* profile, const halyard_virtual_gpu_options* options);
HALYARD_API bool halyard_virtual_gpu_loaded(void);
/* The path of the loaded library, or "". Free it with halyard_text_free. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_virtual_gpu_library(char** path);
/* Enables the virtual GPU's checks of kernels and their use. `checks`: "coherence,waits", or
 * "lds,notes" for notes too; null or "": all without notes. `findings`: a file to which findings
 * are appended; null or "": none. Call it after halyard_load_virtual_gpu and before the first
 * device is opened. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_check_with_virtual_gpu(const char* checks,
                                                                             const char* findings);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_VIRTUAL_GPU_H */
