#include "vgpu/kfd/hooks.h"

#include <asm/ioctl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "vgpu/kfd/descriptors.h"
#include "vgpu/kfd/live_files.h"
#include "vgpu/kfd/paths.h"
#include "vgpu/kfd/standard_streams.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr unsigned kDrmMajor = 226;
// The kernel gives /dev/kfd a free number.
constexpr unsigned kKfdMajor = 511;
constexpr unsigned kKfdRequests = 'K';
constexpr unsigned kDrmRequests = 'd';

// A device's file, once it has been opened.
struct DeviceFile {
  dev_t file_system;
  ino_t inode;
  halyard_kfd_device device;
};
// As many as a profile has GPUs, and /dev/kfd.
constexpr unsigned kMaxDevices = 65;

CLibrary library;
const char* root = nullptr;
const halyard_kfd_door* (*load_door)() = nullptr;
const halyard_kfd_door* door = nullptr;  // once loaded
DeviceFile devices[kMaxDevices];
unsigned device_count = 0;  // published with release
Descriptors descriptors;

// Set while the driver runs for a call: its own calls are the C library's, as it may hold locks.
thread_local bool inside [[gnu::tls_model("initial-exec")]] = false;

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

const halyard_kfd_door* loaded() {
  return __atomic_load_n(&door, __ATOMIC_ACQUIRE);
}

bool active() {
  return root != nullptr && !inside;
}

ssize_t read_link(const char* path, char* text, size_t bytes) {
  const int before = errno;
  const ssize_t length = library.readlinkat(AT_FDCWD, path, text, bytes);
  errno = before;
  return length;
}

// Where a path leads: into `own` if it is the driver's.
const char* place(const char* path, Redirection& own) {
  redirect(path, root, read_link, own);
  return own.place == Place::kElsewhere ? path : own.path;
}

bool is_device(const Redirection& own) {
  return own.place == Place::kKfd || own.place == Place::kRender;
}

// A program may open a device from several threads at once.
void remember(int file, halyard_kfd_device device) {
  static char lock = 0;
  struct stat state;
  if (library.fstat(file, &state) != 0) return;
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {
  }
  bool known = false;
  for (unsigned i = 0; i < device_count; ++i)
    known |= devices[i].inode == state.st_ino && devices[i].file_system == state.st_dev;
  if (!known && device_count < kMaxDevices) {
    devices[device_count] = {state.st_dev, state.st_ino, device};
    __atomic_store_n(&device_count, device_count + 1, __ATOMIC_RELEASE);
  }
  __atomic_clear(&lock, __ATOMIC_RELEASE);
}

const DeviceFile* device_of(const struct stat& state) {
  if (!S_ISREG(state.st_mode)) return nullptr;
  const unsigned count = __atomic_load_n(&device_count, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < count; ++i) {
    if (devices[i].inode == state.st_ino && devices[i].file_system == state.st_dev)
      return &devices[i];
  }
  return nullptr;
}

// Null if the descriptor is no device of the driver's. Leaves errno as it is.
const DeviceFile* device_of(int file) {
  if (__atomic_load_n(&device_count, __ATOMIC_ACQUIRE) == 0) return nullptr;
  const int before = errno;
  struct stat state;
  const bool found = library.fstat(file, &state) == 0;
  errno = before;
  return found ? device_of(state) : nullptr;
}

// The same, without a system call if it was a device before.
const DeviceFile* remembered_device_of(int file) {
  if (__atomic_load_n(&device_count, __ATOMIC_ACQUIRE) == 0) return nullptr;
  Descriptors::Entry seen = 0;
  const uint32_t known = descriptors.find(file, seen);
  if (known != Descriptors::kNone) return &devices[known];
  const DeviceFile* const found = device_of(file);
  if (found != nullptr) descriptors.remember(file, seen, static_cast<uint32_t>(found - devices));
  return found;
}

// Carries out what gives descriptors from the first to the last to others, or to nobody. Twice: an
// ioctl() beside it may find the device once more before, and another thread's open() has the
// number right after.
template <class Function>
auto forgetting(unsigned first, unsigned last, Function&& function) {
  const bool any = __atomic_load_n(&device_count, __ATOMIC_ACQUIRE) != 0;
  if (any) descriptors.forget(first, last);
  const auto result = function();
  if (any) descriptors.forget(first, last);
  return result;
}
template <class Function>
auto forgetting(int file, Function&& function) {
  return forgetting(static_cast<unsigned>(file), static_cast<unsigned>(file), function);
}

// A device's descriptor is open: the driver comes to life. -1 with errno set if it does not.
int opened(int file, const Redirection& own) {
  if (file < 0) return file;
  const halyard_kfd_device device = own.place == Place::kKfd ? 0 : own.minor;
  const Inside here;
  const halyard_kfd_door* const found = load_door();
  const int result = found != nullptr ? found->open(device, root) : -ENODEV;
  if (result != 0) {
    close(file);
    errno = -result;
    return -1;
  }
  remember(file, device);
  __atomic_store_n(&door, found, __ATOMIC_RELEASE);
  return file;
}

bool is_live(const Redirection& own) {
  return own.place == Place::kFile && is_live_file(own.path);
}

// What a program gets of a file that was opened, or not.
int opened_file(int file, int flags, const Redirection& own) {
  if (own.place == Place::kElsewhere) return file;
  const bool live = is_live(own);
  {
    const Inside here;
    if (live) file = open_live_file(root, file, flags);
    file = behind_standard_streams(file);
  }
  return is_device(own) ? opened(file, own) : file;
}

unsigned number_of(halyard_kfd_device device) {
  return device == 0 ? kKfdMajor : kDrmMajor;
}

void show_as_device(struct stat& state, halyard_kfd_device device) {
  state.st_mode = S_IFCHR | 0666;
  state.st_rdev = makedev(number_of(device), device);
}

void show_as_device(struct statx& state, halyard_kfd_device device) {
  state.stx_mode = S_IFCHR | 0666;
  state.stx_rdev_major = number_of(device);
  state.stx_rdev_minor = device;
}

}  // namespace

void start_hooks(const CLibrary& functions, const char* folder, const halyard_kfd_door* (*load)()) {
  library = functions;
  load_door = load;
  root = folder;
}

bool hooks_are_active() {
  return active();
}

namespace hook {

int open(const char* path, int flags, mode_t mode) {
  if (!active()) return library.open(path, flags, mode);
  Redirection own;
  const int file = library.open(place(path, own), flags, mode);
  return opened_file(file, flags, own);
}

int openat(int folder, const char* path, int flags, mode_t mode) {
  if (!active()) return library.openat(folder, path, flags, mode);
  Redirection own;
  const int file = library.openat(folder, place(path, own), flags, mode);
  return opened_file(file, flags, own);
}

FILE* fopen(const char* path, const char* mode) {
  if (!active()) return library.fopen(path, mode);
  Redirection own;
  const char* const at = place(path, own);
  if (!is_live(own) || mode[0] != 'r' || strchr(mode, '+') != nullptr)
    return library.fopen(at, mode);
  const int file = hook::open(path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return nullptr;
  FILE* const stream = fdopen(file, mode);
  if (stream == nullptr) close(file);
  return stream;
}

DIR* opendir(const char* path) {
  if (!active()) return library.opendir(path);
  Redirection own;
  return library.opendir(place(path, own));
}

int access(const char* path, int mode) {
  if (!active()) return library.access(path, mode);
  Redirection own;
  return library.access(place(path, own), mode);
}

int faccessat(int folder, const char* path, int mode, int flags) {
  if (!active()) return library.faccessat(folder, path, mode, flags);
  Redirection own;
  return library.faccessat(folder, place(path, own), mode, flags);
}

int fstatat(int folder, const char* path, struct stat* state, int flags) {
  if (!active()) return library.fstatat(folder, path, state, flags);
  Redirection own;
  const int result = library.fstatat(folder, place(path, own), state, flags);
  if (result == 0 && is_device(own))
    show_as_device(*state, own.place == Place::kKfd ? 0 : own.minor);
  return result;
}

int fstat(int file, struct stat* state) {
  const int result = library.fstat(file, state);
  if (result != 0 || !active()) return result;
  if (const DeviceFile* const device = device_of(*state)) show_as_device(*state, device->device);
  return result;
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* state) {
  if (!active()) return library.statx(folder, path, flags, mask, state);
  Redirection own;
  const int result = library.statx(folder, place(path, own), flags, mask, state);
  if (result != 0) return result;
  if (is_device(own)) show_as_device(*state, own.place == Place::kKfd ? 0 : own.minor);
  // An empty path is the descriptor itself.
  if (path != nullptr && path[0] == '\0' && (flags & AT_EMPTY_PATH) != 0) {
    if (const DeviceFile* const device = device_of(folder)) show_as_device(*state, device->device);
  }
  return result;
}

ssize_t readlinkat(int folder, const char* path, char* text, size_t bytes) {
  if (!active()) return library.readlinkat(folder, path, text, bytes);
  Redirection own;
  return library.readlinkat(folder, place(path, own), text, bytes);
}

// The path that a program gets back is the driver's, not the file's.
char* realpath(const char* path, char* resolved) {
  if (!active()) return library.realpath(path, resolved);
  Redirection own;
  redirect(path, root, read_link, own);
  if (own.place == Place::kElsewhere) return library.realpath(path, resolved);
  char* const real = library.realpath(own.path, resolved);
  if (real == nullptr) return nullptr;
  const size_t length = strlen(root);
  if (strncmp(real, root, length) == 0 && real[length] == '/')
    memmove(real, real + length, strlen(real + length) + 1);
  return real;
}

int scandir(const char* path, struct dirent*** list, int (*filter)(const struct dirent*),
            int (*compare)(const struct dirent**, const struct dirent**)) {
  if (!active()) return library.scandir(path, list, filter, compare);
  Redirection own;
  return library.scandir(place(path, own), list, filter, compare);
}

int ioctl(int file, unsigned long code, void* argument) {
  const unsigned type = _IOC_TYPE(code);
  const bool may_be_own = type == kKfdRequests || type == kDrmRequests;
  const DeviceFile* const device = may_be_own && active() ? remembered_device_of(file) : nullptr;
  if (device == nullptr) return library.ioctl(file, code, argument);
  const Inside here;
  const int result = loaded()->ioctl(device->device, code, argument);
  if (result >= 0) return result;
  errno = -result;
  return -1;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (!active() || loaded() == nullptr)
    return library.mmap(address, bytes, protection, flags, file, offset);
  const bool is_anonymous = file < 0 || (flags & MAP_ANONYMOUS) != 0;
  const DeviceFile* const device = is_anonymous ? nullptr : device_of(file);
  if (device != nullptr) {
    const Inside here;
    return loaded()->map(device->device, address, bytes, protection, flags,
                         static_cast<uint64_t>(offset));
  }
  if ((flags & MAP_FIXED) != 0) {
    const Inside here;
    loaded()->unmapped(address, bytes);
  }
  void* const at = library.mmap(address, bytes, protection, flags, file, offset);
  if (at != MAP_FAILED && is_anonymous && protection == PROT_NONE && (flags & MAP_PRIVATE) != 0) {
    const Inside here;
    loaded()->reserved(at, bytes);
  }
  return at;
}

int munmap(void* address, size_t bytes) {
  if (active() && loaded() != nullptr) {
    const Inside here;
    loaded()->unmapped(address, bytes);
  }
  return library.munmap(address, bytes);
}

int mprotect(void* address, size_t bytes, int protection) {
  if (active() && loaded() != nullptr) {
    const Inside here;
    loaded()->protection_changed(address, bytes);
  }
  return library.mprotect(address, bytes, protection);
}

void* mremap(void* address, size_t bytes, size_t new_bytes, int flags, void* target) {
  if (active() && loaded() != nullptr) {
    const Inside here;
    loaded()->unmapped(address, bytes);
    if ((flags & MREMAP_FIXED) != 0) loaded()->unmapped(target, new_bytes);
  }
  return library.mremap(address, bytes, new_bytes, flags, target);
}

int close(int file) {
  return forgetting(file, [file] { return library.close(file); });
}

int dup2(int file, int other) {
  if (file == other) return library.dup2(file, other);
  return forgetting(other, [=] { return library.dup2(file, other); });
}

int dup3(int file, int other, int flags) {
  return forgetting(other, [=] { return library.dup3(file, other, flags); });
}

int fclose(FILE* stream) {
  return forgetting(fileno(stream), [stream] { return library.fclose(stream); });
}

int close_range(unsigned first, unsigned last, int flags) {
  if (library.close_range != nullptr)
    return forgetting(first, last, [=] { return library.close_range(first, last, flags); });
  errno = ENOSYS;
  return -1;
}

void closefrom(int first) {
  const unsigned from = first > 0 ? static_cast<unsigned>(first) : 0;
  forgetting(from, ~0u, [first] {
    if (library.closefrom != nullptr) library.closefrom(first);
    return 0;
  });
}

}  // namespace hook
}  // namespace halyard::vgpu::kfd
