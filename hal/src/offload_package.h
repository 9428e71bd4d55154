// What clang-offload-packager writes, and clang into the section .llvm.offloading of objects: one
// image, with its kind and target as text (Clang documentation, "Clang Offload Packager", "Binary
// Format"). Several may follow each other.
#pragma once

#include <cstdint>
#include <string_view>

#include "byte_range.h"
#include "hal/status.h"

namespace halyard::internal {

inline constexpr std::string_view kPackageMagic("\x10\xff\x10\xad", 4);

struct OffloadPackage {
  std::string_view kind;    // "hip", "openmp", "cuda", "sycl"; "none" for all others
  std::string_view triple;  // "amdgcn-amd-amdhsa"; these lie in the package
  std::string_view target;  // "gfx90a:xnack-"
  ByteRange image;
  uint64_t size = 0;  // bytes of the package; the next one may follow
};

inline bool is_offload_package(const ByteRange& range) {
  return range.text().starts_with(kPackageMagic);
}

// Reads the package at the beginning of `range`, whose bytes the result refers to. INVALID_ARGUMENT
// names the mistake and its offset; UNIMPLEMENTED for another version of the format.
Result<OffloadPackage> read_offload_package(const ByteRange& range);

}  // namespace halyard::internal
