// QueueFences: what a queue remembers for the fences of its packets (visibility.h): whether the
// next one has to acquire from the system, and how far they have released to it.
#pragma once

#include <atomic>
#include <cstdint>

#include "drivers/amdgpu/visibility.h"

namespace halyard::amdgpu {

class QueueCore;

// Any thread may use any method.
class QueueFences {
 public:
  explicit QueueFences(QueueCore& core);

  // AcquireState's.
  bool acquires_foreign(uint64_t index) { return acquires_.acquires_foreign(index); }
  // The next packet has to acquire (Foreign::host_observed).
  void host_observed() { acquires_.host_observed(); }

  // Whether the last packet was observed, and so has released all that is before it to the system:
  // packets that raise an interrupt are. True if there was none.
  bool is_released() const;
  // Sees to it that the whole system may see what packets before *end have written, once packet
  // *end - 1, perhaps a later one than before, is done. Never waits: false if a packet would have
  // to do that for which there is no room now.
  bool try_release(uint64_t* end);

 private:
  AcquireState acquires_;
  QueueCore& core_;
  std::atomic<uint64_t> release_end_{0};  // behind the last packet of try_release
};

}  // namespace halyard::amdgpu
