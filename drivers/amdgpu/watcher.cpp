#include "drivers/amdgpu/watcher.h"

#include <immintrin.h>
#include <sched.h>

#include <chrono>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/wait_any.h"
#include "drivers/common/clock.h"
#include "drivers/common/service_thread.h"

namespace halyard::amdgpu {

namespace {

// A kernel that does next to nothing is back after some microseconds; a thread that is put to sleep
// takes longer than that to wake. And the HSA runtime spins for 200 us before a thread of its own
// or ours sleeps on a signal (ROCR 5.2.3, Signal::WaitAny): to have the watcher's thread wait any
// earlier would only have it spin instead of us, on one more core.
constexpr uint64_t kSpinNs = 200'000;
// How often things without an interrupt of their own are looked at: packets without an interrupt
// that hold memory or room in a ring, copies that have failed.
constexpr uint64_t kPollMs = 4;

}  // namespace

Status Watcher::open() {
  const Hsa& hsa = device_.hsa();
  HALYARD_RETURN_IF_ERROR(check(hsa, hsa.hsa_signal_create(0, 0, nullptr, &attention_),
                                "Creating the device's attention signal"));
  uint64_t ticks = 0;
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &ticks),
            "Asking for the timestamp frequency"));
  ticks_per_ms_ = ticks / 1000;
  return {};
}

Watcher::~Watcher() {
  if (attention_.handle != 0) device_.hsa().hsa_signal_destroy(attention_);
}

PointState Watcher::wait_slowly(const Predicate& predicate, Deadline deadline) {
  const uint64_t start = now_ns();
  const uint64_t spin_end = start + device_.options().wait_spin_ns.value_or(kSpinNs);
  for (uint32_t round = 0;; ++round) {
    const uint64_t now = now_ns();
    if (now >= deadline.monotonic_ns) return predicate.evaluate(predicate.context);
    if (now >= spin_end) break;
    for (int i = 0; i < 8; ++i) _mm_pause();
    // The partner may be a thread that needs this core (a virtual GPU's, a host function's).
    if (round >= 32) sched_yield();
    const PointState state = predicate.evaluate(predicate.context);
    if (state != PointState::kPending) return state;
  }
  return park(predicate, deadline);
}

PointState Watcher::park(const Predicate& predicate, Deadline deadline) {
  interest_.fetch_add(1, std::memory_order_acq_rel);
  std::unique_lock lock(mutex_);
  const bool watched = start();
  idle_.notify_one();
  PointState state = PointState::kPending;
  for (;;) {
    state = predicate.evaluate(predicate.context);
    if (state != PointState::kPending) break;
    const uint64_t now = now_ns();
    if (now >= deadline.monotonic_ns) break;
    // Another device's progress wakes no thread here.
    const bool alone = watched && !device_.shares_semaphores();
    if (alone && deadline.is_infinite()) {
      parked_.wait(lock);
      continue;
    }
    // Without a thread to wake us we look for ourselves, now and then. Long waits go in pieces
    // that the clock's type can hold.
    const uint64_t longest = alone ? 3'600'000'000'000 : 1'000'000;
    const uint64_t left = std::min(deadline.monotonic_ns - now, longest);
    parked_.wait_for(lock, std::chrono::nanoseconds(left));
  }
  interest_.fetch_sub(1, std::memory_order_acq_rel);
  return state;
}

void Watcher::add_interest() {
  interest_.fetch_add(1, std::memory_order_acq_rel);
  wake();
}

void Watcher::wake() {
  const std::lock_guard lock(mutex_);
  start();
  idle_.notify_one();
  parked_.notify_all();
  // Wakes the thread out of its HSA wait, if it is in one.
  device_.hsa().hsa_signal_store_screlease(attention_, 1);
}

void Watcher::queues_changed() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) device_.hsa().hsa_signal_store_screlease(attention_, 1);
}

bool Watcher::start() {
  if (thread_.joinable()) return true;
  if (stop_) return false;
  // Without a thread waiters poll.
  thread_ = start_service_thread("halyard-watch", [this] { run(); });
  return thread_.joinable();
}

bool Watcher::stop(void (*last)(void*), void* context) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  idle_.notify_one();
  device_.hsa().hsa_signal_store_screlease(attention_, 1);
  if (!thread_.joinable()) return true;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
    last_ = last;
    last_context_ = context;
    return false;
  }
  lock.unlock();
  thread_.join();
  return true;
}

void Watcher::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (interest_.load(std::memory_order_acquire) == 0) {
      idle_.wait(lock);
      continue;
    }
    lock.unlock();
    watch();
    lock.lock();
  }
  void (*const last)(void*) = last_;
  void* const context = last_context_;
  lock.unlock();
  if (last != nullptr) last(context);
}

// One round: what has happened so far is acted upon, then sleep until something happens. The values
// to compare with are read first, so that what happens during the round ends the sleep at once.
void Watcher::watch() {
  const Hsa& hsa = device_.hsa();
  hsa.hsa_signal_store_screlease(attention_, 0);
  device_.list_cores(&cores_);
  signals_.assign(1, attention_);
  conditions_.assign(1, HSA_SIGNAL_CONDITION_NE);
  values_.assign(1, 0);
  for (const QueueCore* core : cores_) {
    signals_.push_back(core->signals().interrupt());
    conditions_.push_back(HSA_SIGNAL_CONDITION_LT);
    values_.push_back(core->signals().interrupt_now());
  }
  const bool poll = device_.advance(cores_);
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    parked_.notify_all();
  }
  if (interest_.load(std::memory_order_acquire) == 0) return;
  wait_any(hsa, {signals_, conditions_, values_}, poll ? kPollMs * ticks_per_ms_ : UINT64_MAX,
           ticks_per_ms_);
}

}  // namespace halyard::amdgpu
