#include "plugins/sdk/host_maps.h"

#include <algorithm>

#include "hal/error.h"

namespace halyard {

Status HostMaps::map(std::byte* place, void** pointer) {
  if (place == nullptr) {
    return error(StatusCode::kFailedPrecondition,
                 "A buffer of device memory cannot be mapped: the host does not see it. Use "
                 "Queue::update and Queue::copy, or allocate host memory.");
  }
  const std::lock_guard lock(mutex_);
  maps_.push_back(place);
  *pointer = place;
  return {};
}

Status HostMaps::unmap(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(maps_.begin(), maps_.end(), pointer);
  if (found == maps_.end()) {
    return error(StatusCode::kInvalidArgument,
                 "Buffer::unmap is given a pointer ({}) that this buffer has not mapped, or that "
                 "is unmapped already. It takes what Buffer::map returned.",
                 pointer);
  }
  maps_.erase(found);
  return {};
}

}  // namespace halyard
