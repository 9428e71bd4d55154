/* The virtual GPU's C interface: functions of libhalyard-kfd.so.0, which plays the kernel
 * driver below the vendor's libraries.
 *
 * Programs open it at run time, and find the functions with dlsym. Any thread may call
 * them. */
#ifndef HALYARD_VGPU_HALYARD_VGPU_H
#define HALYARD_VGPU_HALYARD_VGPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses the profile of the virtual GPU, before the HSA runtime is initialised.
 *
 * profile     a name (config/vgpu/NAME.yaml), or a path if it contains a '/' or ends in ".yaml";
 *             null or "": gfx900. Limits can follow: "mi210,memory_size=4GiB,compute_units=8".
 *             Without a call, HALYARD_VGPU_PROFILE chooses.
 * error       receives the error, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0 if the profile was read and is the one that will be (or is already) in use. */
int halyard_vgpu_configure(const char* profile, char* error, size_t error_size);

typedef int (*halyard_vgpu_configure_t)(const char* profile, char* error, size_t error_size);

/* Connects the vendor's libraries of this process to the virtual kernel driver.
 * Loads the HSA runtime, and redirects its C library calls and those of the libraries that it
 * loads. Call it after halyard_vgpu_configure, before the runtime is initialised.
 *
 * runtime     the runtime's path; null or "", or if it cannot be loaded: libhsa-runtime64.so.1, as
 *             the loader finds it
 * error       receives the error, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0, also for a repeated call; or 1 on failure, and the call can be repeated. */
int halyard_vgpu_enter(const char* runtime, char* error, size_t error_size);

typedef int (*halyard_vgpu_enter_t)(const char* runtime, char* error, size_t error_size);

/* Makes the HSA runtime call functions of the virtual GPU, so that image calls fail with an error,
 * because images are not implemented. Takes effect when that runtime is initialised, in this
 * process and those that it starts. It sets the environment variable HSA_TOOLS_LIB. */
void halyard_vgpu_hook_runtime(void);

typedef void (*halyard_vgpu_hook_runtime_t)(void);

/* Makes or finds the files for a program on the virtual kernel driver (vgpu/kfd).
 *
 * profile     as for halyard_vgpu_configure; null or "": gfx900
 * path        receives the folder that holds them under their own absolute paths
 * path_size   bytes of `path`, the final zero included
 * error       receives the error, as sentences; may be null
 *
 * Returns 0, or 1 if the profile or the folder cannot be used. */
int halyard_vgpu_files(const char* profile, char* path, size_t path_size, char* error,
                       size_t error_size);

typedef int (*halyard_vgpu_files_t)(const char* profile, char* path, size_t path_size, char* error,
                                    size_t error_size);

/* Enables checks when the HSA runtime is initialised, in this process and those that it starts.
 * Each finding is reported on standard error. Sets environment variables (HALYARD_VGPU_CHECK and
 * _CHECKS, and some of the HSA runtime's).
 *
 * checks      names, separated by commas: "bounds", "lds", "waits", "atomics", "coherence",
 *             "races", and "notes" for their notes (docs/virtual-gpu.md); null or "": all checks
 * findings    the absolute path of a file to which findings are appended; null or "": none
 * error       receives the error, as sentences; may be null
 * error_size  bytes of `error`, the final zero included
 *
 * Returns 0, or 1 if a check does not exist or cannot be enabled. */
int halyard_vgpu_check(const char* checks, const char* findings, char* error, size_t error_size);

typedef int (*halyard_vgpu_check_t)(const char* checks, const char* findings, char* error,
                                    size_t error_size);

/* One instruction, as the engine decodes it. The strings live until the call of the visitor ends.
 */
typedef struct halyard_vgpu_instruction { /* NOLINT(readability-identifier-naming): C */
  uint64_t address;
  uint32_t size;    /* bytes, 4 or 8 (or the remaining bytes, at the end) */
  const char* text; /* assembler text, by LLVM; "<not an instruction>" */
  const char* kind; /* "vector", "matrix", "scalar", "scalar memory", "vector memory", "LDS",
                       "branch", "other" */
  int executes;     /* 0: the engine has no handler; executing it is a queue error */
} halyard_vgpu_instruction;

/* Decodes machine code for `processor` ("gfx90a"), one instruction after the other, and calls
 * `visit` for each; it stops when that returns other than 0. Needs no GPU and no runtime.
 *
 * address     of the first byte, for branch targets
 * error       receives the error, as sentences; may be null
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
