#include "dispatch_check.h"

#include "hal/device.h"
#include "hal/error.h"

namespace halyard::internal {

Status check_dispatch(const Device& device, const Dispatch& dispatch, DispatchKind, Slots) {
  return check_dispatch_memory(device, dispatch);
}

Status check_dispatch_memory(const Device&, const Dispatch& dispatch) {
  if (dispatch.function == nullptr) [[unlikely]] {
    return error(StatusCode::kInvalidArgument, "A dispatch is given no function (null).");
  }
  return {};
}

}  // namespace halyard::internal
