#include "vgpu/thunk/memory_manager.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "vgpu/isa/registered.h"

namespace halyard::vgpu::thunk {

namespace {

constexpr uint64_t kPage = 4096;

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

// The host's address of memory that is named by the host's or by the GPU's.
uint64_t number(const void* address) {
  return isa::host_address(reinterpret_cast<uintptr_t>(address));
}

// Where GPUs see registered memory.
uint64_t on_gpu(uint64_t address) {
  return address | isa::kRegistered;
}

void add_registered(AddressTable& table, uint64_t begin, uint64_t end) {
  table.add(on_gpu(begin), on_gpu(end), isa::kRegisteredToHost);
}
void remove_registered(AddressTable& table, uint64_t begin, uint64_t end) {
  table.remove(on_gpu(begin), on_gpu(end));
}

// Whether the process has memory on every page of the range. msync looks at the mappings only;
// with MS_ASYNC it has no other effect.
bool is_mapped(uint64_t begin, uint64_t end) {
  return msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

}  // namespace

uint64_t MemoryManager::Registration::first_page() const {
  return begin / kPage * kPage;
}
uint64_t MemoryManager::Registration::end_page() const {
  return round_up(begin + size, kPage);
}

MemoryManager::MemoryManager(std::vector<uint64_t> vram, std::set<uint32_t> hidden)
    : vram_(std::move(vram)),
      hidden_(std::move(hidden)),
      vram_used_(vram_.size(), 0),
      gpus_(vram_.size()) {
  for (size_t node = 0; node < vram_.size(); ++node) {
    if (vram_[node] != 0) gpus_[node] = std::make_unique<AddressTable>();
  }
}

MemoryManager::Nodes MemoryManager::intern(std::vector<uint32_t> nodes) {
  return &*node_sets_.insert(std::move(nodes)).first;
}

uint64_t MemoryManager::vram_used(uint32_t node) const {
  const std::lock_guard lock(mutex_);
  return vram_used_[node];
}

HSAKMT_STATUS MemoryManager::allocate(uint32_t node, uint64_t size, HsaMemFlags flags,
                                      void** address) {
  if (address == nullptr || size == 0 || size > (uint64_t{1} << 47)) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  if (node >= vram_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  void* const fixed = flags.ui32.FixedAddress != 0 ? *address : nullptr;
  if (flags.ui32.FixedAddress != 0 && (fixed == nullptr || number(fixed) % kPage != 0)) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  *address = nullptr;
  if (flags.ui32.GDSMemory != 0) return HSAKMT_STATUS_NOT_SUPPORTED;
  size = round_up(size, kPage);
  // As the real thunk does: paged memory of a GPU node is system memory.
  const bool is_vram = vram_[node] != 0 && flags.ui32.NonPaged != 0 && flags.ui32.Scratch == 0;

  // As the kernel driver does (amdkfd, kfd_ioctl_alloc_memory_of_gpu).
  if (is_vram && flags.ui32.HostAccess != 0 && hidden_.contains(node)) {
    return HSAKMT_STATUS_NO_MEMORY;
  }

  const std::lock_guard lock(mutex_);
  if (is_vram && size > vram_[node] - vram_used_[node]) return HSAKMT_STATUS_NO_MEMORY;
  const uint64_t gap = fixed == nullptr ? gap_ : 0;
  void* const memory = reserve_pages(size + gap, fixed);
  if (memory == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  Allocation allocation;
  allocation.begin = number(memory);
  allocation.size = size;
  allocation.gap = gap;
  allocation.node = node;
  allocation.flags = flags;
  // What the runtime may export is not paged: VRAM, and memory that it asks for with AllocateIPC.
  const bool exportable = flags.ui32.NonPaged != 0 && flags.ui32.Scratch == 0;
  if (exportable && segments_ < kMaxSegments && !share_pages(memory, size, &allocation.segment)) {
    release_pages(memory, size + gap);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  if (allocation.segment.exists()) ++segments_;
  if (is_vram) vram_used_[node] += size;
  add(std::move(allocation));
  *address = memory;
  return HSAKMT_STATUS_SUCCESS;
}

void MemoryManager::add(Allocation allocation) {
  // Memory of the GPU is not the child's: a child's copy-on-write copies would come between.
  madvise(reinterpret_cast<void*>(allocation.begin), allocation.size, MADV_DONTFORK);
  all_.add(allocation.begin, allocation.begin + allocation.size);
  if (is_coarse_grained(allocation.flags))
    coarse_.add(allocation.begin, allocation.begin + allocation.size);
  if (observer_ != nullptr) {
    observer_->added({allocation.begin, allocation.size, is_vram(allocation) ? allocation.node : 0,
                      allocation.flags, true, allocation.imported});
  }
  allocations_.emplace(allocation.begin, std::move(allocation));
}

bool MemoryManager::is_vram(const Allocation& allocation) const {
  return vram_[allocation.node] != 0 && allocation.flags.ui32.NonPaged != 0 &&
         allocation.flags.ui32.Scratch == 0;
}

HSAKMT_STATUS MemoryManager::free(void* address) {
  if (address == nullptr) return HSAKMT_STATUS_ERROR;
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(number(address));
  if (it == allocations_.end()) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  remove(it);
  return HSAKMT_STATUS_SUCCESS;
}

void MemoryManager::remove(std::map<uint64_t, Allocation>::iterator it) {
  const Allocation& allocation = it->second;
  const uint64_t end = allocation.begin + allocation.size;
  if (allocation.mapped != nullptr) uncover(*allocation.mapped, allocation.begin, end);
  for (const auto& [begin, size] : allocation.pieces) {
    uncover({allocation.node}, begin, begin + size);
  }
  all_.remove(allocation.begin, end);
  if (is_coarse_grained(allocation.flags)) coarse_.remove(allocation.begin, end);
  if (observer_ != nullptr) observer_->removed(allocation.begin);
  if (!allocation.imported) {
    if (is_vram(allocation)) vram_used_[allocation.node] -= allocation.size;
    if (allocation.segment.exists()) --segments_;
  }
  release_pages(reinterpret_cast<void*>(allocation.begin), allocation.size + allocation.gap);
  allocations_.erase(it);
}

MemoryManager::Allocation* MemoryManager::allocation_at(uint64_t address) {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  Allocation& candidate = std::prev(next)->second;
  return address - candidate.begin < candidate.size ? &candidate : nullptr;
}

MemoryManager::Registration* MemoryManager::registration_of(uint64_t address, uint64_t size) {
  const auto [first, last] = registrations_.equal_range(address);
  for (auto it = first; it != last; ++it) {
    if (it->second.size == size) return &it->second;
  }
  return nullptr;
}

MemoryManager::Registration* MemoryManager::registration_at(uint64_t address) {
  auto it = registrations_.upper_bound(address);
  while (it != registrations_.begin()) {
    --it;
    if (address - it->first < it->second.size) return &it->second;
    if (address - it->first >= largest_registration_) break;
  }
  return nullptr;
}

bool MemoryManager::nodes_from(const uint32_t* nodes, uint64_t count,
                               std::vector<uint32_t>& result) const {
  result.clear();
  if (nodes == nullptr) {
    for (uint32_t node = 0; node < gpus_.size(); ++node) {
      if (gpus_[node] != nullptr) result.push_back(node);
    }
    return true;
  }
  if (count > gpus_.size()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (nodes[i] >= gpus_.size() || gpus_[nodes[i]] == nullptr) return false;
    result.push_back(nodes[i]);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return true;
}

void MemoryManager::cover(const std::vector<uint32_t>& nodes, uint64_t begin, uint64_t end) {
  for (const uint32_t node : nodes) gpus_[node]->add(begin, end);
}

void MemoryManager::uncover(const std::vector<uint32_t>& nodes, uint64_t begin, uint64_t end) {
  for (const uint32_t node : nodes) gpus_[node]->remove(begin, end);
}

HSAKMT_STATUS MemoryManager::register_user(void* address, uint64_t size, HsaMemFlags flags) {
  if (address == nullptr || size == 0 || size > (uint64_t{1} << 47)) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  const uint64_t begin = reinterpret_cast<uintptr_t>(address);
  if (begin > (uint64_t{1} << 47) - size) return HSAKMT_STATUS_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  // Memory of the thunk is known to it already.
  if (allocation_at(begin) != nullptr) return HSAKMT_STATUS_SUCCESS;
  if (Registration* known = registration_of(begin, size)) {
    ++known->count;
    return HSAKMT_STATUS_SUCCESS;
  }
  Registration registration;
  registration.begin = begin;
  registration.size = size;
  registration.flags = flags;
  // The kernel would fail to pin what is not there; touching it later would end the process.
  if (!is_mapped(registration.first_page(), registration.end_page())) return HSAKMT_STATUS_ERROR;
  all_.add(registration.first_page(), registration.end_page());
  if (is_coarse_grained(flags))
    add_registered(coarse_, registration.first_page(), registration.end_page());
  largest_registration_ = std::max(largest_registration_, size);
  if (observer_ != nullptr) {
    observer_->added({registration.first_page(),
                      registration.end_page() - registration.first_page(), 0, flags, false, false});
  }
  registrations_.emplace(begin, registration);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::register_to_nodes(void* address, uint64_t size, const uint32_t* nodes,
                                               uint64_t count) {
  std::vector<uint32_t> list;
  if (nodes == nullptr || !nodes_from(nodes, count, list)) return HSAKMT_STATUS_INVALID_PARAMETER;
  HsaMemFlags flags = {};
  flags.ui32.HostAccess = 1;
  flags.ui32.CoarseGrain = 1;
  const HSAKMT_STATUS status = register_user(address, size, flags);
  if (status != HSAKMT_STATUS_SUCCESS) return status;
  const std::lock_guard lock(mutex_);
  if (Allocation* allocation = allocation_at(number(address))) {
    allocation->registered = intern(std::move(list));
  } else if (Registration* registration = registration_of(number(address), size)) {
    registration->registered = intern(std::move(list));
  }
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::deregister(void* address) {
  const std::lock_guard lock(mutex_);
  if (Allocation* allocation = allocation_at(number(address))) {
    if (allocation->imported) {
      if (allocation->begin != number(address)) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
      remove(allocations_.find(allocation->begin));
      return HSAKMT_STATUS_SUCCESS;
    }
    if (allocation->registered == nullptr) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
    allocation->registered = nullptr;
    return HSAKMT_STATUS_SUCCESS;
  }
  // Of several ranges with this begin, the one that was registered last.
  const auto [first, last] = registrations_.equal_range(number(address));
  if (first == last) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  const auto it = std::prev(last);
  Registration& registration = it->second;
  if (--registration.count > 0) return HSAKMT_STATUS_SUCCESS;
  if (registration.mappings > 0) drop_mapping(registration);
  all_.remove(registration.first_page(), registration.end_page());
  if (is_coarse_grained(registration.flags))
    remove_registered(coarse_, registration.first_page(), registration.end_page());
  if (observer_ != nullptr) observer_->removed(registration.first_page());
  registrations_.erase(it);
  return HSAKMT_STATUS_SUCCESS;
}

void MemoryManager::drop_mapping(Registration& registration) {
  for (const uint32_t node : *registration.mapped)
    remove_registered(*gpus_[node], registration.first_page(), registration.end_page());
  registration.mapped = nullptr;
  registration.mappings = 0;
}

HSAKMT_STATUS MemoryManager::map_allocation(Allocation& allocation, uint64_t address, uint64_t size,
                                            std::vector<uint32_t> nodes) {
  if (allocation.flags.ui32.Scratch != 0) {
    const uint64_t end = allocation.begin + allocation.size;
    if (size == 0 || size > end - address) return HSAKMT_STATUS_INVALID_PARAMETER;
    if (!allocation.pieces.emplace(address, size).second) return HSAKMT_STATUS_SUCCESS;
    cover({allocation.node}, address, address + size);
    return HSAKMT_STATUS_SUCCESS;
  }
  const uint64_t end = allocation.begin + allocation.size;
  const std::vector<uint32_t> none;
  const std::vector<uint32_t>& before = allocation.mapped != nullptr ? *allocation.mapped : none;
  std::vector<uint32_t> gained;
  std::vector<uint32_t> lost;
  std::set_difference(nodes.begin(), nodes.end(), before.begin(), before.end(),
                      std::back_inserter(gained));
  std::set_difference(before.begin(), before.end(), nodes.begin(), nodes.end(),
                      std::back_inserter(lost));
  cover(gained, allocation.begin, end);
  uncover(lost, allocation.begin, end);
  allocation.mapped = intern(std::move(nodes));
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::map(void* address, uint64_t size, const uint32_t* nodes,
                                 uint64_t count, uint64_t* gpu_address) {
  if (address == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (gpu_address != nullptr) *gpu_address = number(address);
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> list;
  if (!nodes_from(nodes, count, list)) return HSAKMT_STATUS_ERROR;
  if (Allocation* allocation = allocation_at(number(address))) {
    if (allocation->imported && nodes == nullptr && allocation->registered != nullptr) {
      list = *allocation->registered;
    }
    return map_allocation(*allocation, number(address), size, std::move(list));
  }
  Registration* registration = registration_of(number(address), size);
  if (registration == nullptr) registration = registration_at(number(address));
  if (registration == nullptr) return HSAKMT_STATUS_ERROR;
  if (gpu_address != nullptr) *gpu_address = on_gpu(number(address));
  if (registration->mappings++ > 0) return HSAKMT_STATUS_SUCCESS;
  // As the real thunk does: user memory is mapped to the nodes that it was registered for, which
  // allows to register it several times.
  if (registration->registered != nullptr) {
    list = *registration->registered;
  } else {
    nodes_from(nullptr, 0, list);
  }
  for (const uint32_t node : list)
    add_registered(*gpus_[node], registration->first_page(), registration->end_page());
  registration->mapped = intern(std::move(list));
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::unmap(void* address) {
  const std::lock_guard lock(mutex_);
  if (Allocation* allocation = allocation_at(number(address))) {
    const auto piece = allocation->pieces.find(number(address));
    if (piece != allocation->pieces.end()) {
      uncover({allocation->node}, piece->first, piece->first + piece->second);
      allocation->pieces.erase(piece);
      return HSAKMT_STATUS_SUCCESS;
    }
    if (allocation->mapped == nullptr) return HSAKMT_STATUS_SUCCESS;
    uncover(*allocation->mapped, allocation->begin, allocation->begin + allocation->size);
    allocation->mapped = nullptr;
    return HSAKMT_STATUS_SUCCESS;
  }
  const auto [first, last] = registrations_.equal_range(number(address));
  if (first == last) return HSAKMT_STATUS_ERROR;
  Registration& registration = std::prev(last)->second;
  if (registration.mappings == 0) return HSAKMT_STATUS_SUCCESS;
  if (--registration.mappings == 0) drop_mapping(registration);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::query(const void* address, HsaPointerInfo* info) {
  if (info == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  std::memset(info, 0, sizeof *info);
  const std::lock_guard lock(mutex_);
  Nodes mapped = nullptr;
  Nodes registered = nullptr;
  if (const Allocation* allocation = allocation_at(number(address))) {
    info->Type = allocation->imported ? HSA_POINTER_REGISTERED_SHARED : HSA_POINTER_ALLOCATED;
    info->Node = allocation->node;
    info->MemFlags = allocation->flags;
    // The real thunk names the host's address of its own memory only.
    if (!allocation->imported) info->CPUAddress = reinterpret_cast<void*>(allocation->begin);
    info->GPUAddress = allocation->begin;
    info->SizeInBytes = allocation->size;
    info->UserData = allocation->user_data;
    mapped = allocation->mapped;
    registered = allocation->registered;
  } else if (const Registration* registration = registration_at(number(address))) {
    info->Type = HSA_POINTER_REGISTERED_USER;
    info->Node = 0;
    info->MemFlags = registration->flags;
    info->CPUAddress = reinterpret_cast<void*>(registration->begin);
    info->GPUAddress = on_gpu(registration->begin);
    info->SizeInBytes = registration->size;
    info->UserData = registration->user_data;
    mapped = registration->mapped;
    registered = registration->registered;
  } else {
    info->Type = HSA_POINTER_UNKNOWN;
    return HSAKMT_STATUS_ERROR;
  }
  if (mapped != nullptr) {
    info->NMappedNodes = static_cast<HSAuint32>(mapped->size());
    info->MappedNodes = mapped->data();
  }
  if (registered != nullptr) {
    info->NRegisteredNodes = static_cast<HSAuint32>(registered->size());
    info->RegisteredNodes = registered->data();
  }
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::set_user_data(const void* address, void* data) {
  const std::lock_guard lock(mutex_);
  if (Allocation* allocation = allocation_at(number(address))) {
    allocation->user_data = data;
    return HSAKMT_STATUS_SUCCESS;
  }
  if (Registration* registration = registration_at(number(address))) {
    registration->user_data = data;
    return HSAKMT_STATUS_SUCCESS;
  }
  return HSAKMT_STATUS_ERROR;
}

void MemoryManager::add_internal(const void* address, uint64_t size) {
  for (auto& gpu : gpus_) {
    if (gpu != nullptr) gpu->add(number(address), number(address) + size);
  }
  all_.add(number(address), number(address) + size);
}

void MemoryManager::remove_internal(const void* address, uint64_t size) {
  for (auto& gpu : gpus_) {
    if (gpu != nullptr) gpu->remove(number(address), number(address) + size);
  }
  all_.remove(number(address), number(address) + size);
}

}  // namespace halyard::vgpu::thunk
