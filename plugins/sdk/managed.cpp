#include "plugins/sdk/managed.h"

#include "hal/error.h"

namespace halyard {

Status check_is_managed(const char* operation, const Buffer& buffer, bool is_managed) {
  if (is_managed) return {};
  return error(StatusCode::kFailedPrecondition,
               "{} is given a buffer of {} memory ({} bytes) that is not managed. Allocate it with "
               "BufferOptions::managed.",
               operation, to_string(buffer.type()), buffer.size());
}

}  // namespace halyard
