// What calls of the C library do in a program that runs on the virtual kernel driver.
//
// A path of the driver's is redirected to a file of that content, so that the C library's own
// streams and folders work on it. A descriptor of a device is one of such a file, and is told by
// the file's inode: however it was duplicated, inherited or closed, nothing need be kept in step.
// All other calls go on to the C library as they are.
//
// Nothing here needs a C++ library or allocates: these functions are in every process below
// `halyard vgpu exec`, also in those that have another C++ library, or none.
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>

#include "vgpu/kfd/door.h"

namespace halyard::vgpu::kfd {

// The C library's functions under the names that they are called by.
struct CLibrary {
  int (*open)(const char* path, int flags, ...) = nullptr;
  int (*openat)(int folder, const char* path, int flags, ...) = nullptr;
  FILE* (*fopen)(const char* path, const char* mode) = nullptr;
  DIR* (*opendir)(const char* path) = nullptr;
  int (*access)(const char* path, int mode) = nullptr;
  int (*faccessat)(int folder, const char* path, int mode, int flags) = nullptr;
  int (*fstatat)(int folder, const char* path, struct stat* state, int flags) = nullptr;
  int (*fstat)(int file, struct stat* state) = nullptr;
  int (*statx)(int folder, const char* path, int flags, unsigned mask,
               struct statx* state) = nullptr;
  ssize_t (*readlinkat)(int folder, const char* path, char* text, size_t bytes) = nullptr;
  char* (*realpath)(const char* path, char* resolved) = nullptr;
  int (*scandir)(const char* path, struct dirent*** list, int (*filter)(const struct dirent*),
                 int (*compare)(const struct dirent**, const struct dirent**)) = nullptr;
  int (*ioctl)(int file, unsigned long code, ...) = nullptr;
  void* (*mmap)(void* address, size_t bytes, int protection, int flags, int file,
                off_t offset) = nullptr;
  int (*munmap)(void* address, size_t bytes) = nullptr;
  int (*mprotect)(void* address, size_t bytes, int protection) = nullptr;
  void* (*mremap)(void* address, size_t bytes, size_t new_bytes, int flags, ...) = nullptr;
};

// Before any other function here. `root`: the folder of the driver's files, or null, and all calls
// go on as they are. `load`: finds the driver, or null with errno set; called when a device is
// opened.
void start_hooks(const CLibrary& library, const char* root, const halyard_kfd_door* (*load)());

// Each as the C library's function of that name.
namespace hook {

int open(const char* path, int flags, mode_t mode);
int openat(int folder, const char* path, int flags, mode_t mode);
FILE* fopen(const char* path, const char* mode);
DIR* opendir(const char* path);
int access(const char* path, int mode);
int faccessat(int folder, const char* path, int mode, int flags);
int fstatat(int folder, const char* path, struct stat* state, int flags);
int fstat(int file, struct stat* state);
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* state);
ssize_t readlinkat(int folder, const char* path, char* text, size_t bytes);
char* realpath(const char* path, char* resolved);
int scandir(const char* path, struct dirent*** list, int (*filter)(const struct dirent*),
            int (*compare)(const struct dirent**, const struct dirent**));
int ioctl(int file, unsigned long code, void* argument);
void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset);
int munmap(void* address, size_t bytes);
int mprotect(void* address, size_t bytes, int protection);
// `target` is read only where the flags ask for it, as the C library does.
void* mremap(void* address, size_t bytes, size_t new_bytes, int flags, void* target);

}  // namespace hook
}  // namespace halyard::vgpu::kfd
