/* What the calls of the C library that reach the virtual kernel driver are turned into: the border
 * between the interposer, which is in every process that `halyard vgpu exec` starts and must be
 * small, and the driver, which is loaded when a process opens a device. */
#ifndef HALYARD_VGPU_KFD_DOOR_H
#define HALYARD_VGPU_KFD_DOOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A device: 0 for /dev/kfd, else the minor of a render node. */
typedef unsigned halyard_kfd_device; /* NOLINT(readability-identifier-naming): C */

/* Any thread. Numbers are 0 or an errno value below 0. */
typedef struct halyard_kfd_door { /* NOLINT(readability-identifier-naming): C */
  /* The process opens a device. `root`: the folder of the driver's files, which stays as it is. */
  int (*open)(halyard_kfd_device device, const char* root);
  int (*ioctl)(halyard_kfd_device device, unsigned long code, void* argument);
  /* As mmap(): MAP_FAILED with errno set. */
  void* (*map)(halyard_kfd_device device, void* address, size_t bytes, int protection, int flags,
               uint64_t offset);
  /* These addresses are about to be unmapped, or mapped anew. */
  void (*unmapped)(void* address, size_t bytes);
  /* Private memory without access has been mapped there: the program may have buffers put there. */
  void (*reserved)(void* address, size_t bytes);
  /* The protection of these addresses is about to change. */
  void (*protection_changed)(void* address, size_t bytes);
} halyard_kfd_door;

const halyard_kfd_door* halyard_vgpu_kfd_door(void);

typedef const halyard_kfd_door* (*halyard_vgpu_kfd_door_t)(void);

/* The environment variable that names the folder of the driver's files. */
#define HALYARD_KFD_ROOT_VARIABLE "HALYARD_VGPU_ROOT"

#ifdef __cplusplus
}
#endif

#endif
