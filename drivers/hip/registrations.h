// Registrations: the host memory that imports have registered with HIP, which registers a range
// once for the whole process, and forgets it at the first hipHostUnregister.
#pragma once

#include <atomic>
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
  // HIP forgets the range at once if nothing is in flight. From 5.7 on hipHostUnregister waits for
  // all work, of which some may have no end: otherwise collect() has HIP forget it.
  void remove(const Hip& hip, void* host);
  // Has HIP forget what nobody uses, if nothing is in flight.
  void collect(const Hip& hip);

 private:
  struct Range {
    uint64_t size = 0;
    uint64_t users = 0;  // 0: HIP is to forget it
  };
  void forget_unused(const Hip& hip);
  // Calls HIP no more, and waits for a call that is under way.
  void end();
  // Those that overlap; HIP may wait.
  void forget_unused_at(const Hip& hip, void* host, uint64_t size);

  std::timed_mutex mutex_;
  std::map<void*, Range> ranges_;    // under mutex_, by address
  std::atomic<bool> ended_{false};   // the process ends
  bool has_null_streams_ = false;    // under mutex_
  std::atomic<uint64_t> unused_{0};  // ranges without users; changed under mutex_
};

}  // namespace halyard::hip
