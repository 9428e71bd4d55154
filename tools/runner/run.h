// Runs kernels: buffers made and filled, the launches, results brought back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hal/device.h"
#include "hal/executable.h"
#include "hal/status.h"
#include "tools/runner/launch.h"
#include "tools/values/value.h"

namespace halyard::runner {

// Memory of the device's that functions use.
struct RunBuffer {
  std::string label;    // for messages: "[2] out", "%sum"
  values::Value value;  // of kind kBuffer, as bind_arguments leaves it
};

// An address in an argument that is passed by value.
struct StepPointer {
  size_t argument = 0;
  size_t at = 0;        // where its 8 bytes are in the argument's
  size_t buffer = 0;    // in Run::buffers
  uint64_t offset = 0;  // bytes past the buffer's begin
};

// A launch of a function.
struct Step {
  const Function* function = nullptr;
  Launch launch = {};
  uint32_t dynamic_lds_bytes = 0;
  std::vector<values::Value> arguments = {};  // as bind_arguments leaves them
  // For each argument that is a buffer its place in Run::buffers, whose contents count.
  std::vector<std::optional<size_t>> buffers = {};
  std::vector<StepPointer> pointers = {};
};

struct Run {
  std::vector<RunBuffer> buffers = {};
  std::vector<Step> steps = {};      // one behind the other
  std::vector<size_t> results = {};  // places in `buffers` of what is brought back
  // How often all steps run, each time with the buffers' contents as given: warmup times first,
  // then those that are measured, of which the last one's results are brought back.
  uint32_t warmup = 0;
  uint32_t repeat = 1;  // at least one
  // Called before each of these times, and now and then while one is waited for, with how many are
  // over. It may end the process.
  std::function<void(uint64_t done)> while_waiting = {};
};

// What the host did, in nanoseconds of CLOCK_MONOTONIC.
struct HostSpan {
  std::string name;  // "launch 1", and in it "submit saxpy", "wait"
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t queue = 0;  // Queue::id() of the one that it submits a dispatch to, if it does
};

struct Outcome {
  std::vector<values::Tensor> results;  // as Run::results names them
  // Of each measured time: from the first submission to where the host knows of the last one's end.
  std::vector<double> seconds;
  std::vector<HostSpan> host;
};

// A run of one function: its arguments' buffers become the run's.
Run run_of(Step step);

// Returns when all is done. A failure on the device comes back as the message that the driver gave.
Result<Outcome> run(Device& device, const Run& run);

}  // namespace halyard::runner
