// SemaphoreImpl: a timeline that host and queues move forward.
//
// What queued work will signal is kept as points, "value v is reached when packet i of queue q is
// done", and looked at when somebody asks. Adding one costs no lock and no allocation while fewer
// than kInlinePoints are unresolved; beyond that they go to a list behind a mutex.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/queue_core.h"
#include "hal/semaphore.h"

namespace halyard::amdgpu {

// A packet of a queue, as far as waiting for it goes.
struct QueuePoint {
  QueueCore* core = nullptr;
  uint64_t index = 0;
};

class SemaphoreImpl final : public Semaphore {
 public:
  SemaphoreImpl(DeviceImpl& device, uint64_t initial_value);

  // `value` will be reached when `point` is.
  void add_point(uint64_t value, const QueuePoint& point);
  // Work that is held back, or that the host does, will signal `value`. kept as a promise until
  // keep_promise, which comes together with add_point, reach or fail_with.
  void promise(uint64_t value);
  void keep_promise(uint64_t value);
  // The host has done the work that signals `value`.
  void reach(uint64_t value);
  void fail_with(const Status& cause);

  // Where `value` stands now. Resolves points on the way.
  PointState evaluate(uint64_t value) const;
  // Only after evaluate() has said kFailed.
  Status failure() const;
  // The point that will reach `value` first, as far as one is known: on `preferred` if there is one
  // there. core is null if no work that is in a ring reaches it.
  QueuePoint point_for(uint64_t value, const QueueCore* preferred) const;

 private:
  static constexpr size_t kInlinePoints = 32;

  // A slot of the lock-free table. The low two bits of `tag` say what state it is in, the others
  // count its uses, so that a reader notices when a slot has changed under it.
  enum Tag : uint64_t { kFree = 0, kBusy = 1, kReady = 2, kTagMask = 3 };
  struct Slot {
    std::atomic<uint64_t> tag{kFree};
    std::atomic<QueueCore*> core{nullptr};
    std::atomic<uint64_t> index{0};
    std::atomic<uint64_t> value{0};
  };
  struct Point {
    uint64_t value = 0;
    QueuePoint at;
  };

  ~SemaphoreImpl() = default;
  void destroy() noexcept override;
  Status do_query(uint64_t* value) const override;
  Status do_signal(uint64_t value) override;
  Status do_wait(uint64_t value, Deadline deadline) const override;
  void do_fail(const Status& cause) override;

  DeviceImpl& device() const;
  static bool read(const Slot& slot, uint64_t* tag, Point* point);
  void raise(uint64_t value) const;
  void settle() const;
  template <typename Visit>
  void visit_points(Visit visit) const;

  const Ref<Device> keep_alive_;
  mutable std::atomic<uint64_t> value_;
  mutable std::atomic<bool> failed_{false};
  mutable std::atomic<uint32_t> next_{0};  // where to look for a free slot
  mutable std::array<Slot, kInlinePoints> slots_;

  mutable std::atomic<uint32_t> overflow_count_{0};
  mutable std::mutex mutex_;
  mutable std::vector<Point> overflow_;  // under mutex_
  std::vector<uint64_t> promises_;       // under mutex_
  mutable Status failure_;               // under mutex_, set before failed_
};

// A semaphore point that is kept alive.
struct HeldPoint {
  Ref<SemaphoreImpl> semaphore;
  uint64_t value = 0;
};

}  // namespace halyard::amdgpu
