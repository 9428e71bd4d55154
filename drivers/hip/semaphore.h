// SemaphoreImpl: a timeline that host and streams move forward.
//
// What work on streams will signal is kept as points, "value v is reached when operation n of
// stream s is done", and looked at when somebody asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/hip/stream.h"
#include "hal/device.h"
#include "hal/semaphore.h"

namespace halyard::hip {

class SemaphoreImpl final : public Semaphore {
 public:
  SemaphoreImpl(Device& device, uint64_t initial_value)
      : Semaphore(device), keep_alive_(Ref<Device>::retain(&device)), value_(initial_value) {}

  // None of these tells Progress: who calls them does, once it holds no lock.

  // `value` will be reached when the marked operation `point` is done.
  void add_point(uint64_t value, const StreamPoint& point);
  // Work that is held back, or that the host does, will signal `value`. Kept as a promise until
  // keep_promise, which comes together with add_point, reach or fail_with.
  void promise(uint64_t value);
  void keep_promise(uint64_t value);
  // The host has done the work that signals `value`.
  void reach(uint64_t value);
  void fail_with(const Status& cause);

  // How often a semaphore or a stream has failed, of all: each time, anything that waits may have
  // to fail as well.
  static uint64_t failures() { return failure_count.load(std::memory_order_acquire); }
  static void count_failure() { failure_count.fetch_add(1, std::memory_order_acq_rel); }

  // Where `value` stands now. `on_device` (may be null): whether work on a stream may reach it.
  PointState evaluate(uint64_t value, bool* on_device) const;
  // Only after evaluate() has said kFailed.
  Status failure() const;
  // The operation that work on `own` waits for: any of `own` that signals `value` or more, as the
  // stream's order sees to it; of another stream only one that signals `value` itself. Before that
  // stream signals a later value, the host or work not submitted yet may signal `value`. stream is
  // null if there is no such operation; then `*later` says whether there is one with a later value.
  StreamPoint point_for(uint64_t value, const Stream* own, bool* later) const;
  // Whether work that is on a stream signals `value` or more.
  bool is_coming(uint64_t value) const;

 private:
  struct TimelinePoint {
    uint64_t value = 0;
    StreamPoint at;
  };

  ~SemaphoreImpl() = default;
  void destroy() noexcept override { delete this; }
  Status do_query(uint64_t* value) const override;
  Status do_signal(uint64_t value) override;
  Status do_wait(uint64_t value, Deadline deadline) const override;
  void do_fail(const Status& cause) override;

  // All under mutex_.
  void raise(uint64_t value) const;
  void drop_known() const;
  void ask_for(uint64_t value) const;
  void settle() const;
  void set_failure(const Status& cause) const;

  static inline std::atomic<uint64_t> failure_count{0};

  const Ref<Device> keep_alive_;
  mutable std::atomic<uint64_t> value_;  // written under mutex_
  mutable std::mutex mutex_;
  mutable std::vector<TimelinePoint> points_;  // under mutex_
  mutable size_t prune_at_ = 64;               // under mutex_: when points_ has that many
  std::vector<uint64_t> promises_;             // under mutex_
  mutable bool failed_ = false;                // under mutex_
  mutable Status failure_;                     // under mutex_
};

inline SemaphoreImpl& impl(Semaphore& semaphore) {
  return static_cast<SemaphoreImpl&>(semaphore);
}

// A semaphore point that is kept alive.
struct HeldPoint {
  Ref<SemaphoreImpl> semaphore;
  uint64_t value = 0;
};

}  // namespace halyard::hip
