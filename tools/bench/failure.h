// What fails ends the loop that it happens in, or the measurement, with a message.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "hal/status.h"

namespace halyard::bench {

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message) : std::runtime_error(message) {}
};

[[noreturn]] void fail(const Status& status);

inline void require(const Status& status) {
  if (!status.ok()) [[unlikely]]
    fail(status);
}
template <typename T>
T require(Result<T> result) {
  if (!result.ok()) [[unlikely]]
    fail(result.status());
  return std::move(result).value();
}

}  // namespace halyard::bench
