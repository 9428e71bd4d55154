// Validation of a kernel launch. The path of a valid one does not allocate, format or call out of
// this file; cold functions make the messages.
#pragma once

#include "hal/dispatch.h"
#include "hal/status.h"

namespace halyard {
class Device;
}

namespace halyard::internal {

enum class DispatchKind { kDirect, kIndirect };
// Whether an argument may name a slot of a binding table instead of a buffer.
enum class Slots : bool { kNo, kYes };

Status check_dispatch(const Device& device, const Dispatch& dispatch, DispatchKind kind,
                      Slots slots);

// What even an unvalidated dispatch needs so that the driver reads no memory that is not there.
Status check_dispatch_memory(const Device& device, const Dispatch& dispatch);

}  // namespace halyard::internal
