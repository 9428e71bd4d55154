// CrossWaits: the packets of a device that wait for another queue, of this device or of another one
// of the same runtime.
//
// Should that queue be lost, such a packet would wait for ever, and the operation behind it would
// run on data that never came. So its signals are failed first, and then the packet is let go: what
// runs then is observed by nobody. And a device does not go while packets of others may still look
// at its queues' signals.
#pragma once

#include <mutex>
#include <vector>

#include "drivers/amdgpu/operation.h"

namespace halyard::amdgpu {

class DeviceImpl;

// Any thread may use any method. All devices' share one lock, as a loss passes from one to the
// next.
class CrossWaits {
 public:
  explicit CrossWaits(DeviceImpl& device);
  ~CrossWaits() = default;
  CrossWaits(const CrossWaits&) = delete;
  CrossWaits& operator=(const CrossWaits&) = delete;

  // The device's queues are about to go, and the others forget them: after is_waited_for() was
  // false, when no semaphore is left that leads to them.
  void close();

  // The packets of `core` up to `last` wait for `waits`, and signal `signals`. Before they are
  // published.
  void add(QueueCore& core, uint64_t last, Span<const QueuePoint> waits,
           Span<const SemaphorePoint> signals);
  // Forgets what is done, and with it the references that it holds.
  void prune();
  // `core`, of this device, is lost: fails what waits for it, directly or through other queues.
  // Then EpochSignals::release_waiters may follow.
  void source_lost(const QueueCore& core, const Status& cause);
  // Whether packets of other devices wait for this one's queues.
  bool is_waited_for();

 private:
  struct Entry {
    QueueCore* core = nullptr;
    uint64_t last = 0;
    std::vector<QueuePoint> sources;
    std::vector<HeldPoint> signals;
    bool failed = false;
  };

  // What all devices' have in common.
  struct Shared {
    std::mutex mutex;
    std::vector<CrossWaits*> all;  // under mutex
  };
  static Shared& shared();

  static constexpr size_t kFew = 64;

  static bool is_done(const Entry& entry);
  bool waits_for_another_device(const Entry& entry) const;
  // The references of what is done, for the caller to drop without the lock. Under the lock.
  std::vector<HeldPoint> take_done();
  static bool is_hit(const Entry& entry, const QueueCore& lost);  // under the lock

  DeviceImpl& device_;
  std::vector<Entry> entries_;  // under the lock
  size_t prune_at_ = kFew;      // under the lock: so many entries, and what is done is looked for
};

}  // namespace halyard::amdgpu
