#include "vgpu/queue/idle.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "vgpu/monotonic.h"

namespace halyard::vgpu::queue {

namespace {

// A look takes a cache line away from the producer, which then waits to get it back: between two
// looks it is left in peace for about a microsecond, and for a few once it seems to have stopped.
constexpr uint32_t kFirstRelax = 16;
constexpr uint32_t kMaxRelax = 64;
constexpr uint64_t kFirstSleepNs = 20000;
// Where queues need all cores. Shorter ones use more than a thread's share of the core, and the
// scheduler then makes it wait for up to a tick (4 ms) when it wakes up.
constexpr uint64_t kNapNs = 20000;
// Of a thread that shares its only processor with the one that is to ring the doorbell: long enough
// for that one to get something done.
constexpr uint64_t kNapOnOneProcessorNs = 15000;
// For a thread that runs shortly and needs a low latency (Linux 6.12, sched_setattr(2)).
constexpr uint64_t kShortestSliceNs = 100000;

// The threads of the process's queues that are not asleep.
std::atomic<uint32_t> awake{0};

}  // namespace

uint32_t available_processors() {
  static const uint32_t count = [] {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<uint32_t>(CPU_COUNT(&set)) : 0;
  }();
  return count;
}

// A packet processor has little to do and is waited for: with a short slice it runs as soon as it
// is woken, also where another thread of the process spins. Kernels before 6.12 do not heed it.
void Idle::ask_for_short_slices() {
  // As linux/sched/types.h has it, in its first version; that header does not go with sched.h.
  struct {
    uint32_t size = 48;
    uint32_t policy = 0;
    uint64_t flags = 0x08;  // SCHED_FLAG_KEEP_POLICY
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = kShortestSliceNs;
    uint64_t deadline = 0;
    uint64_t period = 0;
  } attributes;
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return;
  attributes.nice = nice;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

Idle::Awake::Awake() {
  awake.fetch_add(1, std::memory_order_relaxed);
}

Idle::Awake::~Awake() {
  awake.fetch_sub(1, std::memory_order_relaxed);
}

// Whether to look again soon instead of sleeping.
bool Idle::polls_on(uint64_t now, const WakeSource* source, bool crowded) const {
  if (sleep_ns_ != 0) return false;
  // Without naps, the first look is the last.
  if (policy_.processors == 1 && polls_ > 1 && !sharing_.naps_end_in_time(now)) return false;
  // Queues wake each other, and need the core that a look takes.
  const bool another_queue = source != nullptr && source != doorbell_;
  if (crowded && another_queue) return false;
  return now - spin_start_ns_ < policy_.spin_ns;
}

void Idle::pause(WakeSource* source) {
  const uint64_t now = monotonic_ns();
  if (polls_ == 0) spin_start_ns_ = now;
  ++polls_;
  // The host needs a core as well.
  const bool crowded = awake.load(std::memory_order_relaxed) >= policy_.processors;
  if (polls_on(now, source, crowded)) {
    if (policy_.processors == 1) return nap_on_one_processor(now);
    switch (sharing_.next(polls_, now, crowded)) {
      case CoreSharing::Next::kLook:
        relax(std::min(kFirstRelax * polls_, kMaxRelax));
        break;
      case CoreSharing::Next::kYield:
        sched_yield();
        sharing_.yielded(now, monotonic_ns());
        break;
      case CoreSharing::Next::kNap:
        wait(wakes_.load(std::memory_order_seq_cst), kNapNs);
        break;
    }
    return;
  }
  if (source != nullptr && !armed_) {
    ticket_ = wakes_.load(std::memory_order_seq_cst);
    armed_ = source->arm();
    if (armed_) return;
  }
  // The check after arming found nothing, so every later event wakes. A wake in between has changed
  // wakes_, and the futex returns at once.
  const uint32_t seen = armed_ ? ticket_ : wakes_.load(std::memory_order_seq_cst);
  if (armed_ && source->is_complete()) {
    sleep(seen, 0);
    // Work is likely.
    polls_ = 0;
    sleep_ns_ = 0;
  } else {
    sleep_ns_ = std::min(std::max(sleep_ns_ * 2, kFirstSleepNs), policy_.max_sleep_ns);
    sleep(seen, sleep_ns_);
  }
  armed_ = false;
}

// The awaited thread needs the processor: a yield would give it away for a whole time slice.
void Idle::nap_on_one_processor(uint64_t now) {
  if (polls_ == 1) return;
  wait(wakes_.load(std::memory_order_seq_cst), kNapOnOneProcessorNs);
  sharing_.napped(kNapOnOneProcessorNs, now, monotonic_ns());
}

void Idle::sleep(uint32_t seen, uint64_t nanoseconds) {
  awake.fetch_sub(1, std::memory_order_relaxed);
  wait(seen, nanoseconds);
  awake.fetch_add(1, std::memory_order_relaxed);
}

void Idle::wait(uint32_t seen, uint64_t nanoseconds) {
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1000000000);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1000000000);
  syscall(SYS_futex, &wakes_, FUTEX_WAIT_PRIVATE, seen, nanoseconds == 0 ? nullptr : &timeout,
          nullptr, 0);
}

void Idle::wake() {
  wake_sleeper(note_wake());
}

const Idle::Word* Idle::note_wake() {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  return &wakes_;
}

void Idle::wake_sleeper(const Word* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace halyard::vgpu::queue
