// The hash of a compressed bundle's contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halyard::internal {

// The first 8 bytes of the MD5 of `bytes`, as a little-endian number. Guards against damage, not
// against malice.
uint64_t bundle_hash(std::span<const std::byte> bytes);

}  // namespace halyard::internal
