// Tensor: an array of numbers on the host, with its type and shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/values/element_type.h"

namespace halyard::values {

constexpr size_t kMaxRank = 64;  // NumPy's

struct TensorType {
  ElementType element = ElementType::kU8;
  std::vector<uint64_t> shape = {};  // outermost first; empty: one number

  uint64_t element_count() const noexcept {
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    return count;
  }
  // The parser and the readers refuse shapes for which this overflows.
  uint64_t bytes() const noexcept {
    const uint64_t count = element_count();
    return is_half_byte(element) ? count / 2 + count % 2 : count * byte_size(element);
  }

  // "2x2xf32".
  std::string to_string() const;

  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// False if the shape's bytes do not fit into 63 bits.
bool fits_memory(const TensorType& type) noexcept;

struct Tensor {
  TensorType type = {};
  std::vector<std::byte> data = {};  // row-major, little endian: type.bytes()

  // Its byte_size(type.element) bytes.
  const std::byte* element(uint64_t index) const noexcept;
};

// Puts elements of half a byte, each in a byte of its own, two into a byte, in place.
void pack_half_bytes(std::vector<std::byte>& data);

// "2x2xi32=[[1 2][3 4]]": what parse_value reads back. With more than `limit` elements only the
// first `limit` are printed, flat, and then how many are missing: "1024xf32=0 1 2 ... (1021 more)",
// which parse_value refuses. 0 is no limit.
std::string format_tensor(const Tensor& tensor, uint64_t limit);

// The place of an element in its tensor: "[3]", "[1][2]".
std::string format_index(const TensorType& type, uint64_t index);

}  // namespace halyard::values
