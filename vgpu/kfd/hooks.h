// The redirected C library calls of a program on the virtual kernel driver.
//
// A path of the driver is redirected to a file with its contents, so the C library's own streams
// and directory functions work on it. The descriptor of a device refers to such a file, and is
// recognized by the file's inode, which ioctl() remembers until the descriptor is closed
// (descriptors.h). All other calls go to the C library unchanged.
//
// This code needs no C++ library and does not allocate: it is in every process below `halyard vgpu
// exec`, also in those with another C++ library, or none.
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
  int (*close)(int file) = nullptr;
  int (*dup2)(int file, int other) = nullptr;
  int (*dup3)(int file, int other, int flags) = nullptr;
  int (*fclose)(FILE* stream) = nullptr;
  // Null before glibc 2.34.
  int (*close_range)(unsigned first, unsigned last, int flags) = nullptr;
  void (*closefrom)(int first) = nullptr;
};

// Call it before any other function here. `root`: the folder of the driver's files; if null, all
// calls are unchanged. `load`: returns the driver, or null with errno set; called when a device is
// opened. Call it again, while there is one thread, to name the folder.
void start_hooks(const CLibrary& library, const char* root, const halyard_kfd_door* (*load)());

// Whether calls are redirected: there is a folder, and it is not the driver that calls.
bool hooks_are_active();

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
int close(int file);
int dup2(int file, int other);
int dup3(int file, int other, int flags);
int fclose(FILE* stream);
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);

}  // namespace hook
}  // namespace halyard::vgpu::kfd
