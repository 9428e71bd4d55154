/* The virtual GPU's own C interface: functions of libhalyard-kfd.so.0, which plays the kernel
 * driver below the vendor's own libraries.
 *
 * It is opened at run time, and the functions looked up with dlsym. They are safe to call from any
 * thread. */
#ifndef HALYARD_VGPU_HALYARD_VGPU_H
#define HALYARD_VGPU_HALYARD_VGPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses the profile of the virtual GPU, before the HSA runtime is initialised.
 *
 * profile     a name (config/vgpu/NAME.yaml), or a path if it holds a '/' or ends in ".yaml"; null
 *             or "": gfx900. Behind it may follow the most that a GPU has:
 *             "mi210,memory_size=4GiB,compute_units=8". Without a call, HALYARD_VGPU_PROFILE
 *             chooses.
 * error       receives what is wrong, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0 if the profile was read and is the one that will be (or is already) in use. */
int halyard_vgpu_configure(const char* profile, char* error, size_t error_size);

typedef int (*halyard_vgpu_configure_t)(const char* profile, char* error, size_t error_size);

/* Puts the vendor's libraries of this process on the virtual kernel driver.
 * Loads the HSA runtime, and redirects its calls of the C library and those of the libraries that
 * it brings along. After halyard_vgpu_configure, before the runtime is initialised.
 *
 * runtime     the runtime's path; null or "": libhsa-runtime64.so.1, as the loader finds it
 * error       receives what is wrong, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0, also if the process has been put there before; or 1, and the call may be repeated. */
int halyard_vgpu_enter(const char* runtime, char* error, size_t error_size);

typedef int (*halyard_vgpu_enter_t)(const char* runtime, char* error, size_t error_size);

/* Has the HSA runtime call the virtual GPU's own functions where the driver has no say: so devices
 * report no images, which are not built yet. From when that runtime is initialised, in this process
 * and in those that it starts. It sets the environment variable HSA_TOOLS_LIB. */
void halyard_vgpu_hook_runtime(void);

typedef void (*halyard_vgpu_hook_runtime_t)(void);

/* Makes the files that a program on the virtual kernel driver sees (vgpu/kfd), or finds them.
 *
 * profile     as for halyard_vgpu_configure; null or "": gfx900
 * path        receives the folder that holds them under their own absolute paths
 * path_size   bytes of `path`, the final zero included
 * error       receives what is wrong, as sentences; may be null
 *
 * Returns 0, or 1 if the profile or the folder cannot be had. */
int halyard_vgpu_files(const char* profile, char* path, size_t path_size, char* error,
                       size_t error_size);

typedef int (*halyard_vgpu_files_t)(const char* profile, char* path, size_t path_size, char* error,
                                    size_t error_size);

/* Has the virtual GPU look for mistakes, from when the HSA runtime is initialised, in this process
 * and in those that it starts. Each is reported on standard error. It sets environment variables
 * (HALYARD_VGPU_CHECK and _CHECKS, and some of the HSA runtime's).
 *
 * checks      names with commas between: "bounds", "lds", "waits", "coherence"
 * (docs/virtual-gpu.md); null or "": all findings    the absolute path of a file to which each
 * finding is added; null or "": none error       receives what is wrong, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0, or 1 if a check does not exist or none can be made. */
int halyard_vgpu_check(const char* checks, const char* findings, char* error, size_t error_size);

typedef int (*halyard_vgpu_check_t)(const char* checks, const char* findings, char* error,
                                    size_t error_size);

/* One instruction, as the engine decodes it. The strings live until the call of the visitor ends.
 */
typedef struct halyard_vgpu_instruction { /* NOLINT(readability-identifier-naming): C */
  uint64_t address;
  uint32_t size;    /* bytes, 4 or 8 (or what is left, at the end) */
  const char* text; /* assembler text, by LLVM; "<not an instruction>" */
  const char* kind; /* "vector", "matrix", "scalar", "scalar memory", "vector memory", "LDS",
                       "branch", "other" */
  int executes;     /* 0: the engine has no handler, and a wave that comes here is a queue error */
} halyard_vgpu_instruction;

/* Decodes machine code for `processor` ("gfx90a"), one instruction after the other, and calls
 * `visit` for each; it stops when that returns other than 0. Needs no GPU and no runtime.
 *
 * address     of the first byte, for branch targets
 * error       receives what is wrong, as sentences; may be null
 *
 * Returns 0, or 1 if the engine does not know the processor or was not built. */
int halyard_vgpu_disassemble(const char* processor, const void* code, size_t size, uint64_t address,
                             int (*visit)(void* user, const halyard_vgpu_instruction* instruction),
                             void* user, char* error, size_t error_size);

typedef int (*halyard_vgpu_disassemble_t)(const char* processor, const void* code, size_t size,
                                          uint64_t address,
                                          int (*visit)(void* user,
                                                       const halyard_vgpu_instruction* instruction),
                                          void* user, char* error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
