// RetiredList: what its owner has let go of while work in flight may still use it. It is released
// when that work is done. An allocation that finds no memory may wait for it.
//
// How far the work has come is the driver's to say, and so is how its threads wait.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "hal/buffer.h"
#include "hal/status.h"
#include "hal/types.h"
#include "plugins/sdk/memory_wait.h"
#include "plugins/sdk/point_state.h"

namespace halyard {

// A heap, as an allocation sees it that has found no memory.
struct HeapRoom {
  uint64_t size = 0;   // bytes
  uint64_t live = 0;   // … in use through the device; what may come back is among them
  uint64_t spare = 0;  // … of which a pool keeps free, for when work in flight is done with it
  bool has_unused_spare = false;  // whether it is done with some of that
  // Whether the runtime has still to take in some that was given back. What it has since taken in
  // counts as returned.
  bool lingers = false;
};

// Use says what work uses an entry: `bool in_use() const`, without waiting. If it has a method
// advance(), that is called now and then, to do what must be done first. Any thread may use any
// method.
template <typename Use>
class RetiredList {
 public:
  struct Entry {
    Use use;
    std::function<void()> release;
    MemoryType heap = MemoryType::kDevice;
    uint64_t bytes = 0;  // of that heap, that release() gives back
  };
  struct Collected {
    size_t released = 0;
    size_t left = 0;
  };

  // To be released when it is due.
  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  // At once: nothing uses it.
  void release(const Entry& entry) {
    {
      const std::lock_guard lock(mutex_);
      Heap& heap = heap_of(entry);
      heap.returning += entry.bytes;
    }
    release_taken(entry);
  }
  // Releases what is due.
  Collected collect() {
    std::vector<Entry> due;
    Collected collected;
    {
      const std::lock_guard lock(mutex_);
      if (entries_.empty()) return collected;
      if constexpr (requires(Use& use) { use.advance(); }) {
        for (Entry& entry : entries_) entry.use.advance();
      }
      const auto first_due = std::partition(entries_.begin(), entries_.end(),
                                            [](const Entry& entry) { return entry.use.in_use(); });
      due.assign(std::make_move_iterator(first_due), std::make_move_iterator(entries_.end()));
      entries_.erase(first_due, entries_.end());
      for (const Entry& entry : due) heap_of(entry).returning += entry.bytes;
      collected = {due.size(), entries_.size()};
    }
    for (const Entry& entry : due) release_taken(entry);
    return collected;
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  // Memory of this heap has been given back, whether or not it was retired.
  void returned(MemoryType type) {
    const std::lock_guard lock(mutex_);
    ++heaps_[static_cast<size_t>(type)].returns;
  }

  // Allocates `bytes` of a heap: `source.attempt()` is the status of one try. Where that is
  // RESOURCE_EXHAUSTED although memory is on its way back that would do, waits for it, if `wait`
  // allows that. Of `source` it needs also
  //   void reclaim()           collects, and gives back what a pool keeps and nothing uses
  //   HeapRoom room()
  //   PointState wait(evaluate, deadline)
  // with an `evaluate` that only looks: it may be called under a lock of the driver's.
  template <typename Source>
  Status find_memory(MemoryType type, uint64_t bytes, const MemoryWait& wait, Source&& source) {
    Status status = source.attempt();
    if (!wait.allowed) return status;
    Deadline deadline = wait.deadline;
    while (status.code() == StatusCode::kResourceExhausted) {
      if (deadline.is_infinite()) deadline = wait.end();
      // What is given back from here on may be what the next attempt misses.
      const uint64_t returns = returns_to(type);
      source.reclaim();
      status = source.attempt();
      if (status.code() != StatusCode::kResourceExhausted) return status;
      const auto evaluate = [&] {
        return wait.is_over() ? PointState::kReached : outlook(type, bytes, returns, source.room());
      };
      if (source.wait(evaluate, deadline) != PointState::kReached) return status;
      if (wait.is_over()) return status;
      if (Deadline::after_ns(0).monotonic_ns >= deadline.monotonic_ns) return status;
    }
    return status;
  }

 private:
  static constexpr size_t kHeaps = 3;
  struct Heap {
    uint64_t returning = 0;  // bytes that are being released just now
    uint64_t returns = 0;    // how often some has been
  };

  Heap& heap_of(const Entry& entry) { return heaps_[static_cast<size_t>(entry.heap)]; }
  uint64_t returns_to(MemoryType type) {
    const std::lock_guard lock(mutex_);
    return heaps_[static_cast<size_t>(type)].returns;
  }
  void release_taken(const Entry& entry) {
    entry.release();
    if (entry.bytes == 0) return;
    const std::lock_guard lock(mutex_);
    Heap& heap = heap_of(entry);
    heap.returning -= entry.bytes;
    ++heap.returns;
  }

  // Whether another attempt is worth while, may be some time, or is not. `room` was looked at
  // before: what has been returned since then shows in the count.
  PointState outlook(MemoryType type, uint64_t bytes, uint64_t returns, const HeapRoom& room) {
    const std::lock_guard lock(mutex_);
    const Heap& heap = heaps_[static_cast<size_t>(type)];
    if (heap.returns != returns || room.has_unused_spare) return PointState::kReached;
    uint64_t coming = heap.returning + room.spare;
    for (const Entry& entry : entries_) {
      if (entry.heap != type || entry.bytes == 0) continue;
      if (!entry.use.in_use()) return PointState::kReached;
      coming += entry.bytes;
    }
    const bool enough =
        bytes <= room.size && room.live - std::min(room.live, coming) <= room.size - bytes;
    const bool comes = coming != 0 || room.lingers;
    return comes && enough ? PointState::kPending : PointState::kFailed;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;           // under mutex_
  std::array<Heap, kHeaps> heaps_ = {};  // under mutex_
};

}  // namespace halyard
