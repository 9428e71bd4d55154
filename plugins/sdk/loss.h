// What is said of a device or a queue that is lost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

// INTERNAL: `what` has lost the device, while `running` (kernels, by name) was on it.
Status device_lost(StringView device, std::string_view what,
                   const std::vector<std::string>& running);
// UNAVAILABLE: the device cannot be opened since an earlier fault.
Status device_was_lost(StringView device, std::string_view fault);

// INTERNAL: DriverDevice::fail_work, while `running` (kernels, by name) was on the device.
Status work_failed(StringView device, std::string_view what,
                   const std::vector<std::string>& running);

// CANCELLED: Queue::abandon was called on a queue of the device, while `doing`.
Status queue_abandoned(StringView device, std::string_view doing);
// What a queue is at, for queue_abandoned: the operation is the one that it holds back first, and
// empty if there is none. `host_runs`: the host's part of it is running.
std::string describe_held(StringView operation, bool host_runs);

}  // namespace halyard
