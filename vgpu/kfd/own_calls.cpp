#include "vgpu/kfd/own_calls.h"

#include <dlfcn.h>
#include <link.h>

#include <mutex>
#include <string>
#include <vector>

#include "vgpu/kfd/import_table.h"
#include "vgpu/queue/device.h"

namespace halyard::vgpu::kfd {
namespace {

// What tells the driver of memory.
constexpr const char* kCalls[] = {"mmap", "mmap64", "munmap", "mprotect", "mremap", "ioctl"};
constexpr const char* kVersion = "GLIBC_2.2.5";  // the first on x86-64

void redirect_own_imports() {
  if (dlopen("libhalyard-kfd-preload.so.0", RTLD_NOW | RTLD_NOLOAD) == nullptr) return;
  void* const c_library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  Dl_info info = {};
  link_map* own = nullptr;
  if (c_library == nullptr || dladdr1(reinterpret_cast<void*>(&call_c_library_directly), &info,
                                      reinterpret_cast<void**>(&own), RTLD_DL_LINKMAP) == 0)
    return;
  std::vector<Redirect> redirects;
  for (const char* const name : kCalls) {
    // dlsym() itself leads to the preloaded library.
    void* const function = dlvsym(c_library, name, kVersion);
    if (function != nullptr) redirects.push_back({name, function});
  }
  std::string error;
  if (redirect_imports(*own, redirects, error) < 0) queue::report("halyard vgpu: " + error);
}

}  // namespace

void call_c_library_directly() {
  static std::once_flag once;
  std::call_once(once, redirect_own_imports);
}

}  // namespace halyard::vgpu::kfd
