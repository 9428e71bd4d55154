// Clang's offload bundle: one file with code for several targets (Clang documentation, "Clang
// Offload Bundler", "Bundled Binary File Layout").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "byte_range.h"
#include "hal/status.h"

namespace halyard::internal {

inline constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

struct BundleEntry {
  std::string_view id;  // "hipv4-amdgcn-amd-amdhsa--gfx900"; lies in the bundle
  ByteRange bytes;
};

struct OffloadBundle {
  std::vector<BundleEntry> entries;
  uint64_t size = 0;  // bytes up to the end of its last entry; the next bundle may follow
};

inline bool is_offload_bundle(const ByteRange& range) {
  return range.text().starts_with(kBundleMagic);
}

// Reads the bundle at the beginning of `range`, whose bytes the result refers to. INVALID_ARGUMENT
// names the mistake and its offset.
Result<OffloadBundle> read_offload_bundle(const ByteRange& range);

// What an entry's ID says (Clang documentation, "Bundle Entry ID").
struct BundleEntryId {
  std::string_view kind;    // "host", "hip", "hipv4", "openmp"
  std::string_view target;  // "gfx90a:xnack-"; empty if it names no AMD GPU
};
BundleEntryId parse_bundle_entry_id(std::string_view id);

}  // namespace halyard::internal
