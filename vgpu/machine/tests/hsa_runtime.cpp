#include "vgpu/machine/tests/hsa_runtime.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "vgpu/halyard_vgpu.h"

namespace halyard::vgpu::testing {

namespace {

std::string& failure() {
  static std::string* const text = new std::string;
  return *text;
}

}  // namespace

void* HsaRuntime::find_if_there(const char* name) const {
  return dlsym(library_, name);
}

void* HsaRuntime::find(const char* name) const {
  void* const symbol = find_if_there(name);
  if (symbol != nullptr) return symbol;
  std::fprintf(stderr, "the HSA runtime has no %s\n", name);
  std::abort();
}

const std::string& HsaRuntime::error() {
  return failure();
}

HsaRuntime* HsaRuntime::instance() {
  static HsaRuntime* runtime = nullptr;
  static bool tried = false;
  if (tried) return runtime;
  tried = true;
  auto* created = new HsaRuntime;
  runtime = created;  // HSA() is used while it opens
  failure() = created->open();
  if (!failure().empty()) runtime = nullptr;
  return runtime;
}

hsa_status_t HsaRuntime::copy(void* to, hsa_agent_t to_agent, const void* from,
                              hsa_agent_t from_agent, size_t bytes) const {
  hsa_signal_t done{};
  hsa_status_t status = HSA(hsa_signal_create)(1, 0, nullptr, &done);
  if (status != HSA_STATUS_SUCCESS) return status;
  status = HSA(hsa_amd_memory_async_copy)(to, to_agent, from, from_agent, bytes, 0, nullptr, done);
  // Below 0: the copy has failed.
  if (status == HSA_STATUS_SUCCESS &&
      HSA(hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) != 0)
    status = HSA_STATUS_ERROR;
  HSA(hsa_signal_destroy)(done);
  return status;
}

std::string HsaRuntime::open() {
  void* const driver = dlopen(HALYARD_VGPU_LIBRARY, RTLD_NOW);
  if (driver == nullptr) return dlerror();
  const auto enter = reinterpret_cast<halyard_vgpu_enter_t>(dlsym(driver, "halyard_vgpu_enter"));
  char error[512] = "";
  if (enter(nullptr, error, sizeof error) != 0) return error;
  library_ = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return dlerror();
  if (HSA(hsa_init)() != HSA_STATUS_SUCCESS) return "hsa_init failed";

  const auto find_agent = [](hsa_agent_t agent, void* data) {
    auto* self = static_cast<HsaRuntime*>(data);
    hsa_device_type_t type{};
    HSA(hsa_agent_get_info)(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU && self->gpu.handle == 0) self->gpu = agent;
    if (type == HSA_DEVICE_TYPE_CPU && self->cpu.handle == 0) self->cpu = agent;
    return HSA_STATUS_SUCCESS;
  };
  HSA(hsa_iterate_agents)(find_agent, this);
  if (gpu.handle == 0) return "the runtime shows no GPU agent";
  if (cpu.handle == 0) return "the runtime shows no CPU agent";

  const auto find_vram = [](hsa_amd_memory_pool_t pool, void* data) {
    auto* self = static_cast<HsaRuntime*>(data);
    hsa_amd_segment_t segment{};
    HSA(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment == HSA_AMD_SEGMENT_GLOBAL && self->vram.handle == 0) self->vram = pool;
    return HSA_STATUS_SUCCESS;
  };
  HSA(hsa_amd_agent_iterate_memory_pools)(gpu, find_vram, this);
  const auto find_system = [](hsa_amd_memory_pool_t pool, void* data) {
    auto* self = static_cast<HsaRuntime*>(data);
    uint32_t flags = 0;
    HSA(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    const bool fine = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0;
    const bool kernarg = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0;
    if (kernarg) self->kernarg = pool;
    if (fine && !kernarg) self->system = pool;
    return HSA_STATUS_SUCCESS;
  };
  HSA(hsa_amd_agent_iterate_memory_pools)(cpu, find_system, this);
  if (vram.handle == 0 || system.handle == 0 || kernarg.handle == 0)
    return "a memory pool is missing";
  return {};
}

}  // namespace halyard::vgpu::testing
