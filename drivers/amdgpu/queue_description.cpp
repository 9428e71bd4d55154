#include "drivers/amdgpu/queue_description.h"

#include <algorithm>

#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/program.h"
#include "drivers/amdgpu/queue_core.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::amdgpu {

namespace {

// Nothing tells how far a run is but the read index, which may be ahead of what is executed; never
// past a barrier, though.
std::string describe_run(const UncountedRun& run, uint64_t taken) {
  const uint64_t at = std::clamp(taken, run.first, run.counting());
  if (at == run.counting()) return run.program->describe(run.at + run.count - 1);
  return run.program->describe(static_cast<uint32_t>(run.at + (at - run.first)));
}

}  // namespace

std::string describe_current(const QueueCore& core) {
  // Packets are done in order: the first that is not done is the one being worked on.
  const uint64_t index = core.epoch().completed();
  if (index >= core.ring().reserved()) return "no kernel (the queue is idle)";
  if (UncountedRun run; core.epoch().find_run(index, &run) && run.program != nullptr) {
    return describe_run(run, core.ring().taken());
  }
  const uint64_t number = index - core.ring().first();
  const Function* const function = core.notes().function(index);
  if (function == nullptr) return fmt::format("a barrier or transfer (packet {})", number);
  return fmt::format("kernel \"{}\" (packet {})", short_name(driver::info_of(*function).name),
                     number);
}

std::string describe_unfinished(const QueueCore& core) {
  return core.epoch().idle() ? core.held().describe() : describe_current(core) + " has not ended";
}

}  // namespace halyard::amdgpu
