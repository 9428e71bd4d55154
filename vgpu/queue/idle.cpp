#include "vgpu/queue/idle.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace halyard::vgpu::queue {

namespace {

// A look takes a cache line away from the producer, which then waits to get it back: between two
// looks it is left in peace for about a microsecond, and for a few once it seems to have stopped.
constexpr uint32_t kFirstRelax = 16;
constexpr uint32_t kMaxRelax = 64;
constexpr uint64_t kFirstSleepNs = 20000;

// The threads of the process's queues that are not asleep.
std::atomic<uint32_t> awake{0};

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

// The processors that the process may use.
uint32_t processors() {
  static const uint32_t count = [] {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<uint32_t>(CPU_COUNT(&set)) : 0;
  }();
  return count;
}

// Has the thread run on another core than now, if it may; it may come back at any time.
void leave_core() {
  cpu_set_t all;
  const int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace

Idle::Awake::Awake() {
  awake.fetch_add(1, std::memory_order_relaxed);
}

Idle::Awake::~Awake() {
  awake.fetch_sub(1, std::memory_order_relaxed);
}

void Idle::pause(bool doorbell_wakes) {
  const uint64_t now = now_ns();
  if (polls_ == 0) spin_start_ns_ = now;
  ++polls_;
  if (sleep_ns_ == 0 && now - spin_start_ns_ < policy_.spin_ns) {
    // The host needs a core as well.
    const bool crowded = awake.load(std::memory_order_relaxed) >= processors();
    if (sharing_.should_yield(polls_, now, crowded)) {
      yield(now);
    } else {
      relax(std::min(kFirstRelax * polls_, kMaxRelax));
    }
    return;
  }
  if (doorbell_wakes && watch_ != nullptr) {
    if (armed_) {
      // The look after arming found nothing, so whatever comes now writes the doorbell. A wake that
      // came in between has changed wakes_ and the futex returns at once.
      sleep(ticket_, 0);
      armed_ = false;
      return;
    }
    ticket_ = wakes_.load(std::memory_order_seq_cst);
    armed_ = watch_->arm();
    if (armed_) return;
  }
  sleep_ns_ = std::min(std::max(sleep_ns_ * 2, kFirstSleepNs), policy_.max_sleep_ns);
  sleep(wakes_.load(std::memory_order_seq_cst), sleep_ns_);
}

void Idle::yield(uint64_t now) {
  sched_yield();
  if (sharing_.yielded(now, now_ns())) leave_core();
}

void Idle::sleep(uint32_t seen, uint64_t nanoseconds) {
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1000000000);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1000000000);
  awake.fetch_sub(1, std::memory_order_relaxed);
  syscall(SYS_futex, &wakes_, FUTEX_WAIT_PRIVATE, seen, nanoseconds == 0 ? nullptr : &timeout,
          nullptr, 0);
  awake.fetch_add(1, std::memory_order_relaxed);
}

void Idle::wake() {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &wakes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace halyard::vgpu::queue
