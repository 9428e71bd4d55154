// The runtime's table of AMD's functions, which tools replace. Its layout differs by release: ROCm
// 5.6 put two functions in the middle. The header that this is compiled with has the one or the
// other, and so has the runtime that is there at run time.
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
  // hsa_amd_image_create is one of them, the 26th function up to 5.5, the 28th since 5.6.
  constexpr size_t kBefore56 = sizeof(ApiTableVersion) + 25 * sizeof(void*);
  constexpr size_t kSince56 = kBefore56 + 2 * sizeof(void*);
  constexpr size_t kOfHeader = offsetof(AmdExtTable, hsa_amd_image_create_fn);
  static_assert(kOfHeader == kBefore56 || kOfHeader == kSince56);
  const size_t at = table.amd_ext_->version.minor_id >= kBytesOf56 ? kSince56 : kBefore56;
  auto* const begin = reinterpret_cast<char*>(table.amd_ext_);
  return *reinterpret_cast<AmdExtTable*>(begin + at - kOfHeader);
}

}  // namespace halyard::vgpu::machine
