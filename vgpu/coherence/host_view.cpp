#include "vgpu/coherence/host_view.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <string>
#include <utility>

#include "vgpu/coherence/model.h"
#include "vgpu/host_guard.h"

namespace halyard::vgpu::coherence {
namespace {

Model* watched = nullptr;  // written once, before pages are taken

// The host's access, as findings name it.
class HostNames final : public AccessNames {
 public:
  HostNames(const HostAccess& access) : access_(access) {}

  AccessText describe(uint64_t /*line*/, uint64_t /*mask*/) const override {
    return {"the host's program",
            fmt::format("the host {} 0x{:x}", access_.is_write ? "writes to" : "reads from",
                        access_.address),
            "in " + function()};
  }
  uint64_t place() const override { return access_.pc; }

 private:
  std::string function() const {
    Dl_info info = {};
    if (dladdr(reinterpret_cast<void*>(access_.pc), &info) == 0 || info.dli_fname == nullptr)
      return fmt::format("code at 0x{:x}", access_.pc);
    const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
    return fmt::format("{} ({}+0x{:x})",
                       info.dli_sname != nullptr ? info.dli_sname : "a function without a name",
                       info.dli_fname, access_.pc - base);
  }
  const HostAccess& access_;
};

// The signal handler's entry: true if the access can continue.
bool touched(const HostAccess& access) {
  // The thread may hold the model: then it is a GPU's, in the middle of an access.
  if (Model::Lock::held()) return watched->give_back(access.address);
  const Model::Lock lock(*watched);
  if (!access.by_gpu) watched->host_touches(access.address, access.is_write, HostNames(access));
  return watched->give_back(access.address);
}

}  // namespace

bool guard_page(ShadowPage& page) {
  if (page.guarded) return true;
  page.guarded = mprotect(reinterpret_cast<void*>(page.base), kPageBytes, PROT_NONE) == 0;
  page.was_guarded |= page.guarded;
  return page.guarded;
}

void open_page(ShadowPage& page) {
  if (!std::exchange(page.guarded, false)) return;
  mprotect(reinterpret_cast<void*>(page.base), kPageBytes, PROT_READ | PROT_WRITE);
}

void watch_host(Model& model) {
  watched = &model;
  watch_host_accesses(touched);
}

}  // namespace halyard::vgpu::coherence
