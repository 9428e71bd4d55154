#include "vgpu/coherence/host_addresses.h"

#include <atomic>

namespace halyard::vgpu::coherence {
namespace {

std::atomic<const isa::AddressSpace*> registered_memory{nullptr};

}  // namespace

void set_registered_memory(const isa::AddressSpace* registered) {
  registered_memory.store(registered, std::memory_order_release);
}

uint64_t host_address(uint64_t address) {
  const isa::AddressSpace* const registered = registered_memory.load(std::memory_order_acquire);
  if (registered == nullptr) return address;
  const isa::MemoryRange range = registered->find(address);
  return range.contains(address, 1) ? address + range.to_host : address;
}

}  // namespace halyard::vgpu::coherence
