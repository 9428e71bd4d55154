// UncountedRuns: packets of a ring that do not count themselves.
//
// A queue knows how far it is by counting completions. The packets of a recorded command buffer
// complete nothing, so that the device has nothing to write; behind each run of them comes one
// packet that is done when they all are, and completes for all of them. What is in flight of that
// kind is kept here: it turns the number of completions into the number of packets that are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace halyard::amdgpu {

class Program;

// Packets first to first + count - 1; the one behind them counts.
struct UncountedRun {
  uint64_t first = 0;
  uint64_t count = 0;
  // What they are: packets `at` and so on of a program, which lives while they are in flight.
  const Program* program = nullptr;
  uint32_t at = 0;

  uint64_t counting() const { return first + count; }
  bool contains(uint64_t index) const { return index >= first && index < counting(); }
};

// Any thread may use any method.
class UncountedRuns {
 public:
  // Slots are reserved and their runs added under this lock, so that runs are in the ring's order.
  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
  // Under lock(), before the packets are published.
  void add(const UncountedRun& run) {
    uncounted_ += run.count;
    runs_.push_back({run, uncounted_});
    outstanding_.store(static_cast<uint32_t>(runs_.size()), std::memory_order_release);
  }

  // How many packets are done besides the `counted` ones that have completed. The number is read
  // before the call: a run that it covers is then known here.
  uint64_t credit(uint64_t counted) const {
    if (outstanding_.load(std::memory_order_acquire) == 0) [[likely]]
      return credited_.load(std::memory_order_acquire);
    return settle(counted);
  }

  // The run that the packet is in. False if it is in none that is known to be in flight.
  bool find(uint64_t index, UncountedRun* run) const {
    if (outstanding_.load(std::memory_order_acquire) == 0) return false;
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : runs_) {
      if (!entry.run.contains(index)) continue;
      *run = entry.run;
      return true;
    }
    return false;
  }

 private:
  struct Entry {
    UncountedRun run;
    uint64_t uncounted = 0;  // uncounted packets up to the end of this run, of all that ever were
  };

  uint64_t settle(uint64_t counted) const {
    const std::lock_guard lock(mutex_);
    // Packets are done in order, so if the run's counting packet is done then so are all that
    // count before it, and there are index - uncounted of those.
    while (!runs_.empty()) {
      const Entry& front = runs_.front();
      if (counted + front.uncounted <= front.run.counting()) break;
      credited_.store(front.uncounted, std::memory_order_release);
      runs_.pop_front();
    }
    outstanding_.store(static_cast<uint32_t>(runs_.size()), std::memory_order_release);
    return credited_.load(std::memory_order_relaxed);
  }

  mutable std::mutex mutex_;
  mutable std::deque<Entry> runs_;  // under mutex_, in the ring's order
  uint64_t uncounted_ = 0;          // under mutex_
  mutable std::atomic<uint64_t> credited_{0};
  mutable std::atomic<uint32_t> outstanding_{0};  // runs_.size()
};

}  // namespace halyard::amdgpu
