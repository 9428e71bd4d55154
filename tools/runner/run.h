// Runs a kernel once: buffers made and filled, the launch, results brought back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hal/device.h"
#include "hal/executable.h"
#include "hal/status.h"
#include "tools/runner/launch.h"
#include "tools/values/value.h"

namespace halyard::runner {

struct Run {
  const Function* function = nullptr;
  Launch launch = {};
  uint32_t dynamic_lds_bytes = 0;
  std::vector<values::Value> arguments = {};  // as bind_arguments leaves them
  std::vector<size_t> results = {};           // indices of buffer arguments to bring back
};

// The buffers in `results` as they are afterwards, in that order. Returns when all is done. A
// failure on the device comes back as the message that the driver gave.
Result<std::vector<values::Tensor>> run(Device& device, const Run& run);

}  // namespace halyard::runner
