// The runtime's table of AMD's functions, which tools replace. Its layout differs by release: ROCm
// 5.6 put two functions in the middle. Debian's header has the layout before.
#pragma once

#include <cstddef>
#include <cstdint>

// The header finds its neighbours beside itself only with this name.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>

namespace halyard::vgpu::machine {

// The table for the functions behind hsa_amd_memory_async_copy, such as hsa_amd_pointer_info_fn.
// Those before it, and that one, are in `*table.amd_ext_` itself.
inline AmdExtTable& functions_behind_copy(HsaApiTable& table) {
  // A table's minor version is its size. 5.6's has 55 functions; 5.5's has 51.
  constexpr size_t kBytesOf56 = sizeof(ApiTableVersion) + 55 * sizeof(void*);
  constexpr size_t kAdded = 2 * sizeof(void*);
  auto* const begin = reinterpret_cast<char*>(table.amd_ext_);
  const bool is_of_56 = table.amd_ext_->version.minor_id >= kBytesOf56;
  return *reinterpret_cast<AmdExtTable*>(is_of_56 ? begin + kAdded : begin);
}

}  // namespace halyard::vgpu::machine
