#include "plugins/sdk/profile_recorder.h"

namespace halyard {

Status profile_is_being_taken(StringView device) {
  return error(StatusCode::kFailedPrecondition,
               "Device::begin_profile is called on {} while a profile is being taken. Call "
               "Device::end_profile first.",
               device);
}

Status no_profile_is_being_taken(StringView device) {
  return error(StatusCode::kFailedPrecondition,
               "Device::end_profile is called on {} while no profile is being taken. Call "
               "Device::begin_profile first.",
               device);
}

}  // namespace halyard
