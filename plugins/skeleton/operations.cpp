#include "operations.h"

#include <cstring>

#include "buffer.h"

namespace skeleton {

uint8_t* address_of(const halyard::BufferRange& range,
                    halyard::Span<const halyard::BufferRange> bindings) {
  if (range.buffer == nullptr) return address_of(bindings[range.slot]) + range.offset;
  return static_cast<const SkeletonBuffer*>(range.buffer)->bytes() + range.offset;
}

void fill_bytes(uint8_t* target, uint64_t size, const std::vector<uint8_t>& pattern) {
  for (uint64_t done = 0; done < size; done += pattern.size()) {
    std::memcpy(target + done, pattern.data(), pattern.size());
  }
}

std::vector<uint8_t> copy_of(const void* data, uint64_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return {bytes, bytes + size};
}

}  // namespace skeleton
