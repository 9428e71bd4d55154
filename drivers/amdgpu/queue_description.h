// What a queue is at, for the message of a failure.
#pragma once

#include <string>

namespace halyard::amdgpu {

class QueueCore;

// "kernel \"x\" (packet 12)" or "a barrier (packet 12)", the packet that is being processed.
std::string describe_current(const QueueCore& core);
// What an abandoned queue leaves: "kernel \"x\" (packet 12) has not ended".
std::string describe_unfinished(const QueueCore& core);

}  // namespace halyard::amdgpu
