// Functions between a program and the vendor's runtime.
//
// ROCR loads the libraries in HSA_TOOLS_LIB and lets each replace functions in the table that every
// hsa_* call uses (hsa_api_trace.h; `halyard vgpu exec` names this library). The virtual GPU does
// this for three purposes:
// - Image calls fail (image_hooks.cpp).
// - Waits for signals sleep (wait_hooks.cpp).
// - In the checking mode, an allocation is a page larger than requested, so that blocks are never
//   neighbours, and the requested size is recorded (block_map.h).
#include <algorithm>

#include "vgpu/machine/image_hooks.h"
#include "vgpu/machine/machine.h"
#include "vgpu/machine/wait_hooks.h"

namespace {

using halyard::vgpu::machine::BlockMap;
using halyard::vgpu::machine::Machine;

constexpr size_t kPage = 4096;

// The functions that these stand in for. Written once, before the runtime is used.
struct {
  decltype(hsa_memory_allocate)* memory_allocate = nullptr;
  decltype(hsa_memory_free)* memory_free = nullptr;
  decltype(hsa_amd_memory_pool_allocate)* pool_allocate = nullptr;
  decltype(hsa_amd_memory_pool_free)* pool_free = nullptr;
  decltype(hsa_amd_pointer_info)* pointer_info = nullptr;
  decltype(hsa_amd_ipc_memory_create)* ipc_create = nullptr;
  decltype(hsa_amd_ipc_memory_attach)* ipc_attach = nullptr;
  decltype(hsa_amd_ipc_memory_detach)* ipc_detach = nullptr;
} real;

BlockMap* blocks() {
  Machine* const machine = halyard::vgpu::machine::machine();
  return machine != nullptr ? machine->blocks() : nullptr;
}

constexpr size_t padded(size_t size) {
  return size <= ~size_t{0} - kPage ? size + kPage : size;
}

constexpr size_t in_pages(size_t size) {
  return (size + kPage - 1) / kPage * kPage;
}

void add_block(void* pointer, size_t size) {
  BlockMap* const map = blocks();
  if (map == nullptr || pointer == nullptr) return;
  map->add({reinterpret_cast<uintptr_t>(pointer), size, in_pages(padded(size))});
}

void remove_block(void* pointer) {
  if (BlockMap* const map = blocks()) map->remove(reinterpret_cast<uintptr_t>(pointer));
}

hsa_status_t memory_allocate(hsa_region_t region, size_t size, void** pointer) {
  const hsa_status_t status = real.memory_allocate(region, padded(size), pointer);
  if (status == HSA_STATUS_SUCCESS) add_block(*pointer, size);
  return status;
}

hsa_status_t memory_free(void* pointer) {
  remove_block(pointer);
  return real.memory_free(pointer);
}

hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                           void** pointer) {
  // 0 bytes are an error of the caller's, which the runtime is to see.
  const hsa_status_t status =
      real.pool_allocate(pool, size == 0 ? 0 : padded(size), flags, pointer);
  if (status == HSA_STATUS_SUCCESS) add_block(*pointer, size);
  return status;
}

hsa_status_t pool_free(void* pointer) {
  remove_block(pointer);
  return real.pool_free(pointer);
}

// The requested size, for queries about a pointer's allocation.
hsa_status_t pointer_info(const void* pointer, hsa_amd_pointer_info_t* info,
                          void* (*allocate)(size_t), uint32_t* count, hsa_agent_t** agents) {
  const hsa_status_t status = real.pointer_info(pointer, info, allocate, count, agents);
  BlockMap* const map = blocks();
  if (status != HSA_STATUS_SUCCESS || map == nullptr || info == nullptr) return status;
  const auto block = map->find(reinterpret_cast<uintptr_t>(pointer));
  if (block && reinterpret_cast<uintptr_t>(info->agentBaseAddress) == block->begin)
    info->sizeInBytes = block->size;
  return status;
}

// Only whole allocations can be exported. The runtime knows their size in pages; pointer_info() has
// reported the requested size to the program.
hsa_status_t ipc_create(void* pointer, size_t size, hsa_amd_ipc_memory_t* handle) {
  BlockMap* const map = blocks();
  const auto block =
      map != nullptr ? map->find(reinterpret_cast<uintptr_t>(pointer)) : std::nullopt;
  if (block && block->begin == reinterpret_cast<uintptr_t>(pointer) &&
      (size == block->size || size == in_pages(block->size)))
    size = block->guarded;
  return real.ipc_create(pointer, size, handle);
}

// The importer says how much of it is in use. Around that lie the exporter's guard, or other
// blocks.
hsa_status_t ipc_attach(const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t agent_count,
                        const hsa_agent_t* agents, void** pointer) {
  const hsa_status_t status = real.ipc_attach(handle, size, agent_count, agents, pointer);
  if (status != HSA_STATUS_SUCCESS) return status;
  hsa_amd_pointer_info_t info = {};
  info.size = sizeof info;
  BlockMap* const map = blocks();
  if (map != nullptr && real.pointer_info(*pointer, &info, nullptr, nullptr, nullptr) == status) {
    map->add({reinterpret_cast<uintptr_t>(*pointer), std::min(size, info.sizeInBytes),
              info.sizeInBytes});
  }
  return status;
}

hsa_status_t ipc_detach(void* pointer) {
  remove_block(pointer);
  return real.ipc_detach(pointer);
}

}  // namespace

// ROCR calls this once it has loaded the library as a tool. Always true: there is nothing that
// could fail, and false would have the library unloaded.
extern "C" __attribute__((visibility("default"))) bool OnLoad(HsaApiTable* table, uint64_t version,
                                                              uint64_t failed_tool_count,
                                                              const char* const* failed_tools) {
  static_cast<void>(version);
  static_cast<void>(failed_tool_count);
  static_cast<void>(failed_tools);
  if (halyard::vgpu::machine::machine() == nullptr) return true;
  halyard::vgpu::machine::hide_images(*table);
  halyard::vgpu::machine::let_waits_sleep(*table);
  if (blocks() == nullptr) return true;
  AmdExtTable& late = halyard::vgpu::machine::functions_behind_copy(*table);
  real.memory_allocate = table->core_->hsa_memory_allocate_fn;
  real.memory_free = table->core_->hsa_memory_free_fn;
  real.pool_allocate = table->amd_ext_->hsa_amd_memory_pool_allocate_fn;
  real.pool_free = table->amd_ext_->hsa_amd_memory_pool_free_fn;
  real.pointer_info = late.hsa_amd_pointer_info_fn;
  real.ipc_create = late.hsa_amd_ipc_memory_create_fn;
  real.ipc_attach = late.hsa_amd_ipc_memory_attach_fn;
  real.ipc_detach = late.hsa_amd_ipc_memory_detach_fn;
  table->core_->hsa_memory_allocate_fn = memory_allocate;
  table->core_->hsa_memory_free_fn = memory_free;
  table->amd_ext_->hsa_amd_memory_pool_allocate_fn = pool_allocate;
  table->amd_ext_->hsa_amd_memory_pool_free_fn = pool_free;
  late.hsa_amd_pointer_info_fn = pointer_info;
  late.hsa_amd_ipc_memory_create_fn = ipc_create;
  late.hsa_amd_ipc_memory_attach_fn = ipc_attach;
  late.hsa_amd_ipc_memory_detach_fn = ipc_detach;
  return true;
}
