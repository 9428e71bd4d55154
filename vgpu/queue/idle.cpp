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
constexpr uint32_t kBusyPolls = 16;
constexpr uint64_t kFirstSleepNs = 20000;

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

void Idle::pause(bool doorbell_wakes) {
  if (polls_ == 0) spin_start_ns_ = now_ns();
  ++polls_;
  if (polls_ < kBusyPolls) {
    relax(std::min(kFirstRelax * polls_, kMaxRelax));
    return;
  }
  if (sleep_ns_ == 0 && now_ns() - spin_start_ns_ < policy_.spin_ns) {
    // Someone else may need this core to produce what is waited for.
    sched_yield();
    return;
  }
  if (doorbell_wakes && watch_ != nullptr) {
    if (armed_) {
      // The look after arming found nothing, so whatever comes now writes the doorbell. A wake that
      // came in between has changed wakes_ and the futex returns at once.
      syscall(SYS_futex, &wakes_, FUTEX_WAIT_PRIVATE, ticket_, nullptr, nullptr, 0);
      armed_ = false;
      return;
    }
    ticket_ = wakes_.load(std::memory_order_seq_cst);
    armed_ = watch_->arm();
    if (armed_) return;
  }
  sleep_ns_ = std::min(std::max(sleep_ns_ * 2, kFirstSleepNs), policy_.max_sleep_ns);
  sleep(sleep_ns_);
}

void Idle::sleep(uint64_t nanoseconds) {
  const uint32_t seen = wakes_.load(std::memory_order_seq_cst);
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1000000000);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1000000000);
  syscall(SYS_futex, &wakes_, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

void Idle::wake() {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &wakes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace halyard::vgpu::queue
