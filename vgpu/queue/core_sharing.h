// What a waiting thread does about others that need its core: a pure decision, over how long its
// yields have taken.
//
// A GPU needs no core of the host; a packet processor here does, and so do the host thread that
// waits for it, the vendor runtime's event thread (which spins for 200 us after each event) and the
// packet processors of other queues. Where there are fewer cores than these:
// - who shares a core with a thread that yields as well should yield soon, as that one may be about
//   to produce what is waited for;
// - who shares a core with a thread that spins gets it back only after a whole time slice. Yielding
//   to that one again and again would leave the GPU next to no time, and another core may be
//   better.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halyard::vgpu::queue {

class CoreSharing {
 public:
  static constexpr uint32_t kPolitePolls = 2;  // looks before the first yield on a shared core
  static constexpr uint32_t kBusyPolls = 16;   // … on one that seems to be ours alone
  static constexpr uint64_t kAloneNs = 1'000;  // a yield within which no other thread has run
  static constexpr uint64_t kHoggedNs = 50'000;
  static constexpr uint64_t kLongestPatienceNs = 10'000'000;
  static constexpr uint64_t kMoveIntervalNs = 1'000'000;

  // Whether to yield after `polls` looks without success. `crowded`: queues alone could keep all
  // cores busy.
  bool should_yield(uint32_t polls, uint64_t now_ns, bool crowded) const {
    if (polls < kPolitePolls || now_ns < patience_end_ns_) return false;
    return polls >= kBusyPolls || crowded || shared_;
  }

  // A yield has lasted from `begin_ns` to `end_ns`. True: the thread should leave this core.
  bool yielded(uint64_t begin_ns, uint64_t end_ns) {
    const uint64_t took = end_ns - begin_ns;
    shared_ = took >= kAloneNs && took < kHoggedNs;
    if (took < kHoggedNs) return false;
    // As long as the other has had the core it is ours, as far as it depends on us.
    patience_end_ns_ = end_ns + std::min(took, kLongestPatienceNs);
    if (end_ns < next_move_ns_) return false;
    next_move_ns_ = end_ns + kMoveIntervalNs;
    return true;
  }

 private:
  bool shared_ = false;
  uint64_t patience_end_ns_ = 0;
  uint64_t next_move_ns_ = 0;
};

}  // namespace halyard::vgpu::queue
