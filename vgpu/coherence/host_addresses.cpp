#include "vgpu/coherence/host_addresses.h"

#include <atomic>

#include "vgpu/isa/registered.h"

namespace halyard::vgpu::coherence {
namespace {

std::atomic<const isa::AddressSpace*> registered_memory{nullptr};

}  // namespace

void set_registered_memory(const isa::AddressSpace* registered) {
  registered_memory.store(registered, std::memory_order_release);
}

uint64_t host_address(uint64_t address) {
  const isa::AddressSpace* const registered = registered_memory.load(std::memory_order_acquire);
  if (registered != nullptr) {
    const isa::MemoryRange range = registered->find(address);
    if (range.contains(address, 1)) return address + range.to_host;
  }
  return isa::host_address(address);
}

}  // namespace halyard::vgpu::coherence
