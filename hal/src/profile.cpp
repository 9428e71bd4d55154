#include "hal/profile.h"

namespace halyard {

const char* to_string(ProfileKind kind) noexcept {
  switch (kind) {
    case ProfileKind::kUnknown:
      break;
    case ProfileKind::kDispatch:
      return "dispatch";
    case ProfileKind::kCopy:
      return "copy";
    case ProfileKind::kFill:
      return "fill";
    case ProfileKind::kUpdate:
      return "update";
    case ProfileKind::kHostCall:
      return "host_call";
    case ProfileKind::kRead:
      return "read";
    case ProfileKind::kWrite:
      return "write";
    case ProfileKind::kBarrier:
      return "barrier";
    case ProfileKind::kAlloca:
      return "alloca";
    case ProfileKind::kDealloca:
      return "dealloca";
  }
  return "unknown";
}

}  // namespace halyard
