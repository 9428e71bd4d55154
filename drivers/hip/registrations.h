// Registrations: the host memory that imports have registered with HIP, which registers a range
// once for the whole process, and forgets it at the first hipHostUnregister.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "drivers/hip/hip.h"
#include "hal/status.h"

namespace halyard::hip {

// Any thread may use any method.
class Registrations {
 public:
  static Registrations& instance();

  // Registers the range, or counts one more user of it: true, and remove() is owed. False if HIP
  // knew the memory before (hipHostMalloc): then it is somebody else's to forget.
  Result<bool> add(const Hip& hip, void* host, uint64_t size);
  void remove(const Hip& hip, void* host);

 private:
  struct Range {
    uint64_t size = 0;
    uint64_t users = 0;
  };

  std::mutex mutex_;
  std::map<void*, Range> ranges_;  // under mutex_, by address
};

}  // namespace halyard::hip
