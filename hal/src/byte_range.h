// ByteRange: some bytes of a file, and where in it they begin, so that a message about them can
// name the offset that a hex dump of the file shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace halyard::internal {

struct ByteRange {
  const std::byte* data = nullptr;
  uint64_t size = 0;
  uint64_t base = 0;  // offset in the file of the first byte

  // Whether [offset, offset + length) lies in the range; never overflows.
  bool holds(uint64_t offset, uint64_t length) const {
    return offset <= size && length <= size - offset;
  }
  // The following only where holds() says so.
  ByteRange part(uint64_t offset, uint64_t length) const {
    return {data + offset, length, base + offset};
  }
  ByteRange from(uint64_t offset) const { return part(offset, size - offset); }
  // Little-endian, as all of these formats are and as the host is.
  template <typename T>
  T read(uint64_t offset) const {
    T value;
    std::memcpy(&value, data + offset, sizeof(T));
    return value;
  }
  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
  std::string_view text(uint64_t offset, uint64_t length) const {
    return part(offset, length).text();
  }
  std::span<const std::byte> bytes() const { return {data, size}; }
  uint64_t end() const { return base + size; }
};

}  // namespace halyard::internal
