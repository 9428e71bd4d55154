#include "drivers/amdgpu/cross_waits.h"

#include <algorithm>

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

bool CrossWaits::is_done(const Entry& entry) {
  return entry.core->completed() > entry.last || entry.core->lost();
}

std::vector<CrossWaits::Entry> CrossWaits::take_done() {
  const auto first_done = std::partition(entries_.begin(), entries_.end(),
                                         [](const Entry& entry) { return !is_done(entry); });
  std::vector<Entry> done(std::make_move_iterator(first_done),
                          std::make_move_iterator(entries_.end()));
  entries_.erase(first_done, entries_.end());
  return done;
}

void CrossWaits::prune() {
  std::vector<Entry> done;
  const std::lock_guard lock(mutex_);
  // Destroyed after the lock is gone, as it was made before.
  done = take_done();
}

void CrossWaits::add(QueueCore& core, uint64_t last, Span<const QueuePoint> waits,
                     Span<const SemaphorePoint> signals) {
  Entry entry;
  entry.core = &core;
  entry.last = last;
  entry.sources.assign(waits.begin(), waits.end());
  entry.signals = retain(signals);
  std::vector<Entry> done;  // dropped outside of the lock: they hold references
  const QueueCore* lost = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= prune_at_) {
      done = take_done();
      prune_at_ = std::max(kFew, 2 * entries_.size());
    }
    for (const QueuePoint& source : waits) {
      if (source.core->state_of(source.index) == PointState::kFailed) lost = source.core;
    }
    entries_.push_back(std::move(entry));
  }
  // It was lost before we were on the list.
  if (lost != nullptr) source_lost(*lost, lost->fault());
}

void CrossWaits::source_lost(const QueueCore& core, const Status& cause) {
  std::vector<HeldPoint> failed;
  {
    const std::lock_guard lock(mutex_);
    // Until nothing new is found: an operation that fails takes those along that wait for it.
    for (bool more = true; more;) {
      more = false;
      for (Entry& entry : entries_) {
        if (entry.failed) continue;
        const bool hit =
            std::any_of(entry.sources.begin(), entry.sources.end(), [&](const QueuePoint& source) {
              if (source.core == &core) {
                return source.core->state_of(source.index) != PointState::kReached;
              }
              return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
                return other.failed && other.core == source.core && other.last == source.index;
              });
            });
        if (!hit) continue;
        entry.failed = true;
        more = true;
        failed.insert(failed.end(), entry.signals.begin(), entry.signals.end());
      }
    }
  }
  if (failed.empty()) return;
  for (const HeldPoint& point : failed) point.semaphore->fail_with(cause);
  device_.drop_later(std::move(failed));
}

}  // namespace halyard::amdgpu
