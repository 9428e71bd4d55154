// halyard_vgpu_enter: brings the vendor's libraries of this process onto the virtual kernel driver,
// without environment variables: their imports are redirected after they are loaded.
#include <asm/ioctl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/kfd/door.h"
#include "vgpu/kfd/file_folder.h"
#include "vgpu/kfd/hooks.h"
#include "vgpu/kfd/import_table.h"
#include "vgpu/kfd/runtime_processors.h"
#include "vgpu/kfd/standard_streams.h"
#include "vgpu/machine/machine.h"
#include "vgpu/queue/device.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr const char* kRuntime = "libhsa-runtime64.so.1";
// What the runtime brings along to speak to the kernel driver. From 6.3 on it has the thunk inside.
constexpr const char* kHelpers[] = {"libhsakmt.so.1", "libdrm_amdgpu.so.1", "libdrm.so.2"};

int stat_path(const char* path, struct stat* state) {
  return hook::fstatat(AT_FDCWD, path, state, 0);
}
int lstat_path(const char* path, struct stat* state) {
  return hook::fstatat(AT_FDCWD, path, state, AT_SYMLINK_NOFOLLOW);
}
int old_stat(int /*version*/, const char* path, struct stat* state) {
  return stat_path(path, state);
}
int old_lstat(int /*version*/, const char* path, struct stat* state) {
  return lstat_path(path, state);
}
int old_fstat(int /*version*/, int file, struct stat* state) {
  return hook::fstat(file, state);
}
ssize_t readlink_path(const char* path, char* text, size_t bytes) {
  return hook::readlinkat(AT_FDCWD, path, text, bytes);
}
// Memory that becomes shared virtual memory is the program's own. Its end is heard of from every
// library that is loaded by then, because any of them may unmap it.
constexpr unsigned kSvmRequest = 0x20;
constexpr unsigned kKfdIoctls = 'K';

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Called with the loader's lock held.
int redirect_unmapping(dl_phdr_info* info, size_t /*size*/, void* data) {
  static const Redirect kUnmapping[] = {{"munmap", address_of(hook::munmap)},
                                        {"mremap", address_of(hook::mremap)}};
  // The number of libraries that have been loaded so far: the same for all of one visit.
  static unsigned long long loaded = 0;
  auto& known = *static_cast<unsigned long long*>(data);
  if (known == 0) {
    if (info->dlpi_adds == loaded) return 1;
    known = loaded = info->dlpi_adds;
  }
  link_map object = {};
  object.l_addr = info->dlpi_addr;
  object.l_name = const_cast<char*>(info->dlpi_name);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC)
      object.l_ld = reinterpret_cast<ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr);
  }
  Dl_info own = {};
  const bool is_own = dladdr(reinterpret_cast<void*>(&redirect_unmapping), &own) != 0 &&
                      reinterpret_cast<uintptr_t>(own.dli_fbase) == info->dlpi_addr;
  if (object.l_ld == nullptr || is_own) return 0;
  std::string error;
  if (redirect_imports(object, kUnmapping, error) < 0) queue::report("halyard vgpu: " + error);
  return 0;
}

int call_ioctl(int file, unsigned long code, void* argument) {
  if (_IOC_TYPE(code) == kKfdIoctls && _IOC_NR(code) == kSvmRequest) {
    unsigned long long known = 0;
    dl_iterate_phdr(redirect_unmapping, &known);
  }
  return hook::ioctl(file, code, argument);
}

char* checked_realpath(const char* path, char* resolved, size_t /*bytes*/) {
  return hook::realpath(path, resolved);
}

// Arguments that are there only sometimes (of open, ioctl and mremap) are passed like others on
// x86-64, and both kinds of struct stat are one.
const Redirect kRedirects[] = {
    {"open", address_of(hook::open)},
    {"open64", address_of(hook::open)},
    {"__open_2", address_of(hook::open)},
    {"__open64_2", address_of(hook::open)},
    {"openat", address_of(hook::openat)},
    {"openat64", address_of(hook::openat)},
    {"__openat_2", address_of(hook::openat)},
    {"__openat64_2", address_of(hook::openat)},
    {"fopen", address_of(hook::fopen)},
    {"fopen64", address_of(hook::fopen)},
    {"opendir", address_of(hook::opendir)},
    {"access", address_of(hook::access)},
    {"euidaccess", address_of(hook::access)},
    {"faccessat", address_of(hook::faccessat)},
    {"stat", address_of(stat_path)},
    {"stat64", address_of(stat_path)},
    {"lstat", address_of(lstat_path)},
    {"lstat64", address_of(lstat_path)},
    {"fstat", address_of(hook::fstat)},
    {"fstat64", address_of(hook::fstat)},
    {"fstatat", address_of(hook::fstatat)},
    {"fstatat64", address_of(hook::fstatat)},
    {"__xstat", address_of(old_stat)},
    {"__xstat64", address_of(old_stat)},
    {"__lxstat", address_of(old_lstat)},
    {"__lxstat64", address_of(old_lstat)},
    {"__fxstat", address_of(old_fstat)},
    {"__fxstat64", address_of(old_fstat)},
    {"statx", address_of(hook::statx)},
    {"readlink", address_of(readlink_path)},
    {"readlinkat", address_of(hook::readlinkat)},
    {"realpath", address_of(hook::realpath)},
    {"__realpath_chk", address_of(checked_realpath)},
    {"scandir", address_of(hook::scandir)},
    {"ioctl", address_of(call_ioctl)},
    {"mmap", address_of(hook::mmap)},
    {"mmap64", address_of(hook::mmap)},
    {"munmap", address_of(hook::munmap)},
    {"mprotect", address_of(hook::mprotect)},
    {"mremap", address_of(hook::mremap)},
    {"close", address_of(hook::close)},
    {"dup2", address_of(hook::dup2)},
    {"dup3", address_of(hook::dup3)},
    {"fclose", address_of(hook::fclose)},
};

CLibrary c_library() {
  CLibrary library;
  library.open = ::open;
  library.openat = ::openat;
  library.fopen = ::fopen;
  library.opendir = ::opendir;
  library.access = ::access;
  library.faccessat = ::faccessat;
  library.fstatat = ::fstatat;
  library.fstat = ::fstat;
  library.statx = ::statx;
  library.readlinkat = ::readlinkat;
  library.realpath = ::realpath;
  library.scandir = ::scandir;
  library.ioctl = ::ioctl;
  library.mmap = ::mmap;
  library.munmap = ::munmap;
  library.mprotect = ::mprotect;
  library.mremap = ::mremap;
  library.close = ::close;
  library.dup2 = ::dup2;
  library.dup3 = ::dup3;
  library.fclose = ::fclose;
  return library;
}

// Returns how many imports were redirected; -1, with a sentence, if it was not possible.
int redirect_library(void* library, std::string& error) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) return redirect_imports(*map, kRedirects, error);
  const char* const reason = dlerror();
  error = fmt::format("A vendor's library cannot be inspected: {}",
                      reason != nullptr ? reason : "the loader does not say why.");
  return -1;
}

// Whether the runtime knows a GPU of the profile.
bool check_processors(const machine::Profile& profile, void* runtime, std::string& error) {
  link_map* map = nullptr;
  if (dlinfo(runtime, RTLD_DI_LINKMAP, &map) != 0) return true;
  bool usable = true;
  const std::string unknown = unknown_processors(profile, Runtime::kHsa, map->l_name, usable);
  if (!usable) {
    error = unknown;
  } else if (!unknown.empty()) {
    queue::report("halyard vgpu: " + unknown);
  }
  return usable;
}

bool redirect_runtime(const std::string& path, const machine::Profile& profile,
                      std::string& error) {
  void* const runtime = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (runtime == nullptr) {
    const char* const reason = dlerror();
    error = fmt::format(
        "The HSA runtime ({}), which is to run on the virtual GPU, cannot be loaded: {}. Install "
        "it (Debian: libhsa-runtime64-1), or name it in HALYARD_LIBHSA_PATH.",
        path, reason != nullptr ? reason : "the loader does not say why");
    return false;
  }
  if (!check_processors(profile, runtime, error)) return false;
  int count = redirect_library(runtime, error);
  for (const char* const name : kHelpers) {
    if (count < 0) return false;
    void* const helper = dlopen(name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (helper == nullptr) continue;
    const int more = redirect_library(helper, error);
    count = more < 0 ? more : count + more;
  }
  if (count > 0) return true;
  if (count == 0) {
    error = fmt::format(
        "The HSA runtime ({}) cannot use the virtual GPU: neither it nor its libraries call the C "
        "library through an import table.",
        path);
  }
  return false;
}

bool enter(const std::string& runtime, std::string& error) {
  static std::mutex mutex;
  static bool entered = false;
  const std::lock_guard lock(mutex);
  if (entered) return true;
  reserve_standard_streams();
  machine::Profile profile;
  if (!machine::chosen_profile(profile, error)) return false;
  // Never freed: hooks of threads that outlive main use it.
  static auto* const root = new std::string;
  *root = make_file_folder(driver_files(profile, host_facts()), default_folder_parent(), error);
  if (root->empty()) return false;
  start_hooks(c_library(), root->c_str(), halyard_vgpu_kfd_door);
  entered = redirect_runtime(runtime.empty() ? kRuntime : runtime, profile, error);
  if (entered || runtime.empty()) return entered;
  // A driver that uses the system's runtime still has its GPUs. A driver that uses this one reports
  // its error itself.
  std::string ignored;
  entered = redirect_runtime(kRuntime, profile, ignored);
  return entered;
}

}  // namespace
}  // namespace halyard::vgpu::kfd

extern "C" __attribute__((visibility("default"))) int halyard_vgpu_enter(const char* runtime,
                                                                         char* error,
                                                                         size_t error_size) {
  std::string message;
  const bool done = halyard::vgpu::kfd::enter(runtime != nullptr ? runtime : "", message);
  if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
  return done ? 0 : 1;
}
