/* Modules: files with kernels. */
#ifndef HALYARD_C_MODULE_H
#define HALYARD_C_MODULE_H

#include "halyard/c/base.h"
#include "halyard/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum halyard_module_format HALYARD_ENUM {
  HALYARD_FORMAT_CODE_OBJECT = 0,
  HALYARD_FORMAT_OFFLOAD_BUNDLE = 1,
  HALYARD_FORMAT_HOST_ELF = 2,
  HALYARD_FORMAT_ARCHIVE = 3,
  HALYARD_FORMAT_FOLDER = 4
} halyard_module_format;

/* The limits for decompressed bundles; 0: the default (4 GiB; 64 MiB; 256 times). */
typedef struct halyard_module_options {
  size_t struct_size;
  uint64_t max_decompressed_bytes;
  uint64_t always_decompressed_bytes;
  uint32_t max_decompression_ratio;
} halyard_module_options;

/* A code object of a module, or other contents of a bundle. */
typedef struct halyard_module_variant {
  size_t struct_size;
  const char* origin;  /* its place in the module; "" for a plain code object */
  const char* entry;   /* its ID in the bundle; "" if it is not in one */
  const char* target;  /* "gfx90a:xnack-" */
  const char* problem; /* why no device can load it; "" if one can */
  uint32_t code_object_version;
  uint32_t generic_version; /* 0 unless the target is generic */
  uint64_t offset;
  const void* data; /* its bytes */
  uint64_t size;
} halyard_module_variant;

/* Reads a code object, an offload bundle, a program or library with HIP kernels, or an archive of
 * these. `data` must outlive the module. `options` may be null. INVALID_ARGUMENT names the mistake
 * in the file and its offset. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_read(
    const void* data, size_t size, const halyard_module_options* options, halyard_module** module);
/* The same for a file or folder. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_open(
    const char* path, const halyard_module_options* options, halyard_module** module);
HALYARD_API void halyard_module_retain(halyard_module* module);
HALYARD_API void halyard_module_release(halyard_module* module);
HALYARD_API halyard_module_format halyard_module_get_format(halyard_module* module);
HALYARD_API size_t halyard_module_variant_count(halyard_module* module);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_get_variant(
    halyard_module* module, size_t index, halyard_module_variant* variant);
/* Files of a folder, or members of an archive, without a code object, and why. */
HALYARD_API size_t halyard_module_ignored_count(halyard_module* module);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_ignored(halyard_module* module,
                                                                     size_t index,
                                                                     const char** name,
                                                                     const char** reason);
/* The variants that a device with this target loads, as indices, at most `capacity` of them;
 * `count` gets their number. FAILED_PRECONDITION gives the reason for each variant. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_choose(halyard_module* module,
                                                                    const char* target,
                                                                    size_t* indices,
                                                                    size_t capacity, size_t* count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_MODULE_H */
