/* The virtual GPU. */
#ifndef HALYARD_C_VIRTUAL_GPU_H
#define HALYARD_C_VIRTUAL_GPU_H

#include "halyard/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct halyard_virtual_gpu_options {
  size_t struct_size;
  /* A prefix to look under, instead of the program's and the library's own; null: those. */
  const char* installation;
  /* The library or its folder, where HALYARD_VGPU_PATH is not set; null: looked for. */
  const char* library;
} halyard_virtual_gpu_options;

/* Puts the virtual GPU into this process, for good; call it before any device is opened or driver
 * loaded. `profile`: a name ("gfx900") or a YAML file; null or "": what HALYARD_VGPU_PROFILE
 * names, else the default. `options` may be null. Calling it again with the same profile does
 * nothing. FAILED_PRECONDITION: the process has another profile or the vendor's library already;
 * NOT_FOUND lists the paths that were tried. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_load_virtual_gpu(
    const char* profile, const halyard_virtual_gpu_options* options);
HALYARD_API bool halyard_virtual_gpu_loaded(void);
/* The path of the library that was loaded, "" if none was. Free it with halyard_text_free. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_virtual_gpu_library(char** path);
/* Has the virtual GPU look for mistakes in kernels and their use. `checks`: "coherence,waits";
 * null or "": all. `findings`: a file that each finding is added to; null or "": none. After
 * halyard_load_virtual_gpu and before the first device is opened. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_check_with_virtual_gpu(const char* checks,
                                                                             const char* findings);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_VIRTUAL_GPU_H */
