// Whatever fails while the benchmark sets up or runs ends it, with the message.
#pragma once

#include <utility>

#include "hal/status.h"

namespace halyard::bench {

[[noreturn]] void die(const Status& status);

inline void require(const Status& status) {
  if (!status.ok()) [[unlikely]]
    die(status);
}
template <typename T>
T require(Result<T> result) {
  if (!result.ok()) die(result.status());
  return std::move(result).value();
}

}  // namespace halyard::bench
