// Where GPUs see memory that the host has registered through the virtual libhsakmt (vgpu/thunk): at
// the host's address with a bit set that no host address has. HIP 5.2.3 counts on the two being
// different. Below the vendor's own thunk, which chooses addresses itself, this says nothing.
#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

inline constexpr uint64_t kRegistered = uint64_t{1} << 47;

// What leads from there to the host's address (MemoryRange::to_host).
inline constexpr uint64_t kRegisteredToHost = uint64_t{0} - kRegistered;

// The host's address of memory, registered or not.
constexpr uint64_t host_address(uint64_t address) {
  return address & ~kRegistered;
}

}  // namespace halyard::vgpu::isa
