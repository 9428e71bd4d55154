// Where the host has what GPUs see at an address: the model knows memory by the host's addresses.
#pragma once

#include <cstdint>

#include "vgpu/isa/memory.h"

namespace halyard::vgpu::coherence {

// The map of registered memory, from GPUs' addresses; null: none. It must live until the next call.
// The host has all other memory at the same address.
void set_registered_memory(const isa::AddressSpace* registered);

// Any thread.
uint64_t host_address(uint64_t address);

}  // namespace halyard::vgpu::coherence
