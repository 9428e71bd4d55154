#include "drivers/hip/progress.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "drivers/hip/queue_core.h"
#include "plugins/sdk/clock.h"
#include "plugins/sdk/workers.h"

namespace halyard::hip {

namespace {

// Behind its spin a waiter sleeps for this part of the time that it has waited, within bounds: it
// is late by that much at most.
constexpr uint64_t kSleepPart = 16;
constexpr uint64_t kShortestSleepNs = 20'000;
constexpr uint64_t kLongestSleepNs = 1'000'000;

uint64_t sleep_after(uint64_t waited_ns) {
  return std::clamp(waited_ns / kSleepPart, kShortestSleepNs, kLongestSleepNs);
}

}  // namespace

Progress& Progress::instance() {
  // Leaked on purpose: callers may outlive main.
  static auto* const progress = new Progress;
  return *progress;
}

// What host threads do wakes those that sleep; of the device they have to look for themselves.
uint64_t Progress::sleep_ns(uint64_t waited_ns, bool on_device) {
  return on_device ? sleep_after(waited_ns) : UINT64_MAX;
}

void Progress::add_holder(const std::shared_ptr<QueueCore>& core) {
  const std::lock_guard lock(holders_mutex_);
  holders_.push_back(core);
  holders_count_.fetch_add(1);
}

void Progress::remove_holder(const QueueCore& core) {
  const std::lock_guard lock(holders_mutex_);
  holders_count_.fetch_sub(static_cast<uint32_t>(
      std::erase_if(holders_, [&](const auto& holder) { return holder.get() == &core; })));
}

bool Progress::holds(const DeviceImpl& device) {
  const std::lock_guard lock(holders_mutex_);
  return std::any_of(holders_.begin(), holders_.end(),
                     [&](const auto& holder) { return &holder->device() == &device; });
}

void Progress::poll_holders() {
  do {
    const uint64_t start = now_ns();
    while (await_streams_.load()) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_after(now_ns() - start)));
      advance();
    }
    polling_.store(false);
    // Another thread may just now have found this one still here.
  } while (await_streams_.load() && !polling_.exchange(true));
}

// One thread at a time; who comes meanwhile leaves a request, and the one who is at it looks again.
void Progress::advance() {
  requests_.fetch_add(1);
  for (;;) {
    if (advancing_.exchange(true)) return;
    uint64_t seen = 0;
    do {
      seen = requests_.load();
      std::vector<std::shared_ptr<QueueCore>> holders;
      {
        const std::lock_guard lock(holders_mutex_);
        holders = holders_;
      }
      // What one submits another may wait for.
      bool await_streams = false;
      for (const auto& holder : holders) {
        if (holder->advance().changed) requests_.fetch_add(1);
        await_streams |= holder->awaits_stream();
      }
      await_streams_.store(await_streams);
      if (await_streams && !polling_.exchange(true)) {
        Workers::instance().run([this] { poll_holders(); });
      }
      if (requests_.load() != seen && any_sleeps()) wake();
    } while (requests_.load() != seen);
    advancing_.store(false);
    if (requests_.load() == seen) return;
  }
}

}  // namespace halyard::hip
