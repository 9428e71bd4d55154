// HostMaps: the pointers that a buffer's Buffer::map has returned and Buffer::unmap has not had.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "hal/status.h"

namespace halyard {

// Any thread may use any method.
class HostMaps {
 public:
  // `place` is where the host sees what is to be mapped; null, if it does not see the memory:
  // FAILED_PRECONDITION.
  Status map(std::byte* place, void** pointer);
  // INVALID_ARGUMENT for a pointer that is not mapped.
  Status unmap(void* pointer);

 private:
  std::mutex mutex_;
  std::vector<void*> maps_;  // under mutex_
};

}  // namespace halyard
