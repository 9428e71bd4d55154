#include "device.h"

#include <algorithm>
#include <bit>

#include "engine.h"
#include "executable.h"
#include "hal/error.h"
#include "plugins/sdk/clock.h"

namespace halyard::skeleton {

std::vector<Pool> list_pools(const Hsa& hsa, hsa_agent_t agent, uint32_t* lds_bytes) {
  struct Context {
    const Hsa& hsa;
    uint32_t* lds_bytes;
    std::vector<Pool> pools;
  } context{hsa, lds_bytes, {}};
  const auto visit = [](hsa_amd_memory_pool_t handle, void* data) {
    auto& c = *static_cast<Context*>(data);
    const auto get = [&](hsa_amd_memory_pool_info_t what, auto* value) {
      c.hsa.hsa_amd_memory_pool_get_info(handle, what, value);
    };
    hsa_amd_segment_t segment = {};
    bool allowed = false;
    Pool pool;
    pool.handle = handle;
    get(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    get(HSA_AMD_MEMORY_POOL_INFO_SIZE, &pool.info.size);
    if (segment == HSA_AMD_SEGMENT_GROUP && c.lds_bytes != nullptr) {
      *c.lds_bytes = static_cast<uint32_t>(pool.info.size);
    }
    get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allowed) return HSA_STATUS_SUCCESS;
    get(HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &pool.flags);
    get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &pool.info.granule);
    get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, &pool.info.alignment);
    get(HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, &pool.info.max_allocation);
    if (pool.info.max_allocation == 0) pool.info.max_allocation = pool.info.size;
    pool.info.max_allocation = std::min(pool.info.max_allocation, pool.info.size);
    c.pools.push_back(pool);
    return HSA_STATUS_SUCCESS;
  };
  hsa.hsa_amd_agent_iterate_memory_pools(agent, visit, &context);
  return context.pools;
}

Result<Ref<Device>> DeviceImpl::create(Driver& driver, Hsa& hsa, hsa_agent_t host,
                                       const GpuFacts& facts, const DeviceOptions& options) {
  auto* const device = new DeviceImpl(driver, hsa, host, facts, options);
  Ref<Device> ref = Ref<Device>::adopt(device);
  std::vector<SerialHeapInfo> heaps;
  const auto find = [&](MemoryType type, uint32_t flag) {
    for (const Pool& pool : list_pools(hsa, device->agent_of(type), nullptr)) {
      if ((pool.flags & flag) == 0) continue;
      device->pools_[static_cast<size_t>(type)] = pool.handle;
      heaps.push_back(pool.info);
      heaps.back().type = type;
      return;
    }
  };
  find(MemoryType::kDevice, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  find(MemoryType::kHost, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
  HALYARD_RETURN_IF_ERROR(device->open(heaps, facts.agent.handle));
  static const Status listening = hsa.listen_for_faults();
  HALYARD_RETURN_IF_ERROR(listening);
  return ref;
}

Status DeviceImpl::allocate_memory(MemoryType type, uint64_t size, void** base) {
  const hsa_amd_memory_pool_t pool = pools_[static_cast<size_t>(type)];
  HALYARD_RETURN_IF_ERROR(hsa_.check(hsa_.hsa_amd_memory_pool_allocate(pool, size, 0, base),
                                     fmt::format("Allocating {} bytes on {}", size, info().name)));
  if (type == MemoryType::kDevice) return {};
  const hsa_agent_t agents[] = {agent_, host_};
  const hsa_status_t status = hsa_.hsa_amd_agents_allow_access(2, agents, nullptr, *base);
  if (status != HSA_STATUS_SUCCESS) free_memory(*base);
  return hsa_.check(status, "Giving the device access to host memory");
}

Result<std::unique_ptr<SerialEngine>> DeviceImpl::make_engine(SerialCore& core) {
  auto engine = std::make_unique<Engine>(*this, core);
  HALYARD_RETURN_IF_ERROR(engine->open());
  return std::unique_ptr<SerialEngine>(std::move(engine));
}

Ref<SerialExecutable> DeviceImpl::make_executable(CodeObject object) {
  return Ref<SerialExecutable>::adopt(new ExecutableImpl(*this, std::move(object)));
}

// Whoever made it gives this GPU access: giving it takes it from the agents that are not named.
Status DeviceImpl::find_memory(void* pointer, SerialAllocation* allocation) {
  hsa_amd_pointer_info_t info = {};
  info.size = sizeof info;
  HALYARD_RETURN_IF_ERROR(
      hsa_.check(hsa_.hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr),
                 fmt::format("Asking for the memory at {}", pointer)));
  // Locked memory has an address for each side.
  void* const base = info.agentBaseAddress;
  void* const host = info.hostBaseAddress != nullptr ? info.hostBaseAddress : base;
  allocation->base = info.agentOwner.handle == host_.handle
                         ? SerialPlace::of(base, host, MemoryType::kHost)
                         : SerialPlace::of(base, nullptr, MemoryType::kDevice);
  allocation->size = info.type == HSA_EXT_POINTER_TYPE_UNKNOWN ? 0 : info.sizeInBytes;
  return {};
}

Status DeviceImpl::pin_memory(void* host, uint64_t size, void** device) {
  hsa_agent_t agent = agent_;
  // hsa_amd_memory_lock would make it coarse-grained, which a kernel in flight does not share.
  const hsa_amd_memory_pool_t pool = pools_[static_cast<size_t>(MemoryType::kHost)];
  return hsa_.check(hsa_.hsa_amd_memory_lock_to_pool(host, size, &agent, 1, pool, 0, device),
                    fmt::format("Pinning {} bytes of host memory at {}", size, host));
}

Status DeviceImpl::export_memory(void* base, IpcHandle* handle) {
  hsa_amd_ipc_memory_t made = {};
  const hsa_status_t status = hsa_.hsa_amd_ipc_memory_create(base, handle->allocation_size, &made);
  handle->runtime = std::bit_cast<decltype(handle->runtime)>(made);
  return hsa_.check(status, fmt::format("Exporting {} bytes", handle->allocation_size));
}

Status DeviceImpl::attach_memory(const IpcHandle& handle, void** base) {
  const auto made = std::bit_cast<hsa_amd_ipc_memory_t>(handle.runtime);
  return hsa_.check(
      hsa_.hsa_amd_ipc_memory_attach(&made, handle.allocation_size, 1, &agent_, base),
      "Attaching to memory that a process exports, which may have freed it or have ended");
}

ClockSource DeviceImpl::clock_source() const {
  ClockSource source;
  source.system_hz = info().timestamp_hz;
  source.system_now = [this](uint64_t* ticks) {
    return hsa_.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, ticks) == HSA_STATUS_SUCCESS;
  };
  source.to_system = [this](uint64_t device, uint64_t* system) {
    return hsa_.hsa_amd_profiling_convert_tick_to_system_domain(agent_, device, system) ==
           HSA_STATUS_SUCCESS;
  };
  source.host_now_ns = &now_ns;
  return source;
}

}  // namespace halyard::skeleton
