// SemaphoreImpl: a timeline that host and queues move forward.
//
// What queued work will signal is kept as points (point_table.h) and looked at when the semaphore
// is. Adding one costs no lock and no allocation, except the first time that more than a few are
// unresolved, and while more than two thousand are.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/point_table.h"
#include "drivers/amdgpu/queue_core.h"
#include "plugins/sdk/timeline.h"

namespace halyard::amdgpu {

class SemaphoreImpl final : public Timeline {
 public:
  SemaphoreImpl(DeviceImpl& device, uint64_t initial_value);

  DeviceImpl& device() const;
  // `value` will be reached when `point` is.
  void add_point(uint64_t value, const QueuePoint& point);

  // Resolves points on the way.
  PointState evaluate(uint64_t value) const override;
  // The packet that work in `own` waits for: any of `own` that signals `value` or more, as the
  // queue's order sees to it; of another queue only one that signals `value` itself. Before that
  // queue signals a later value, the host or work not submitted yet may signal `value`. core is
  // null if there is no such packet.
  QueuePoint point_for(uint64_t value, const QueueCore* own) const;
  bool is_coming(uint64_t value) const override;

 private:
  ~SemaphoreImpl() = default;
  void destroy() noexcept override;
  void settle() const override;
  uint64_t least_pending() const override;
  PointState wait_until(uint64_t value, Deadline deadline) const override;
  void notify() const override;
  void notify_under_lock() const override { notify(); }
  void observed() const override;

  // Points are kept that lead to a queue of another device, which must not go.
  void add_signaller(DeviceImpl& signaller);
  void add_point_slowly(const TimelinePoint& point);
  template <typename Visit>
  void visit_points(Visit visit) const;

  mutable PointTable points_;
  mutable std::atomic<uint32_t> overflow_count_{0};
  mutable std::mutex overflow_mutex_;
  mutable std::vector<TimelinePoint> overflow_;  // under overflow_mutex_: does not fit the table
  std::vector<Ref<Device>> signallers_;  // under overflow_mutex_: other devices that points are of
};

inline SemaphoreImpl& impl(Semaphore& semaphore) {
  return static_cast<SemaphoreImpl&>(semaphore);
}

}  // namespace halyard::amdgpu
