// CrossWaits: the barrier-value packets of a device that wait for another queue.
//
// Should that queue be lost, such a packet would wait for ever, and the operation behind it would
// run on data that never came. So its signals are failed first, and then the packet is let go: what
// runs then is observed by nobody.
#pragma once

#include <mutex>
#include <vector>

#include "drivers/amdgpu/operation.h"

namespace halyard::amdgpu {

class DeviceImpl;

class CrossWaits {
 public:
  explicit CrossWaits(DeviceImpl& device) : device_(device) {}

  // The packets of `core` up to `last` wait for `waits`, and signal `signals`. Before they are
  // published.
  void add(QueueCore& core, uint64_t last, Span<const QueuePoint> waits,
           Span<const SemaphorePoint> signals);
  // Forgets what is done, and with it the references that it holds.
  void prune();
  // `core` is lost: fails what waits for it, directly or through another queue. Then
  // QueueCore::release_waiters may follow.
  void source_lost(const QueueCore& core, const Status& cause);

 private:
  struct Entry {
    QueueCore* core = nullptr;
    uint64_t last = 0;
    std::vector<QueuePoint> sources;
    std::vector<HeldPoint> signals;
    bool failed = false;
  };

  static constexpr size_t kFew = 64;

  static bool is_done(const Entry& entry);
  std::vector<Entry> take_done();  // under mutex_

  DeviceImpl& device_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // under mutex_
  size_t prune_at_ = kFew;      // under mutex_: so many entries, and what is done is looked for
};

}  // namespace halyard::amdgpu
