// Runs a kernel: buffers made and filled, the launches, results brought back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  // Launches, one after the other, each with the arguments' contents in the buffers: warmup ones
  // first, then those that are measured, of which the last one's results are brought back.
  uint32_t warmup = 0;
  uint32_t repeat = 1;  // at least one
  // Called before each launch, and now and then while one is waited for. It may end the process.
  std::function<void()> while_waiting = {};
};

struct Outcome {
  std::vector<values::Tensor> results;  // as Run::results names them
  // Of each measured launch: from its submission to where the host knows of its end.
  std::vector<double> seconds;
};

// Returns when all is done. A failure on the device comes back as the message that the driver gave.
Result<Outcome> run(Device& device, const Run& run);

}  // namespace halyard::runner
