// Where the host has what GPUs see at an address: the model knows memory by the host's addresses.
#pragma once

#include <cstdint>

#include "vgpu/isa/memory.h"

namespace halyard::vgpu::coherence {

// The map of registered memory, from the addresses that GPUs have for it; null: there is none.
// Until the next call it must live. The host has all else at the same address.
void set_registered_memory(const isa::AddressSpace* registered);

// Any thread.
uint64_t host_address(uint64_t address);

}  // namespace halyard::vgpu::coherence
