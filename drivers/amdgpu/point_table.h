// PointTable: what queued work will signal, as points "value v is reached when packet i of queue q
// is done". Any thread adds and reads without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "drivers/amdgpu/queue_core.h"

namespace halyard::amdgpu {

// A packet of a queue, as far as waiting for it goes.
struct QueuePoint {
  QueueCore* core = nullptr;
  uint64_t index = 0;
};

struct TimelinePoint {
  uint64_t value = 0;
  QueuePoint at;
};

// One place for a point. The low two bits of the tag say what state it is in, the others count its
// uses, so that a reader notices when it has changed under him.
class PointSlot {
 public:
  // The point that is there, and the tag to free it with. False if there is none.
  bool read(uint64_t* tag, TimelinePoint* point) const {
    // The acquire loads keep the second look at the tag behind them; a writer makes the tag busy
    // before it touches the rest (its stores release).
    *tag = tag_.load(std::memory_order_acquire);
    if ((*tag & kStateMask) != kReady) return false;
    point->at.core = core_.load(std::memory_order_acquire);
    point->at.index = index_.load(std::memory_order_acquire);
    point->value = value_.load(std::memory_order_acquire);
    return tag_.load(std::memory_order_relaxed) == *tag;
  }

  // Puts `point` here if the slot is free, or holds a point that `release(old)` lets go. `used`
  // (may be null): how many slots hold points, at least.
  template <typename Release>
  bool put(const TimelinePoint& point, Release&& release, std::atomic<uint32_t>* used) {
    uint64_t tag = 0;
    TimelinePoint old;
    uint64_t busy = 0;
    if (read(&tag, &old)) {
      if (!release(old)) return false;
      busy = next_use(tag) + kBusy;
      used = nullptr;  // counts already
    } else {
      if ((tag & kStateMask) != kFree) return false;
      busy = tag + kBusy;
    }
    if (!tag_.compare_exchange_strong(tag, busy, std::memory_order_acq_rel)) return false;
    if (used != nullptr) used->fetch_add(1, std::memory_order_acq_rel);
    core_.store(point.at.core, std::memory_order_release);
    index_.store(point.at.index, std::memory_order_release);
    value_.store(point.value, std::memory_order_release);
    tag_.store(busy - kBusy + kReady, std::memory_order_release);
    return true;
  }

  // Frees the slot, unless somebody has since read() the tag: then false.
  bool free(uint64_t tag) {
    return tag_.compare_exchange_strong(tag, next_use(tag) + kFree, std::memory_order_acq_rel);
  }

 private:
  enum State : uint64_t { kFree = 0, kBusy = 1, kReady = 2, kStateMask = 3 };
  static uint64_t next_use(uint64_t tag) { return (tag & ~uint64_t{kStateMask}) + 4; }

  std::atomic<uint64_t> tag_{kFree};
  std::atomic<QueueCore*> core_{nullptr};
  std::atomic<uint64_t> index_{0};
  std::atomic<uint64_t> value_{0};
};

// A few slots that every semaphore has, and many more that it gets when it first needs them.
class PointTable {
 public:
  static constexpr uint32_t kInline = 16;
  static constexpr uint32_t kMore = 2048;

  // False if there is no room. `release` as for PointSlot::put.
  template <typename Release>
  bool add(const TimelinePoint& point, Release&& release) {
    if (put(inline_, kInline, next_inline_, point, release, nullptr)) return true;
    PointSlot* const more = more_.load(std::memory_order_acquire);
    return more != nullptr && put(more, kMore, next_more_, point, release, &used_more_);
  }

  // Makes the room that add() has missed, once. One thread at a time.
  void grow() {
    if (owned_ != nullptr) return;
    owned_.reset(new (std::nothrow) PointSlot[kMore]);
    more_.store(owned_.get(), std::memory_order_release);
  }

  // Calls visit(point) for every point that is there. One that is freed meanwhile may be missed.
  template <typename Visit>
  void visit(Visit&& visit) {
    const auto keep = [&](const TimelinePoint& point) {
      visit(point);
      return false;
    };
    remove_if(keep);
  }

  // The same, and frees those of which done(point) is true.
  template <typename Done>
  void remove_if(Done&& done) {
    remove_in(inline_, kInline, nullptr, done);
    // Most semaphores never need them, and others for a while: looking through all of them would
    // take longer than a launch.
    if (used_more_.load(std::memory_order_acquire) == 0) return;
    remove_in(more_.load(std::memory_order_acquire), kMore, &used_more_, done);
  }

 private:
  // How many places are looked at: they are used in turn, so the first one is the oldest, and if
  // its point stands then so do most others.
  static constexpr uint32_t kProbes = 3;

  template <typename Release>
  static bool put(PointSlot* slots, uint32_t count, std::atomic<uint32_t>& next,
                  const TimelinePoint& point, Release& release, std::atomic<uint32_t>* used) {
    const uint32_t start = next.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < kProbes; ++i) {
      if (!slots[(start + i) % count].put(point, release, used)) continue;
      next.store(start + i + 1, std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  template <typename Done>
  static void remove_in(PointSlot* slots, uint32_t count, std::atomic<uint32_t>* used, Done& done) {
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t tag = 0;
      TimelinePoint point;
      if (!slots[i].read(&tag, &point) || !done(point) || !slots[i].free(tag)) continue;
      if (used != nullptr) used->fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  std::atomic<uint32_t> next_inline_{0};
  std::atomic<uint32_t> next_more_{0};
  std::atomic<uint32_t> used_more_{0};  // of which hold points, at least: counted before they do
  std::atomic<PointSlot*> more_{nullptr};
  PointSlot inline_[kInline];
  std::unique_ptr<PointSlot[]> owned_;
};

}  // namespace halyard::amdgpu
