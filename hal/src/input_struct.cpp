#include "input_struct.h"

#include <cstddef>

#include "hal/error.h"

namespace halyard::internal {

Status check_struct_size(const char* operation, const InputStruct& shape, const void* given,
                         uint32_t size) {
  if (size < shape.first || size > kLargestStruct) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given {} whose struct_size ({}) is not legal. Legal are {} to {} bytes. "
                 "Leave struct_size as the struct's initializer sets it.",
                 operation, shape.name, size, shape.first, kLargestStruct);
  }
  const auto* const bytes = static_cast<const std::byte*>(given);
  for (uint32_t i = shape.known; i < size; ++i) {
    if (bytes[i] == std::byte{0}) continue;
    return error(StatusCode::kInvalidArgument,
                 "{} is given {} of {} bytes (struct_size), of which this version of Halyard knows "
                 "{}, and byte {} is not 0. Leave newer members at their defaults, or use a newer "
                 "Halyard.",
                 operation, shape.name, size, shape.known, i);
  }
  return {};
}

}  // namespace halyard::internal
