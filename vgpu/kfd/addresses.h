#pragma once

#include <sys/mman.h>

#include <cstdint>

// What every request about memory knows of addresses.
namespace halyard::vgpu::kfd {

inline constexpr uint64_t kPage = 4096;
// No address from here on is a program's (x86-64, four levels of page tables).
inline constexpr uint64_t kUserEnd = uint64_t{1} << 47;
// Of the offsets at which render nodes map memory, as the kernel driver aligns large memory.
inline constexpr uint64_t kOffsetAlignment = uint64_t{2} << 20;

// A mapping that only takes addresses.
inline constexpr int kReservation = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

inline void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace halyard::vgpu::kfd
