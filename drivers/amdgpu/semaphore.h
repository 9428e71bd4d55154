// SemaphoreImpl: a timeline that host and queues move forward.
//
// What queued work will signal is kept as points (point_table.h) and looked at when somebody asks.
// Adding one costs no lock and no allocation, except the first time that more than a few are
// unresolved, and while more than two thousand are.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/point_table.h"
#include "drivers/amdgpu/queue_core.h"
#include "hal/semaphore.h"

namespace halyard::amdgpu {

class SemaphoreImpl final : public Semaphore {
 public:
  SemaphoreImpl(DeviceImpl& device, uint64_t initial_value);

  DeviceImpl& device() const;
  // `value` will be reached when `point` is.
  void add_point(uint64_t value, const QueuePoint& point);
  // Work that is held back, or that the host does, will signal `value`. kept as a promise until
  // keep_promise, which comes together with add_point, reach or fail_with.
  void promise(uint64_t value);
  void keep_promise(uint64_t value);
  // The host has done the work that signals `value`.
  void reach(uint64_t value);
  void fail_with(const Status& cause);

  // How often a semaphore or a queue has failed, of all: each time, anything that waits may have to
  // fail as well.
  static uint64_t failures() { return failure_count.load(std::memory_order_acquire); }
  static void count_failure() { failure_count.fetch_add(1, std::memory_order_acq_rel); }

  // Where `value` stands now. Resolves points on the way.
  PointState evaluate(uint64_t value) const;
  // Only after evaluate() has said kFailed.
  Status failure() const;
  // The packet that work in `own` waits for: any of `own` that signals `value` or more, as the
  // queue's order sees to it; of another queue only one that signals `value` itself. Before that
  // queue signals a later value, the host or work not submitted yet may signal `value`. core is
  // null if there is no such packet.
  QueuePoint point_for(uint64_t value, const QueueCore* own) const;
  // Whether work that is in a ring signals `value` or more.
  bool is_coming(uint64_t value) const;

 private:
  ~SemaphoreImpl() = default;
  void destroy() noexcept override;
  Status do_query(uint64_t* value) const override;
  Status do_signal(uint64_t value) override;
  Status do_wait(uint64_t value, Deadline deadline) const override;
  void do_fail(const Status& cause) override;

  // Points are kept that lead to a queue of another device, which must not go.
  void add_signaller(DeviceImpl& signaller);
  void add_point_slowly(const TimelinePoint& point);
  void raise(uint64_t value) const;
  void settle() const;
  template <typename Visit>
  void visit_points(Visit visit) const;

  static inline std::atomic<uint64_t> failure_count{0};

  const Ref<Device> keep_alive_;
  mutable std::atomic<uint64_t> value_;
  mutable std::atomic<bool> failed_{false};
  mutable PointTable points_;

  mutable std::atomic<uint32_t> overflow_count_{0};
  mutable std::mutex mutex_;
  mutable std::vector<TimelinePoint> overflow_;  // under mutex_: what the table had no room for
  std::vector<uint64_t> promises_;               // under mutex_
  std::vector<Ref<Device>> signallers_;          // under mutex_: other devices that points are of
  mutable Status failure_;                       // under mutex_, set before failed_
};

// A semaphore point that is kept alive.
struct HeldPoint {
  Ref<SemaphoreImpl> semaphore;
  uint64_t value = 0;
};

}  // namespace halyard::amdgpu
