#include "drivers/amdgpu/memory.h"

#include <algorithm>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

Staging::~Staging() {
  if (memory_ != nullptr) memory_->unstage(data_, size_);
}

Memory::~Memory() {
  for (void* const block : staging_.take_all()) device_.hsa().hsa_amd_memory_pool_free(block);
}

namespace {

struct PoolFacts {
  Pool pool;
  uint32_t flags = 0;
};

// The global pools of an agent that can be allocated from.
Status list_pools(const Hsa& hsa, hsa_agent_t agent, bool host, std::vector<PoolFacts>* pools) {
  struct Context {
    const Hsa& hsa;
    bool host;
    std::vector<PoolFacts>* pools;
  } context{hsa, host, pools};
  const auto visit = [](hsa_amd_memory_pool_t handle, void* data) {
    auto& c = *static_cast<Context*>(data);
    const auto get = [&](hsa_amd_memory_pool_info_t what, void* value) {
      return c.hsa.hsa_amd_memory_pool_get_info(handle, what, value) == HSA_STATUS_SUCCESS;
    };
    hsa_amd_segment_t segment = {};
    bool allowed = false;
    PoolFacts facts;
    if (!get(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) || segment != HSA_AMD_SEGMENT_GLOBAL ||
        !get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed) || !allowed ||
        !get(HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &facts.flags)) {
      return HSA_STATUS_SUCCESS;
    }
    Pool& pool = facts.pool;
    pool.handle = handle;
    pool.exists = true;
    pool.host = c.host;
    size_t size = 0;
    size_t granule = 0;
    size_t alignment = 0;
    size_t longest = 0;
    if (get(HSA_AMD_MEMORY_POOL_INFO_SIZE, &size)) pool.size = size;
    if (get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule) && granule != 0) {
      pool.granule = granule;
    }
    if (get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, &alignment) && alignment != 0) {
      pool.alignment = alignment;
    }
    // A runtime that does not say bounds it by the pool alone.
    const bool says = get(HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, &longest) && longest != 0;
    pool.max_allocation = says ? std::min<uint64_t>(longest, pool.size) : pool.size;
    c.pools->push_back(facts);
    return HSA_STATUS_SUCCESS;
  };
  return check(hsa, hsa.hsa_amd_agent_iterate_memory_pools(agent, visit, &context),
               "Listing the memory pools");
}

bool has(const PoolFacts& facts, uint32_t flag) {
  return (facts.flags & flag) != 0;
}

void choose(Pool* pool, const PoolFacts& facts) {
  if (!pool->exists || facts.pool.size > pool->size) *pool = facts.pool;
}

}  // namespace

Status Memory::find_pools() {
  const Hsa& hsa = device_.hsa();
  std::vector<PoolFacts> device;
  std::vector<PoolFacts> host;
  HALYARD_RETURN_IF_ERROR(list_pools(hsa, device_.agent(), false, &device));
  HALYARD_RETURN_IF_ERROR(list_pools(hsa, device_.host_agent(), true, &host));
  for (const PoolFacts& facts : device) {
    if (has(facts, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)) choose(&pools_.device, facts);
    hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    const bool visible =
        hsa.hsa_amd_agent_memory_pool_get_info(device_.host_agent(), facts.pool.handle,
                                               HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                               &access) == HSA_STATUS_SUCCESS &&
        access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    if (is_mappable({.fine_grained = has(facts, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED),
                     .visible = visible,
                     .synchronised = device_.facts().window.can_synchronise()})) {
      choose(&pools_.device_mapped, facts);
    }
  }
  for (const PoolFacts& facts : host) {
    if (has(facts, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) choose(&pools_.kernarg, facts);
    // The kernarg pool is fine-grained too; on some runtimes it is the only such pool.
    if (has(facts, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) &&
        !has(facts, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) {
      choose(&pools_.host, facts);
    }
  }
  if (!pools_.host.exists) pools_.host = pools_.kernarg;
  // ROCm 5.2.3 flags the fine-grained pool itself; a runtime that flags none takes kernel arguments
  // from fine-grained memory as well.
  if (!pools_.kernarg.exists) pools_.kernarg = pools_.host;
  if (!pools_.device.exists || !pools_.host.exists) {
    return error(
        StatusCode::kUnavailable, "The device {} has no {} memory pool that can be allocated from.",
        device_.info().name, pools_.device.exists ? "fine-grained host" : "coarse-grained device");
  }
  return {};
}

Status Memory::open() {
  HALYARD_RETURN_IF_ERROR(find_pools());
  heaps_ = {MemoryType::kDevice, MemoryType::kHost};
  if (pools_.device_mapped.exists) heaps_.push_back(MemoryType::kDeviceMapped);
  return {};
}

const Pool& Memory::pool(MemoryType type) const {
  switch (type) {
    case MemoryType::kHost:
      return pools_.host;
    case MemoryType::kDeviceMapped:
      return pools_.device_mapped;
    default:
      return pools_.device;
  }
}

HeapInfo Memory::info(MemoryType type) const {
  const Pool& from = pool(type);
  HeapInfo info;
  info.type = type;
  info.size = from.size;
  info.max_allocation = from.max_allocation;
  info.granule = from.granule;
  if (type != MemoryType::kHost) {
    info.clock_mhz = device_.facts().memory_clock_mhz;
    info.bus_bits = device_.facts().memory_bus_bits;
  }
  return info;
}

Status Memory::raw_allocate(const Pool& pool, uint64_t size, void** pointer) {
  const Hsa& hsa = device_.hsa();
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_amd_memory_pool_allocate(pool.handle, size, 0, pointer),
            fmt::format("Allocating {} bytes on {}", size, device_.info().name)));
  // The host's memory is not the device's to see until it is given access; the other way round for
  // device memory that the host maps.
  const bool mapped = pool.handle.handle == pools_.device_mapped.handle.handle;
  if (!pool.host && !mapped) return {};
  const hsa_agent_t agents[] = {device_.agent(), device_.host_agent()};
  const hsa_status_t status = hsa.hsa_amd_agents_allow_access(2, agents, nullptr, *pointer);
  if (status == HSA_STATUS_SUCCESS) return {};
  hsa.hsa_amd_memory_pool_free(*pointer);
  return check(hsa, status, fmt::format("Giving {} access to host memory", device_.info().name));
}

Status Memory::try_allocate(MemoryType type, uint64_t size, const RoundedSize& rounded,
                            void** base) {
  const Pool& from = pool(type);
  HALYARD_RETURN_IF_ERROR(usage(type).take(info(type), device_.info().name, size, rounded.bytes));
  // The runtime rounds up as well (hsa_ext_amd.h, hsa_amd_memory_pool_allocate); tools that watch
  // it learn how much is really meant.
  Status status = raw_allocate(from, size + rounded.slack, base);
  if (status.ok()) return status;
  const uint64_t in_use = usage(type).untake(rounded.bytes);
  if (status.code() != StatusCode::kResourceExhausted) return status;
  return error(StatusCode::kResourceExhausted,
               "The allocation of {} bytes of {} memory does not succeed: {} The heap has {} "
               "bytes, of which {} are in use through this device.",
               size, to_string(type), status.message(), from.size, in_use);
}

// What RetiredList::find_memory needs.
struct Memory::Search {
  Memory& memory;
  MemoryType type;
  uint64_t size;
  RoundedSize rounded;
  void** base;

  Status attempt() const { return memory.try_allocate(type, size, rounded, base); }
  void reclaim() const {
    memory.collect();
    memory.device_.pools(type).trim_all();
  }
  HeapRoom room() const {
    const uint64_t live = memory.usage(type).live_bytes();
    const QueuePool::Spare spare = memory.device_.pools(type).spare();
    return {memory.pool(type).size, live, spare.bytes, spare.has_unused};
  }
  template <typename Evaluate>
  PointState wait(const Evaluate& evaluate, Deadline deadline) const {
    return memory.device_.wait_until(evaluate, deadline);
  }
};

Status Memory::allocate(MemoryType type, uint64_t size, uint64_t alignment, const MemoryWait& wait,
                        Allocation* made) {
  const Pool& from = pool(type);
  if (!from.exists) {
    return error(StatusCode::kUnimplemented,
                 "The device {} has no {} memory: the host cannot map its memory. Use device or "
                 "host memory.",
                 device_.info().name, to_string(type));
  }
  // The runtime aligns to its own measure; what is asked for beyond that is made room for.
  const RoundedSize rounded = round_up(size, alignment, from.alignment, from.granule);
  if (!wait.is_for_kernel) collect();
  const Search search{*this, type, size, rounded, &made->base};
  HALYARD_RETURN_IF_ERROR(retired_.find_memory(type, rounded.bytes, wait, search));
  usage(type).add_buffer();
  made->pointer = align_up(made->base, alignment);
  made->taken = rounded.bytes;
  return {};
}

void Memory::free(MemoryType type, void* base, uint64_t taken) {
  device_.hsa().hsa_amd_memory_pool_free(base);
  usage(type).free_buffer(taken);
  retired_.returned(type);
}

Status Memory::allocate_piece(uint64_t size, VmemHandle* piece) {
  constexpr MemoryType kType = MemoryType::kDevice;
  const Hsa& hsa = device_.hsa();
  const auto attempt = [&]() -> Status {
    HALYARD_RETURN_IF_ERROR(usage(kType).take(info(kType), device_.info().name, size, size));
    const hsa_status_t status =
        hsa.hsa_amd_vmem_handle_create(pools_.device.handle, size, 0, 0, piece);
    if (status == HSA_STATUS_SUCCESS) return {};
    usage(kType).untake(size);
    return check(
        hsa, status,
        fmt::format("Allocating {} bytes for a reserved buffer on {}", size, device_.info().name));
  };
  collect();
  Status status = attempt();
  if (status.code() != StatusCode::kResourceExhausted) return status;
  device_.pools(kType).trim_all();
  return attempt();
}

void Memory::free_piece(uint64_t size, VmemHandle piece) {
  device_.hsa().hsa_amd_vmem_handle_release(piece);
  usage(MemoryType::kDevice).untake(size);
  retired_.returned(MemoryType::kDevice);
}

Status Memory::allocate_kernarg(uint64_t size, void** pointer) {
  const uint64_t granule = pools_.kernarg.granule;
  return raw_allocate(pools_.kernarg, (size + granule - 1) / granule * granule, pointer);
}

void Memory::free_kernarg(void* pointer) {
  device_.hsa().hsa_amd_memory_pool_free(pointer);
}

Result<Staging> Memory::stage(uint64_t size) {
  const uint64_t rounded = SpareStaging::size_for(size, pools_.host.granule);
  void* block = staging_.take(size);
  if (block == nullptr) {
    HALYARD_RETURN_IF_ERROR(
        raw_allocate(pools_.host, rounded, &block).with_context("Staging an upload"));
  }
  return Staging(*this, block, rounded);
}

void Memory::unstage(void* data, uint64_t size) {
  if (!staging_.keep(data, size)) device_.hsa().hsa_amd_memory_pool_free(data);
}

bool Memory::Use::in_use() const {
  return std::any_of(points.begin(), points.end(), [](const Point& point) {
    const bool gone = point.core->loss().lost() && !point.core->loss().abandoned();
    return !point.core->is_through(point.end) || (point.to_release && !gone);
  });
}

void Memory::Use::advance() {
  for (Point& point : points) {
    if (point.to_release) point.to_release = !point.core->fences().try_release(&point.end);
  }
}

void Memory::retire(uint64_t users, std::function<void()> release, Freed freed,
                    std::vector<Ref<Device>> peers) {
  Use use;
  std::vector<QueueCore*> cores;
  device_.list_cores(&cores);
  for (const Ref<Device>& peer : peers) {
    std::vector<QueueCore*> theirs;
    static_cast<DeviceImpl*>(peer.get())->list_cores(&theirs);
    cores.insert(cores.end(), theirs.begin(), theirs.end());
  }
  for (QueueCore* const core : cores) {
    if ((core->user_bit() & users) == 0) continue;
    // What is held back keeps references of its own.
    use.points.push_back({core, core->ring().reserved(), freed.is_cached});
  }
  use.advance();
  // Keeps their queues, and has this device's watcher look at what they do.
  if (!peers.empty() && use.in_use()) device_.share_semaphores();
  use.peers = std::move(peers);
  keep(std::move(use), std::move(release), freed);
}

void Memory::retire_behind(QueueCore& core, uint64_t end, std::function<void()> release) {
  Use use;
  use.points.push_back({&core, end});
  keep(std::move(use), std::move(release), {});
}

void Memory::keep(Use use, std::function<void()> release, Freed freed) {
  const bool in_use = use.in_use();
  RetiredList<Use>::Entry entry = {std::move(use), std::move(release), freed.type, freed.bytes};
  if (!in_use) return retired_.release(entry);
  retired_.add(std::move(entry));
  device_.watcher().add_interest();
}

bool Memory::collect() {
  const auto [released, left] = retired_.collect();
  for (size_t i = 0; i < released; ++i) device_.watcher().remove_interest();
  return left != 0;
}

}  // namespace halyard::amdgpu
