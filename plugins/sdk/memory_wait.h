// MemoryWait: whether, and how long, an allocation that finds no memory waits on the host for what
// work in flight is still to return.
#pragma once

#include <atomic>
#include <cstdint>

#include "hal/types.h"

namespace halyard {

// An allocation that finds no memory waits as long for what work in flight still uses. That work
// may wait for the caller in turn, who is to hear of it then.
constexpr uint64_t kLongestMemoryWaitNs = 10'000'000'000;

struct MemoryWait {
  bool allowed = false;
  Deadline deadline = Deadline::infinite();  // infinite: kLongestMemoryWaitNs from now
  // The wait ends, as if nothing had come, once `*changes` is not `seen`: the caller may find
  // elsewhere what it looks for. May be null.
  const std::atomic<uint64_t>* changes = nullptr;
  uint64_t seen = 0;
  // The caller is a thread that a kernel waits for: it takes what is free, and neither collects
  // what is retired nor calls what may wait for kernels.
  bool is_for_kernel = false;

  bool is_over() const {
    return changes != nullptr && changes->load(std::memory_order_acquire) != seen;
  }
  Deadline end() const {
    return deadline.is_infinite() ? Deadline::after_ns(kLongestMemoryWaitNs) : deadline;
  }
};
inline constexpr MemoryWait kNoMemoryWait = {};
inline constexpr MemoryWait kMemoryWait = {.allowed = true};
inline constexpr MemoryWait kKernelWaits = {.is_for_kernel = true};

}  // namespace halyard
