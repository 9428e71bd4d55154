// What a test's expectations read of a status.
#pragma once

#include <string>

#include "hal/status.h"

namespace halyard {

inline std::string message(const Status& status) {
  return std::string(status.message().view());
}

}  // namespace halyard
