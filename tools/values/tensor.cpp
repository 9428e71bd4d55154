#include "tools/values/tensor.h"

#include <fmt/format.h>

namespace halyard::values {
namespace {

// One dimension of a tensor from element `index` on, brackets included.
void append_nested(std::string& text, const Tensor& tensor, size_t dimension, uint64_t& index) {
  text += '[';
  const bool innermost = dimension + 1 == tensor.type.shape.size();
  for (uint64_t i = 0; i < tensor.type.shape[dimension]; ++i) {
    if (innermost) {
      if (i != 0) text += ' ';
      text += format_element(tensor.type.element, tensor.element(index++));
    } else {
      append_nested(text, tensor, dimension + 1, index);
    }
  }
  text += ']';
}

}  // namespace

std::string TensorType::to_string() const {
  std::string text;
  for (const uint64_t extent : shape) text += fmt::format("{}x", extent);
  return text + values::to_string(element);
}

const std::byte* Tensor::element(uint64_t index) const noexcept {
  if (!is_half_byte(type.element)) return data.data() + index * byte_size(type.element);
  static constexpr std::byte kHalves[16] = {
      std::byte{0},  std::byte{1},  std::byte{2},  std::byte{3}, std::byte{4},  std::byte{5},
      std::byte{6},  std::byte{7},  std::byte{8},  std::byte{9}, std::byte{10}, std::byte{11},
      std::byte{12}, std::byte{13}, std::byte{14}, std::byte{15}};
  const auto both = std::to_integer<unsigned>(data[index / 2]);
  return &kHalves[index % 2 == 0 ? both & 0xf : both >> 4];
}

void pack_half_bytes(std::vector<std::byte>& data) {
  constexpr std::byte kLow{0xf};
  for (size_t i = 0; i < data.size(); ++i) {
    const std::byte half = data[i] & kLow;
    data[i / 2] = i % 2 == 0 ? half : data[i / 2] | half << 4;
  }
  data.resize((data.size() + 1) / 2);
}

bool fits_memory(const TensorType& type) noexcept {
  uint64_t bytes = byte_size(type.element);
  for (const uint64_t extent : type.shape) {
    // A zero extent makes the product 0, but the others still have to make sense.
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return false;
  }
  return bytes <= static_cast<uint64_t>(INT64_MAX);
}

std::string format_tensor(const Tensor& tensor, uint64_t limit) {
  std::string text = tensor.type.to_string() + "=";
  const uint64_t count = tensor.type.element_count();
  const bool shortened = limit != 0 && count > limit;
  uint64_t index = 0;
  // A multi-dimensional tensor with no elements may have no end of empty brackets.
  if (tensor.type.shape.size() > 1 && !shortened && count != 0) {
    append_nested(text, tensor, 0, index);
    return text;
  }
  for (; index < (shortened ? limit : count); ++index) {
    if (index != 0) text += ' ';
    text += format_element(tensor.type.element, tensor.element(index));
  }
  if (shortened) text += fmt::format(" ... ({} more)", count - limit);
  return text;
}

std::string format_index(const TensorType& type, uint64_t index) {
  if (type.shape.empty()) return "[0]";
  std::string text;
  for (size_t i = type.shape.size(); i-- > 0;) {
    text = fmt::format("[{}]", index % type.shape[i]) + text;
    index /= type.shape[i];
  }
  return text;
}

}  // namespace halyard::values
