// Writes Clang offload bundles, plain and compressed, as clang-offload-bundler does (Clang
// documentation, "Clang Offload Bundler").
//
// For tools; not part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard {

// The numbers in the header of a compressed bundle.
enum class Compression : uint16_t { kZlib = 0, kZstd = 1 };

struct BundleInput {
  std::string id;  // bundle_entry_id(…)
  std::span<const std::byte> bytes;
};

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-": the ID that HIP's compiler and runtime use.
std::string bundle_entry_id(const TargetId& target);

// A bundle of the inputs, in order, after an empty entry for the host, which HIP expects. Each
// begins at a multiple of `alignment` (a power of two) bytes.
std::vector<std::byte> write_bundle(const std::vector<BundleInput>& inputs,
                                    uint64_t alignment = 4096);

// Compressed, with a header of version 3. RESOURCE_EXHAUSTED if there is no memory for it.
Result<std::vector<std::byte>> compress_bundle(std::span<const std::byte> bundle,
                                               Compression compression);

}  // namespace halyard
