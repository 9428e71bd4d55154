#include "vgpu/coherence/host_view.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <string>

#include "vgpu/coherence/host_writers.h"
#include "vgpu/coherence/model.h"
#include "vgpu/coherence/runtime_returns.h"
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
            "in " + function_text(access_.pc)};
  }
  uint64_t place() const override { return access_.pc; }

 private:
  const HostAccess& access_;
};

// The signal handler's entry: true if the access can continue.
bool touched(const HostAccess& access) {
  if (has_returned(access.address, access.pc)) {
    if (Model::Lock::held()) return true;
    const Model::Lock lock(*watched);
    watched->watch_host_again();
    return true;
  }
  // The thread may hold the model: then it is a GPU's, in the middle of an access.
  if (Model::Lock::held()) return watched->give_back_to_gpu(access.address);
  const bool by_host = !access.by_gpu && access.is_write;
  const HostCallers callers = by_host ? callers_of(access) : HostCallers{};
  const Model::Lock lock(*watched);
  if (access.by_gpu || (access.is_write && callers.writer == 0))
    return watched->give_back_to_gpu(access.address);
  watched->host_touches(access.address, access.is_write, HostNames(access));
  if (!access.is_write) return watched->give_back_to_read(access.address);
  const HostWriterId writer = watched->host_writers().id_of(callers.writer);
  if (!watched->give_back_to_write(access.address, writer)) return false;
  if (callers.returns_to != 0) expect_return(callers.returns_to);
  return true;
}

int protection_of(HostRights rights) {
  switch (rights) {
    case HostRights::kAll:
      return PROT_READ | PROT_WRITE;
    case HostRights::kReads:
      return PROT_READ;
    case HostRights::kNone:
      return PROT_NONE;
  }
  return PROT_READ | PROT_WRITE;
}

}  // namespace

bool set_rights(uint64_t begin, uint64_t size, HostRights rights) {
  return mprotect(reinterpret_cast<void*>(begin), size, protection_of(rights)) == 0;
}

bool set_rights(ShadowPage& page, HostRights rights) {
  if (!set_rights(page.base, kPageBytes, rights)) return false;
  page.rights = rights;
  page.was_taken |= rights != HostRights::kAll;
  return true;
}

void watch_host(Model& model) {
  watched = &model;
  watch_host_accesses(touched);
}

}  // namespace halyard::vgpu::coherence
