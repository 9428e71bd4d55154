// Memory that processes share.
#include <utility>

#include "vgpu/queue/device.h"
#include "vgpu/thunk/memory_manager.h"
#include "vgpu/thunk/shared_handle.h"

namespace halyard::vgpu::thunk {

namespace {

constexpr const char* kNoSegment =
    "halyard vgpu: this memory cannot be given to another process: when it was allocated, the "
    "system had no System V shared memory segment left for it, or the process had taken its share "
    "of 1024. Allocate what is to be shared first, or in fewer and larger pieces; ipcs -m shows "
    "who "
    "has segments, kernel.shmmni says how many there are.";

}  // namespace

HSAKMT_STATUS MemoryManager::share(const void* address, uint64_t size,
                                   HsaSharedMemoryHandle& handle) {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(reinterpret_cast<uintptr_t>(address));
  if (it == allocations_.end()) return HSAKMT_STATUS_INVALID_PARAMETER;
  const Allocation& allocation = it->second;
  // The handle counts pages in 32 bits, as the real one does.
  if (size == 0 || size > allocation.size || allocation.size >> 44 != 0) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  if (!allocation.segment.exists()) {
    // Paged memory cannot be shared with the kernel driver either.
    if (allocation.flags.ui32.NonPaged != 0 && allocation.flags.ui32.Scratch == 0) {
      queue::report(kNoSegment);
    }
    return HSAKMT_STATUS_ERROR;
  }
  if (observer_ != nullptr) observer_->shared(allocation.begin);
  encode({allocation.segment, allocation.size, allocation.node, allocation.flags.Value}, handle);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryManager::import(const HsaSharedMemoryHandle& handle, const uint32_t* nodes,
                                    uint64_t count, void** address, uint64_t* size) {
  if (address == nullptr || size == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  const auto shared = decode(handle);
  if (!shared) return HSAKMT_STATUS_INVALID_HANDLE;
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> list;
  if (!nodes_from(nodes, count, list)) return HSAKMT_STATUS_INVALID_PARAMETER;
  // Of a process with another profile, which is another machine.
  if (shared->node >= vram_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  void* const memory = reserve_pages(shared->size, nullptr);
  if (memory == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  if (!attach_pages(shared->segment, memory, shared->size)) {
    release_pages(memory, shared->size);
    return HSAKMT_STATUS_ERROR;
  }
  Allocation allocation;
  allocation.begin = reinterpret_cast<uintptr_t>(memory);
  allocation.size = shared->size;
  allocation.node = shared->node;
  allocation.flags.Value = shared->flags;
  allocation.segment = shared->segment;
  allocation.imported = true;
  if (nodes != nullptr) allocation.registered = intern(std::move(list));
  add(std::move(allocation));
  *address = memory;
  *size = shared->size;
  return HSAKMT_STATUS_SUCCESS;
}

}  // namespace halyard::vgpu::thunk
