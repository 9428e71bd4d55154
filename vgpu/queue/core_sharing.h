// What a waiting thread does about others that need its core: a pure decision from the duration of
// its yields and naps.
//
// A GPU needs no core of the host. A packet processor here does, and so do the host thread that
// waits for it, the vendor runtime's event thread (which spins for 200 us after each event) and the
// packet processors of other queues. If there are fewer cores than these:
// - a thread that shares a core with one that also yields should yield soon, because that one may
//   produce the awaited result;
// - a thread that shares a core with one that spins gets it back after a whole time slice if it
//   yields. A sleep of some microseconds frees the core for that time: a thread that wakes up runs
//   before a thread that has been running.
// - where the scheduler lets the other thread end its time slice (Linux before 6.12), naps end some
//   milliseconds late. A thread whose only processor that is does without them for a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halyard::vgpu::queue {

class CoreSharing {
 public:
  static constexpr uint32_t kPolitePolls = 2;  // looks before the core is shared
  static constexpr uint32_t kBusyPolls = 16;   // … if it seems to be ours alone
  static constexpr uint64_t kAloneNs = 1'000;  // a yield within which no other thread has run
  static constexpr uint64_t kHoggedNs = 50'000;
  static constexpr uint64_t kMemoryNs = 10'000'000;  // how long a hogged core is remembered
  static constexpr uint64_t kLateNs = 200'000;       // on average: a nap now and then may be late
  // How long late naps are remembered: doubled from the first value up to the second.
  static constexpr uint64_t kFirstMistrustNs = 100'000'000;
  static constexpr uint64_t kLongestMistrustNs = 6'400'000'000;

  // What to do after a look without success.
  enum class Next : uint8_t { kLook, kYield, kNap };

  // After `polls` looks. `crowded`: queues alone could keep all cores busy.
  Next next(uint32_t polls, uint64_t now_ns, bool crowded) const {
    if (polls < kPolitePolls) return Next::kLook;
    if (crowded || now_ns < hogged_until_ns_) return Next::kNap;
    return polls >= kBusyPolls || shared_ ? Next::kYield : Next::kLook;
  }

  // A yield has lasted from `begin_ns` to `end_ns`.
  void yielded(uint64_t begin_ns, uint64_t end_ns) {
    const uint64_t took = end_ns - begin_ns;
    shared_ = took >= kAloneNs && took < kHoggedNs;
    if (took >= kHoggedNs) hogged_until_ns_ = end_ns + kMemoryNs;
  }

  // A nap of `asked_ns` has lasted from `begin_ns` to `end_ns`.
  void napped(uint64_t asked_ns, uint64_t begin_ns, uint64_t end_ns) {
    const uint64_t took = end_ns - begin_ns;
    lateness_ns_ = (7 * lateness_ns_ + (took > asked_ns ? took - asked_ns : 0)) / 8;
    if (lateness_ns_ < kLateNs) {
      mistrust_ns_ = kFirstMistrustNs;
      return;
    }
    lateness_ns_ = 0;
    no_naps_until_ns_ = end_ns + mistrust_ns_;
    mistrust_ns_ = std::min(2 * mistrust_ns_, kLongestMistrustNs);
  }
  bool naps_end_in_time(uint64_t now_ns) const { return now_ns >= no_naps_until_ns_; }

 private:
  bool shared_ = false;
  uint64_t hogged_until_ns_ = 0;
  uint64_t lateness_ns_ = 0;  // of naps, a moving average
  uint64_t mistrust_ns_ = kFirstMistrustNs;
  uint64_t no_naps_until_ns_ = 0;
};

}  // namespace halyard::vgpu::queue
