#include "drivers/amdgpu/watcher.h"

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/wait_any.h"
#include "plugins/sdk/service_thread.h"

namespace halyard::amdgpu {

namespace {

// A launch that does next to nothing is back within the first looks. And the HSA runtime spins for
// 200 us before a thread of its own or ours sleeps on a signal (ROCR 5.2.3, Signal::WaitAny): to
// have the watcher's thread wait any earlier would only have it spin instead of the program's, on
// one more core.
constexpr WaitLoop::Spin kSpin = {.looks = 64, .rounds = 32, .ns = 200'000};
// How often things without an interrupt of their own are looked at: packets without an interrupt
// that hold memory or room in a ring, copies that have failed.
constexpr uint64_t kPollMs = 4;

}  // namespace

Watcher::Watcher(DeviceImpl& device) : WaitLoop(kSpin), device_(device) {}

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

void Watcher::sleeps() {
  interest_.fetch_add(1);
  const std::lock_guard lock(mutex_);
  start();
  idle_.notify_one();
}

uint64_t Watcher::sleep_ns(uint64_t, bool) {
  // Without a thread to wake it, a thread looks for itself, now and then. Another device's progress
  // wakes none here.
  return has_thread_.load() && !device_.shares_semaphores() ? UINT64_MAX : 1'000'000;
}

void Watcher::add_interest() {
  interest_.fetch_add(1);
  wake_all();
}

void Watcher::wake_all() {
  {
    const std::lock_guard lock(mutex_);
    start();
    idle_.notify_one();
    // Wakes the thread out of its HSA wait, if it is in one.
    device_.hsa().hsa_signal_store_screlease(attention_, 1);
  }
  wake();
}

void Watcher::queues_changed() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) device_.hsa().hsa_signal_store_screlease(attention_, 1);
}

void Watcher::start() {
  if (thread_.joinable() || stop_) return;
  thread_ = start_service_thread("halyard-watch", [this] { run(); });
  has_thread_.store(thread_.joinable());
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
    signals_.push_back(core->epoch().signals().interrupt());
    conditions_.push_back(HSA_SIGNAL_CONDITION_LT);
    values_.push_back(core->epoch().signals().interrupt_now());
  }
  const bool poll = device_.advance(cores_);
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
  }
  wake();
  if (interest_.load(std::memory_order_acquire) == 0) return;
  wait_any(hsa, {signals_, conditions_, values_}, poll ? kPollMs * ticks_per_ms_ : UINT64_MAX,
           ticks_per_ms_);
}

}  // namespace halyard::amdgpu
