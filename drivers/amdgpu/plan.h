// What a submission does about all of its waits: the facts of each point, put to plan_wait.
#pragma once

#include <vector>

#include "drivers/amdgpu/operation.h"
#include "plugins/sdk/wait_plan.h"

namespace halyard::amdgpu {

struct WaitPlan {
  std::vector<QueuePoint> device;  // one barrier-value packet each
  bool hold = false;               // the host has to wait for something first
  bool foreign = false;            // something is waited for that this queue does not do
  Status failure;                  // a point can no more be reached
};

// `on_host`: Operation::waits_on_host.
WaitPlan plan_waits(QueueCore& core, Span<const SemaphorePoint> waits, bool behind_held_back,
                    bool on_host = false);

}  // namespace halyard::amdgpu
