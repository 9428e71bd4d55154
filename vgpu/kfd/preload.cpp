// The library that `halyard vgpu exec` has preloaded: the calls of the C library that may reach the
// virtual kernel driver, in front of the C library's own.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vgpu/kfd/hooks.h"
#include "vgpu/kfd/standard_streams.h"

#define HALYARD_PRELOADED extern "C" __attribute__((visibility("default")))

namespace {

namespace kfd = halyard::vgpu::kfd;

// Beside this library.
constexpr const char* kDriver = "libhalyard-kfd.so.0";

// The C library's own, which this library hides: of the oldest version, which all have.
void* (*real_dlsym)(void* handle, const char* name) = nullptr;

const halyard_kfd_door* load_driver() {
  Dl_info own = {};
  char path[4096];
  if (dladdr(reinterpret_cast<void*>(&load_driver), &own) == 0 || own.dli_fname == nullptr)
    return nullptr;
  const char* const slash = strrchr(own.dli_fname, '/');
  const size_t folder = slash != nullptr ? static_cast<size_t>(slash + 1 - own.dli_fname) : 0;
  if (folder + strlen(kDriver) + 1 > sizeof path) return nullptr;
  memcpy(path, own.dli_fname, folder);
  memcpy(path + folder, kDriver, strlen(kDriver) + 1);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "halyard vgpu: the virtual kernel driver cannot be loaded: %s\n", dlerror());
    return nullptr;
  }
  const auto door =
      reinterpret_cast<halyard_vgpu_kfd_door_t>(real_dlsym(library, "halyard_vgpu_kfd_door"));
  return door != nullptr ? door() : nullptr;
}

template <class T>
void find(T& function, const char* name) {
  function = reinterpret_cast<T>(real_dlsym(RTLD_NEXT, name));
}

kfd::CLibrary library;

void find_c_library() {
  real_dlsym = reinterpret_cast<decltype(real_dlsym)>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  find(library.open, "open64");
  find(library.openat, "openat64");
  find(library.fopen, "fopen64");
  find(library.opendir, "opendir");
  find(library.access, "access");
  find(library.faccessat, "faccessat");
  find(library.fstatat, "fstatat64");
  find(library.fstat, "fstat64");
  find(library.statx, "statx");
  find(library.readlinkat, "readlinkat");
  find(library.realpath, "realpath");
  find(library.scandir, "scandir64");
  find(library.ioctl, "ioctl");
  find(library.mmap, "mmap64");
  find(library.munmap, "munmap");
  find(library.mprotect, "mprotect");
  find(library.mremap, "mremap");
  find(library.close, "close");
  find(library.dup2, "dup2");
  find(library.dup3, "dup3");
  find(library.fclose, "fclose");
  find(library.close_range, "close_range");
  find(library.closefrom, "closefrom");
  kfd::start_hooks(library, nullptr, load_driver);
}

void find_root() {
  // secure_getenv: a program with more rights than its caller is left alone.
  const char* const root = secure_getenv(HALYARD_KFD_ROOT_VARIABLE);
  if (root == nullptr || root[0] != '/') return;
  // The environment may change.
  static char copy[4096];
  const size_t length = strlen(root);
  if (length >= sizeof copy) return;
  memcpy(copy, root, length + 1);
  kfd::start_hooks(library, copy, load_driver);
}

// As pthread_once(), which ThreadSanitizer has its own of: while its library begins, that crashes.
enum Once : char { kNotYet, kRunning, kDone };
void call_once(Once& state, void (*function)()) {
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == kDone) return;
  Once before = kNotYet;
  if (__atomic_compare_exchange_n(&state, &before, kRunning, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    function();
    __atomic_store_n(&state, kDone, __ATOMIC_RELEASE);
    return;
  }
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != kDone) sched_yield();
}

// Other libraries' constructors may come first, and threads are rare by then. What runs before all
// constructors, as AddressSanitizer does, comes before the C library has the environment.
void ready() {
  static Once found = kNotYet;
  call_once(found, find_c_library);
  if (environ == nullptr) return;
  static Once looked = kNotYet;
  call_once(looked, find_root);
}

// What the driver opens later, and the vendor's libraries, must not become the program's output.
[[gnu::constructor]] void start() {
  ready();
  kfd::reserve_standard_streams();
}

// open()'s last argument is there only for some flags.
mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define HALYARD_MODE(mode, flags)                \
  va_list arguments;                             \
  va_start(arguments, flags);                    \
  const mode_t mode = mode_of(flags, arguments); \
  va_end(arguments);                             \
  ready()

// The names are the C library's.
// NOLINTBEGIN(readability-identifier-naming)
HALYARD_PRELOADED int open(const char* path, int flags, ...) {
  HALYARD_MODE(mode, flags);
  return kfd::hook::open(path, flags, mode);
}
HALYARD_PRELOADED int open64(const char* path, int flags, ...) {
  HALYARD_MODE(mode, flags);
  return kfd::hook::open(path, flags, mode);
}
HALYARD_PRELOADED int openat(int folder, const char* path, int flags, ...) {
  HALYARD_MODE(mode, flags);
  return kfd::hook::openat(folder, path, flags, mode);
}
HALYARD_PRELOADED int openat64(int folder, const char* path, int flags, ...) {
  HALYARD_MODE(mode, flags);
  return kfd::hook::openat(folder, path, flags, mode);
}
// What <fcntl.h> makes of open() where it checks calls.
HALYARD_PRELOADED int __open_2(const char* path, int flags) {
  ready();
  return kfd::hook::open(path, flags, 0);
}
HALYARD_PRELOADED int __open64_2(const char* path, int flags) {
  ready();
  return kfd::hook::open(path, flags, 0);
}
HALYARD_PRELOADED int __openat_2(int folder, const char* path, int flags) {
  ready();
  return kfd::hook::openat(folder, path, flags, 0);
}
HALYARD_PRELOADED int __openat64_2(int folder, const char* path, int flags) {
  ready();
  return kfd::hook::openat(folder, path, flags, 0);
}
HALYARD_PRELOADED FILE* fopen(const char* path, const char* mode) {
  ready();
  return kfd::hook::fopen(path, mode);
}
HALYARD_PRELOADED FILE* fopen64(const char* path, const char* mode) {
  ready();
  return kfd::hook::fopen(path, mode);
}
HALYARD_PRELOADED DIR* opendir(const char* path) {
  ready();
  return kfd::hook::opendir(path);
}
HALYARD_PRELOADED int access(const char* path, int mode) {
  ready();
  return kfd::hook::access(path, mode);
}
HALYARD_PRELOADED int euidaccess(const char* path, int mode) {
  ready();
  return kfd::hook::faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}
HALYARD_PRELOADED int faccessat(int folder, const char* path, int mode, int flags) {
  ready();
  return kfd::hook::faccessat(folder, path, mode, flags);
}
HALYARD_PRELOADED int stat(const char* path, struct stat* state) {
  ready();
  return kfd::hook::fstatat(AT_FDCWD, path, state, 0);
}
HALYARD_PRELOADED int lstat(const char* path, struct stat* state) {
  ready();
  return kfd::hook::fstatat(AT_FDCWD, path, state, AT_SYMLINK_NOFOLLOW);
}
HALYARD_PRELOADED int fstat(int file, struct stat* state) {
  ready();
  return kfd::hook::fstat(file, state);
}
HALYARD_PRELOADED int fstatat(int folder, const char* path, struct stat* state, int flags) {
  ready();
  return kfd::hook::fstatat(folder, path, state, flags);
}
// On x86-64 both kinds of struct stat are one.
static_assert(sizeof(struct stat) == sizeof(struct stat64));
HALYARD_PRELOADED int stat64(const char* path, struct stat64* state) {
  ready();
  return kfd::hook::fstatat(AT_FDCWD, path, reinterpret_cast<struct stat*>(state), 0);
}
HALYARD_PRELOADED int lstat64(const char* path, struct stat64* state) {
  ready();
  return kfd::hook::fstatat(AT_FDCWD, path, reinterpret_cast<struct stat*>(state),
                            AT_SYMLINK_NOFOLLOW);
}
HALYARD_PRELOADED int fstat64(int file, struct stat64* state) {
  ready();
  return kfd::hook::fstat(file, reinterpret_cast<struct stat*>(state));
}
HALYARD_PRELOADED int fstatat64(int folder, const char* path, struct stat64* state, int flags) {
  ready();
  return kfd::hook::fstatat(folder, path, reinterpret_cast<struct stat*>(state), flags);
}
// Programs that were linked before glibc 2.33.
HALYARD_PRELOADED int __xstat(int, const char* path, struct stat* state) {
  ready();
  return kfd::hook::fstatat(AT_FDCWD, path, state, 0);
}
HALYARD_PRELOADED int __xstat64(int, const char* path, struct stat64* state) {
  return stat64(path, state);
}
HALYARD_PRELOADED int __lxstat(int, const char* path, struct stat* state) {
  ready();
  return kfd::hook::fstatat(AT_FDCWD, path, state, AT_SYMLINK_NOFOLLOW);
}
HALYARD_PRELOADED int __lxstat64(int, const char* path, struct stat64* state) {
  return lstat64(path, state);
}
HALYARD_PRELOADED int __fxstat(int, int file, struct stat* state) {
  ready();
  return kfd::hook::fstat(file, state);
}
HALYARD_PRELOADED int __fxstat64(int, int file, struct stat64* state) {
  return fstat64(file, state);
}
HALYARD_PRELOADED int statx(int folder, const char* path, int flags, unsigned mask,
                            struct statx* state) {
  ready();
  return kfd::hook::statx(folder, path, flags, mask, state);
}
HALYARD_PRELOADED ssize_t readlink(const char* path, char* text, size_t bytes) {
  ready();
  return kfd::hook::readlinkat(AT_FDCWD, path, text, bytes);
}
HALYARD_PRELOADED ssize_t readlinkat(int folder, const char* path, char* text, size_t bytes) {
  ready();
  return kfd::hook::readlinkat(folder, path, text, bytes);
}
HALYARD_PRELOADED char* realpath(const char* path, char* resolved) {
  ready();
  return kfd::hook::realpath(path, resolved);
}
HALYARD_PRELOADED char* __realpath_chk(const char* path, char* resolved, size_t bytes) {
  ready();
  // As the C library: PATH_MAX bytes are what realpath() may write.
  if (bytes < 4096) abort();
  return kfd::hook::realpath(path, resolved);
}
HALYARD_PRELOADED int scandir(const char* path, struct dirent*** list,
                              int (*filter)(const struct dirent*),
                              int (*compare)(const struct dirent**, const struct dirent**)) {
  ready();
  return kfd::hook::scandir(path, list, filter, compare);
}
HALYARD_PRELOADED int ioctl(int file, unsigned long code, ...) {
  va_list arguments;
  va_start(arguments, code);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  ready();
  return kfd::hook::ioctl(file, code, argument);
}
HALYARD_PRELOADED void* mmap(void* address, size_t bytes, int protection, int flags, int file,
                             off_t offset) {
  ready();
  return kfd::hook::mmap(address, bytes, protection, flags, file, offset);
}
HALYARD_PRELOADED void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
                               off64_t offset) {
  ready();
  return kfd::hook::mmap(address, bytes, protection, flags, file, offset);
}
HALYARD_PRELOADED int munmap(void* address, size_t bytes) {
  ready();
  return kfd::hook::munmap(address, bytes);
}
HALYARD_PRELOADED int mprotect(void* address, size_t bytes, int protection) {
  ready();
  return kfd::hook::mprotect(address, bytes, protection);
}
HALYARD_PRELOADED void* mremap(void* address, size_t bytes, size_t new_bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* const target = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  ready();
  return kfd::hook::mremap(address, bytes, new_bytes, flags, target);
}
HALYARD_PRELOADED int close(int file) {
  ready();
  return kfd::hook::close(file);
}
HALYARD_PRELOADED int dup2(int file, int other) {
  ready();
  return kfd::hook::dup2(file, other);
}
HALYARD_PRELOADED int dup3(int file, int other, int flags) {
  ready();
  return kfd::hook::dup3(file, other, flags);
}
HALYARD_PRELOADED int fclose(FILE* stream) {
  ready();
  return kfd::hook::fclose(stream);
}
HALYARD_PRELOADED int close_range(unsigned first, unsigned last, int flags) noexcept {
  ready();
  return kfd::hook::close_range(first, last, flags);
}
HALYARD_PRELOADED void closefrom(int first) noexcept {
  ready();
  kfd::hook::closefrom(first);
}

#if defined(__x86_64__)

namespace {

// The functions above that a program may ask the C library's handle for.
struct Hook {
  const char* name;
  void* function;
};
template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}
#define HALYARD_HOOK(name) {#name, address_of(::name)}
void* hook_named(const char* name) {
  const Hook hooks[] = {
      HALYARD_HOOK(open),
      HALYARD_HOOK(open64),
      HALYARD_HOOK(openat),
      HALYARD_HOOK(openat64),
      HALYARD_HOOK(fopen),
      HALYARD_HOOK(fopen64),
      HALYARD_HOOK(opendir),
      HALYARD_HOOK(access),
      HALYARD_HOOK(euidaccess),
      HALYARD_HOOK(faccessat),
      HALYARD_HOOK(statx),
      HALYARD_HOOK(readlink),
      HALYARD_HOOK(readlinkat),
      HALYARD_HOOK(realpath),
      HALYARD_HOOK(scandir),
      HALYARD_HOOK(ioctl),
      HALYARD_HOOK(mmap),
      HALYARD_HOOK(mmap64),
      HALYARD_HOOK(munmap),
      HALYARD_HOOK(mprotect),
      HALYARD_HOOK(mremap),
      HALYARD_HOOK(close),
      HALYARD_HOOK(dup2),
      HALYARD_HOOK(dup3),
      HALYARD_HOOK(fclose),
      HALYARD_HOOK(close_range),
      HALYARD_HOOK(closefrom),
      HALYARD_HOOK(fstat),
      HALYARD_HOOK(fstat64),
      HALYARD_HOOK(fstatat),
      HALYARD_HOOK(fstatat64),
      HALYARD_HOOK(__xstat),
      HALYARD_HOOK(__xstat64),
      HALYARD_HOOK(__lxstat),
      HALYARD_HOOK(__lxstat64),
      HALYARD_HOOK(__fxstat),
      HALYARD_HOOK(__fxstat64),
      {"stat", reinterpret_cast<void*>(static_cast<int (*)(const char*, struct stat*)>(::stat))},
      {"stat64",
       reinterpret_cast<void*>(static_cast<int (*)(const char*, struct stat64*)>(::stat64))},
      {"lstat", reinterpret_cast<void*>(static_cast<int (*)(const char*, struct stat*)>(::lstat))},
      {"lstat64",
       reinterpret_cast<void*>(static_cast<int (*)(const char*, struct stat64*)>(::lstat64))},
  };
  for (const Hook& hook : hooks) {
    if (strcmp(hook.name, name) == 0) return hook.function;
  }
  return nullptr;
}
#undef HALYARD_HOOK

}  // namespace

// A program that takes a function from the C library's handle gets the one that stands before it:
// else the driver would not know of what it maps (any ctypes.CDLL("libc.so.6")).
extern "C" [[gnu::visibility("hidden")]] void* halyard_dlsym_of_handle(void* handle,
                                                                       const char* name) {
  ready();
  void* const found = real_dlsym(handle, name);
  if (found == nullptr || !kfd::hooks_are_active()) return found;
  void* const hook = hook_named(name);
  return hook != nullptr && found == real_dlsym(RTLD_NEXT, name) ? hook : found;
}

extern "C" [[gnu::visibility("hidden")]] void* halyard_real_dlsym() {
  ready();
  return reinterpret_cast<void*>(real_dlsym);
}

// RTLD_DEFAULT (0) and RTLD_NEXT (-1) depend on who calls: the C library is jumped to, and sees the
// caller's return address.
extern "C" __attribute__((visibility("default"), naked)) void* dlsym(
    void* /*handle*/, const char* /*name*/) noexcept {
  asm("lea 1(%rdi), %rax\n\t"
      "cmp $1, %rax\n\t"
      "ja halyard_dlsym_of_handle\n\t"
      "push %rdi\n\t"
      "push %rsi\n\t"
      "sub $8, %rsp\n\t"
      "call halyard_real_dlsym\n\t"
      "add $8, %rsp\n\t"
      "pop %rsi\n\t"
      "pop %rdi\n\t"
      "jmp *%rax");
}

#endif
// NOLINTEND(readability-identifier-naming)
