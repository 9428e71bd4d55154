// WaitLoop: how a thread of the program waits for a device, or for another thread.
//
// It looks all the time for a while, as a kernel that does next to nothing is back within some
// microseconds and a thread that is put to sleep takes longer than that to wake. Then it sleeps,
// until something has changed, or as long as a driver lets it.
#pragma once

#include <immintrin.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>

#include "hal/types.h"
#include "plugins/sdk/point_state.h"

namespace halyard {

// Any thread may use any method.
class WaitLoop {
 public:
  struct Spin {
    uint32_t looks;   // before the thread looks at the clock
    uint32_t rounds;  // of some pauses and a look, before it yields to other threads as well
    uint64_t ns;      // before it sleeps
  };

  // Calls `evaluate` until it says something else than kPending, or the deadline is past. It may
  // take a bool*, where it says whether the device may make the progress that is waited for; it
  // may, unless it says something else. `spin_ns` (DeviceOptions::wait_spin_ns) replaces Spin::ns.
  template <typename Evaluate>
  PointState wait_until(Evaluate&& evaluate, Deadline deadline,
                        std::optional<uint64_t> spin_ns = {}) {
    using Callable = std::remove_reference_t<Evaluate>;
    Predicate predicate;
    predicate.context = const_cast<void*>(static_cast<const void*>(&evaluate));
    predicate.evaluate = [](void* context, [[maybe_unused]] bool* on_device) {
      if constexpr (std::is_invocable_v<Callable&, bool*>) {
        return (*static_cast<Callable*>(context))(on_device);
      } else {
        return (*static_cast<Callable*>(context))();
      }
    };
    bool on_device = true;
    for (uint32_t i = 0; i < spin_.looks; ++i) {
      const PointState state = predicate.evaluate(predicate.context, &on_device);
      if (state != PointState::kPending || deadline.monotonic_ns == 0) return state;
      _mm_pause();
    }
    return wait_slowly(predicate, deadline, spin_ns.value_or(spin_.ns), on_device);
  }

 protected:
  explicit WaitLoop(const Spin& spin) : spin_(spin) {}
  ~WaitLoop() = default;

  // How long a thread that has waited for `waited_ns` sleeps before it looks again. Under the lock
  // of the threads that sleep.
  virtual uint64_t sleep_ns(uint64_t waited_ns, bool on_device) = 0;
  // A thread is about to look and then to sleep; it has woken for good.
  virtual void sleeps() {}
  virtual void woke() {}

  // Whether a thread sleeps, or is about to and may not see what the caller has changed before.
  bool any_sleeps() {
    // An addition of nothing, so that it and the addition of a thread that is about to sleep have
    // an order: either it sees what has changed, or we see it.
    return sleepers_.fetch_add(0) != 0;
  }
  // All that sleep look again.
  void wake();

 private:
  struct Predicate {
    PointState (*evaluate)(void* context, bool* on_device) = nullptr;
    void* context = nullptr;
  };

  PointState wait_slowly(const Predicate& predicate, Deadline deadline, uint64_t spin_ns,
                         bool on_device);
  PointState sleep(const Predicate& predicate, Deadline deadline, uint64_t start_ns);

  const Spin spin_;
  std::atomic<uint32_t> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace halyard
