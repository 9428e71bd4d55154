// Whether bytes that have come from another process are those that were made.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard {

// FNV-1a. Finds damage, not forgery.
inline uint64_t checksum(const void* bytes, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; ++i)
    hash = (hash ^ static_cast<const uint8_t*>(bytes)[i]) * 1099511628211u;
  return hash;
}

}  // namespace halyard
