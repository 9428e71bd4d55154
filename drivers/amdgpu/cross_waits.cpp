#include "drivers/amdgpu/cross_waits.h"

#include <algorithm>
#include <iterator>

#include "drivers/amdgpu/device.h"
#include "plugins/sdk/workers.h"

namespace halyard::amdgpu {

CrossWaits::Shared& CrossWaits::shared() {
  // Never destroyed: a device may outlive every static object.
  static auto* const shared = new Shared;
  return *shared;
}

CrossWaits::CrossWaits(DeviceImpl& device) : device_(device) {
  const std::lock_guard lock(shared().mutex);
  shared().all.push_back(this);
}

void CrossWaits::close() {
  const std::lock_guard lock(shared().mutex);
  std::erase(shared().all, this);
  // What waited for this device's queues waits no more.
  for (CrossWaits* const other : shared().all) {
    for (Entry& entry : other->entries_) {
      std::erase_if(entry.sources, [this](const QueuePoint& source) {
        return &source.core->device() == &device_;
      });
    }
  }
}

bool CrossWaits::is_done(const Entry& entry) {
  return entry.core->epoch().completed() > entry.last || entry.core->loss().lost();
}

bool CrossWaits::waits_for_another_device(const Entry& entry) const {
  return std::any_of(entry.sources.begin(), entry.sources.end(), [this](const QueuePoint& source) {
    return &source.core->device() != &device_;
  });
}

std::vector<HeldPoint> CrossWaits::take_done() {
  std::vector<HeldPoint> points;
  std::erase_if(entries_, [&](Entry& entry) {
    if (!is_done(entry)) return false;
    points.insert(points.end(), std::make_move_iterator(entry.signals.begin()),
                  std::make_move_iterator(entry.signals.end()));
    entry.signals.clear();
    // A packet of an abandoned queue may still look at the other device's signal.
    return !waits_for_another_device(entry) || entry.core->is_through(entry.last + 1);
  });
  return points;
}

void CrossWaits::prune() {
  std::vector<HeldPoint> done;
  const std::lock_guard lock(shared().mutex);
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
  std::vector<HeldPoint> done;  // dropped outside of the lock: they are references
  const QueueCore* lost = nullptr;
  {
    const std::lock_guard lock(shared().mutex);
    if (entries_.size() >= prune_at_) {
      done = take_done();
      prune_at_ = std::max(kFew, 2 * entries_.size());
    }
    for (const QueuePoint& source : waits) {
      if (source.core->epoch().state_of(source.index) == PointState::kFailed) lost = source.core;
    }
    entries_.push_back(std::move(entry));
  }
  // It was lost before we were on the list.
  if (lost != nullptr) source_lost(*lost, lost->loss().cause());
}

bool CrossWaits::is_hit(const Entry& entry, const QueueCore& lost) {
  return std::any_of(entry.sources.begin(), entry.sources.end(), [&](const QueuePoint& source) {
    if (source.core == &lost)
      return source.core->epoch().state_of(source.index) != PointState::kReached;
    const std::vector<Entry>& others = source.core->device().cross_waits().entries_;
    return std::any_of(others.begin(), others.end(), [&](const Entry& other) {
      return other.failed && other.core == source.core && other.last == source.index;
    });
  });
}

void CrossWaits::source_lost(const QueueCore& core, const Status& cause) {
  std::vector<HeldPoint> failed;
  {
    const std::lock_guard lock(shared().mutex);
    // Until nothing new is found: an operation that fails takes those along that wait for it.
    for (bool more = true; more;) {
      more = false;
      for (CrossWaits* const waits : shared().all) {
        for (Entry& entry : waits->entries_) {
          if (entry.failed || !is_hit(entry, core)) continue;
          entry.failed = true;
          more = true;
          failed.insert(failed.end(), entry.signals.begin(), entry.signals.end());
        }
      }
    }
  }
  if (failed.empty()) return;
  for (const HeldPoint& point : failed) point.semaphore->fail_with(cause);
  // They may be the last references, and this a thread of the runtime's, which must not be the one
  // that destroys a queue.
  Workers::instance().run([failed = std::move(failed)] {});
}

bool CrossWaits::is_waited_for() {
  const std::lock_guard lock(shared().mutex);
  for (CrossWaits* const other : shared().all) {
    if (other == this) continue;
    for (const Entry& entry : other->entries_) {
      const bool waits = std::any_of(
          entry.sources.begin(), entry.sources.end(),
          [this](const QueuePoint& source) { return &source.core->device() == &device_; });
      if (waits && !entry.core->is_through(entry.last + 1)) return true;
    }
  }
  return false;
}

}  // namespace halyard::amdgpu
