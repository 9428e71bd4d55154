// Watcher: waits for a device on behalf of everybody who does not want to spin.
//
// HSA lets only one thread sleep on a signal; the others would poll. So host threads that wait park
// on a condition variable, and one thread of the device's sleeps on the queues' interrupt signals
// and wakes them. The same thread submits operations that were held back and frees what was
// retired. It is started when it is first needed, and watches nothing while nobody is interested.
#pragma once

#include <hsa/hsa.h>
#include <immintrin.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "drivers/amdgpu/queue_core.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::amdgpu {

class DeviceImpl;

class Watcher {
 public:
  explicit Watcher(DeviceImpl& device) : device_(device) {}
  ~Watcher();

  Status open();

  // Calls `evaluate` until it says something else than kPending, or the deadline is past: spins
  // for some microseconds, then parks.
  template <typename Evaluate>
  PointState wait_until(Evaluate&& evaluate, Deadline deadline) {
    using Callable = std::remove_reference_t<Evaluate>;
    const Predicate predicate = {
        [](const void* context) { return (*static_cast<const Callable*>(context))(); }, &evaluate};
    // A launch that does next to nothing is back within these; the clock is not even looked at.
    constexpr int kFirstLooks = 64;
    for (int i = 0; i < kFirstLooks; ++i) {
      const PointState state = evaluate();
      if (state != PointState::kPending || deadline.monotonic_ns == 0) return state;
      _mm_pause();
    }
    return wait_slowly(predicate, deadline);
  }

  // Something that a waiter or a held-back operation looks at has changed. Cheap when nothing
  // waits.
  void progress() {
    // An addition of nothing, so that it and the addition of a thread that starts waiting have an
    // order: either it sees what has changed, or we see it.
    if (interest_.fetch_add(0, std::memory_order_acq_rel) != 0) wake();
  }
  // There is a new queue. The thread may still sleep from an earlier wait, although nobody is
  // interested now, and would not hear of this one.
  void queues_changed();
  // Work for the watcher's thread (DeviceImpl::advance): it stays awake until as much is removed.
  void add_interest();
  void remove_interest() { interest_.fetch_sub(1, std::memory_order_acq_rel); }

  // Ends the thread. False if this is the thread itself: `last` then runs at its very end instead.
  bool stop(void (*last)(void*), void* context);

 private:
  struct Predicate {
    PointState (*evaluate)(const void* context);
    const void* context;
  };

  PointState wait_slowly(const Predicate& predicate, Deadline deadline);
  PointState park(const Predicate& predicate, Deadline deadline);
  void wake();
  bool start();  // under mutex_
  void run();
  void watch();

  DeviceImpl& device_;
  hsa_signal_t attention_ = {};  // not 0: look again
  uint64_t ticks_per_ms_ = 0;
  std::atomic<uint32_t> interest_{0};

  std::mutex mutex_;
  std::condition_variable idle_;    // the thread, when there is no interest
  std::condition_variable parked_;  // host threads
  std::thread thread_;
  bool stop_ = false;
  void (*last_)(void*) = nullptr;
  void* last_context_ = nullptr;

  // The thread's own.
  std::vector<QueueCore*> cores_;
  std::vector<hsa_signal_t> signals_;
  std::vector<hsa_signal_condition_t> conditions_;
  std::vector<hsa_signal_value_t> values_;
};

}  // namespace halyard::amdgpu
