#include "memory.h"

#include "device.h"
#include "hal/error.h"
#include "queue.h"

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
      return c.hsa.hsa_amd_memory_pool_get_info(handle, what, value) == HSA_STATUS_SUCCESS;
    };
    hsa_amd_segment_t segment = {};
    bool allowed = false;
    Pool pool;
    pool.handle = handle;
    get(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    get(HSA_AMD_MEMORY_POOL_INFO_SIZE, &pool.size);
    if (segment == HSA_AMD_SEGMENT_GROUP && c.lds_bytes != nullptr) {
      *c.lds_bytes = static_cast<uint32_t>(pool.size);
    }
    get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allowed) return HSA_STATUS_SUCCESS;
    get(HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &pool.flags);
    get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &pool.granule);
    get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, &pool.alignment);
    get(HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, &pool.max_allocation);
    if (pool.max_allocation == 0) pool.max_allocation = pool.size;
    pool.max_allocation = std::min(pool.max_allocation, pool.size);
    c.pools.push_back(pool);
    return HSA_STATUS_SUCCESS;
  };
  hsa.hsa_amd_agent_iterate_memory_pools(agent, visit, &context);
  return context.pools;
}

Heap::Heap(Memory& memory, DeviceImpl& device, MemoryType type, const Pool& pool)
    : memory_(memory),
      device_(device),
      type_(type),
      pool_(pool),
      pools_(*this, device.options().pool_keep_bytes.value_or(pool.size / 4)) {}

Status Heap::raw_allocate(uint64_t size, void** base) {
  const Hsa& hsa = device_.hsa();
  HALYARD_RETURN_IF_ERROR(
      hsa.check(hsa.hsa_amd_memory_pool_allocate(pool_.handle, size, 0, base),
                fmt::format("Allocating {} bytes on {}", size, device_.info().name)));
  if (type_ == MemoryType::kDevice) return {};
  const hsa_agent_t agents[] = {device_.agent(), device_.host_agent()};
  const hsa_status_t status = hsa.hsa_amd_agents_allow_access(2, agents, nullptr, *base);
  if (status != HSA_STATUS_SUCCESS) hsa.hsa_amd_memory_pool_free(*base);
  return hsa.check(status, "Giving the device access to host memory");
}

Status Heap::allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait, PoolBlock* block) {
  const RoundedSize rounded = round_up(size, alignment, pool_.alignment, pool_.granule);
  // What RetiredList::find_memory needs.
  struct Search {
    Heap& heap;
    const uint64_t size;
    const RoundedSize rounded;
    void* base = nullptr;

    Status attempt() {
      const HeapInfo info = heap.memory_.info(heap.type_);
      HALYARD_RETURN_IF_ERROR(
          heap.usage_.take(info, heap.device_.info().name, size, rounded.bytes));
      const Status status = heap.raw_allocate(size + rounded.slack, &base);
      if (!status.ok()) heap.usage_.untake(rounded.bytes);
      return status;
    }
    void reclaim() {
      heap.memory_.retired().collect();
      heap.pools_.trim_all();
    }
    HeapRoom room() {
      const QueuePool::Spare spare = heap.pools_.spare();
      return {heap.pool_.size, heap.usage_.live_bytes(), spare.bytes, spare.has_unused};
    }
    PointState wait(const std::function<PointState()>& evaluate, Deadline deadline) {
      return heap.wait_until(evaluate, deadline);
    }
  } search{*this, size, rounded};
  memory_.retired().collect();
  HALYARD_RETURN_IF_ERROR(memory_.retired().find_memory(type_, rounded.bytes, wait, search));
  usage_.add_buffer();
  *block = {search.base, reinterpret_cast<uint64_t>(align_up(search.base, alignment)), size,
            alignment, rounded.bytes};
  return {};
}

void Heap::free(const PoolBlock& block) {
  device_.hsa().hsa_amd_memory_pool_free(block.base);
  usage_.free_buffer(block.taken);
  memory_.retired().returned(type_);
  Progress::instance().notify();
}

bool Heap::reached(const PoolPoint& point) {
  return reinterpret_cast<const Core*>(point.queue)->completed() > point.index;
}

bool Heap::comes(const PoolPoint& point) {
  return !reinterpret_cast<const Core*>(point.queue)->is_lost();
}

Status Memory::open() {
  const auto find = [&](hsa_agent_t agent, MemoryType type, uint32_t flag) {
    for (const Pool& pool : list_pools(device_.hsa(), agent, nullptr)) {
      std::unique_ptr<Heap>& heap = heaps_of_[static_cast<size_t>(type)];
      if ((pool.flags & flag) == 0 || heap != nullptr) continue;
      heap = std::make_unique<Heap>(*this, device_, type, pool);
      heaps_.push_back(type);
    }
  };
  find(device_.agent(), MemoryType::kDevice, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  find(device_.host_agent(), MemoryType::kHost, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
  if (heaps_.size() == 2) return {};
  return error(StatusCode::kUnavailable,
               "The device {} lacks one of two memory pools: coarse-grained device memory and "
               "fine-grained host memory.",
               device_.info().name);
}

void Memory::close() {
  retired_.collect();
  for (std::unique_ptr<Heap>& heap : heaps_of_) heap.reset();
}

HeapInfo Memory::info(MemoryType type) const {
  const Pool& pool = heap(type).pool();
  HeapInfo info;
  info.type = type;
  info.size = pool.size;
  info.max_allocation = pool.max_allocation;
  info.granule = pool.granule;
  return info;
}

void Memory::retire(std::shared_ptr<Block> block, MemoryType type, uint64_t bytes) {
  std::function<void()> release = std::move(block->release);
  retired_.add({{std::move(block)}, std::move(release), type, bytes});
  retired_.collect();
  Progress::instance().notify();
}

BufferImpl::BufferImpl(DeviceImpl& device, MemoryType type, uint64_t size, uint64_t address)
    : BufferBase(device, type, size, address),
      device_(device),
      keep_alive_(Ref<Device>::retain(&device)) {}

Result<Ref<Buffer>> BufferImpl::allocate(DeviceImpl& device, uint64_t size,
                                         const BufferOptions& options) {
  if (options.type == MemoryType::kDeviceMapped) {
    return error(StatusCode::kUnimplemented,
                 "The driver {} has no {} memory. Use device or host memory.", kName,
                 to_string(options.type));
  }
  Heap& heap = device.memory().heap(options.type);
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(heap.allocate(size, options.alignment, kMemoryWait, &block));
  auto* const buffer = new BufferImpl(device, options.type, size, block.address);
  buffer->taken_ = block.taken;
  buffer->block_ = std::make_shared<Block>(Block{[&heap, block] { heap.free(block); }});
  AllocationInfo info;
  info.type = options.type;
  info.device_address = block.address;
  info.size = size;
  if (options.type == MemoryType::kHost) info.host_pointer = buffer->at(0);
  device.allocations().add(*buffer, info);
  return Ref<Buffer>::adopt(buffer);
}

Result<Ref<Buffer>> BufferImpl::from_pool(DeviceImpl& device, uint64_t queue, uint64_t size,
                                          const PoolOptions& options, PoolPoint* after) {
  if (options.type == MemoryType::kDeviceMapped) {
    BufferOptions same;
    same.type = options.type;
    return allocate(device, size, same);  // says why not
  }
  std::shared_ptr<QueuePool> pool = pool_for(options, device.pools(options.type));
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(pool->acquire(size, options.alignment, queue, &block, after));
  auto* const buffer = new BufferImpl(device, options.type, size, block.address);
  buffer->taken_ = block.size;
  buffer->block_ = std::make_shared<Block>(Block{[pool, block] { pool->release_unused(block); }});
  buffer->lease_.begin(*buffer, block, std::move(pool), device.allocations());
  return Ref<Buffer>::adopt(buffer);
}

void BufferImpl::destroy() noexcept {
  const Ref<Device> device = keep_alive_;
  if (parent_) {
    of(*parent_).lease_.remove_view(*this);
  } else if (!lease_.is_of_pool()) {
    device_.allocations().remove(*this);
  }
  if (!parent_ && (!lease_.is_of_pool() || lease_.ends_with_block())) {
    device_.memory().retire(std::move(block_), type(), taken_);
  }
  delete this;
}

Status BufferImpl::do_map(uint64_t offset, uint64_t, MapAccess, void** pointer) {
  return maps_.map(type() == MemoryType::kHost ? at(offset) : nullptr, pointer);
}

Status BufferImpl::do_subspan(uint64_t offset, uint64_t length, Buffer** view) {
  auto* const made = new BufferImpl(device_, type(), length, device_address() + offset);
  made->parent_ = Ref<Buffer>::retain(parent_ ? parent_.get() : this);
  of(*made->parent_).lease_.add_view(*made);
  *view = made;
  return {};
}

}  // namespace halyard::skeleton
