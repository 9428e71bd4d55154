// The failures of code that finds a code object to be wrong.
#pragma once

#include <cstdint>
#include <utility>

#include "hal/error.h"

namespace halyard::internal {

// INVALID_ARGUMENT "The code object …".
template <typename... Arguments>
[[gnu::cold, gnu::noinline]] Status damaged(fmt::format_string<Arguments...> format,
                                            Arguments&&... arguments) {
  return error(StatusCode::kInvalidArgument, "The code object {}",
               fmt::format(format, std::forward<Arguments>(arguments)...));
}

// Whether [offset, offset + length) lies within `size` bytes; never overflows.
constexpr bool inside(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

}  // namespace halyard::internal
