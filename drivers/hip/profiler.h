// Profiler: when each dispatch began and ended, on the host's clock.
//
// HIP times a launch with two events, and tells how far two events are apart. So the profiler puts
// an event of its own onto an idle stream, notes the host's time around it, and measures every
// other event from there.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/hip/stream.h"
#include "hal/device.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::hip {

class DeviceImpl;

// The two events of a launch that is timed; both null if it is not.
struct TimedLaunch {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  std::string name;
  uint64_t submitted_ns = 0;
  StreamPoint point;
};

// Any thread may use any method.
class Profiler {
 public:
  explicit Profiler(DeviceImpl& device) : device_(device) {}
  ~Profiler();

  bool active() const { return active_.load(std::memory_order_relaxed); }
  // The first starts, and says that there is one already; the second waits for what was submitted
  // in between.
  Status start();
  Status finish(ProfileSink sink, void* context);

  // Around a launch, under its stream's lock.
  TimedLaunch begin(StringView name);
  void end(TimedLaunch& launch, Stream& stream);
  void drop(TimedLaunch& launch);

 private:
  // A moment that both clocks know.
  struct Anchor {
    hipEvent_t event = nullptr;
    uint64_t host_ns = 0;
  };

  hipEvent_t take_event();  // null if HIP has none
  Status set_anchor();
  Status report(TimedLaunch& launch, ProfileSink sink, void* context);

  DeviceImpl& device_;
  std::atomic<bool> active_{false};
  std::mutex mutex_;
  std::vector<hipEvent_t> events_;     // under mutex_: the spare ones
  std::vector<TimedLaunch> launches_;  // under mutex_
  Anchor anchor_;                      // under mutex_
};

// Where a dispatch that is `begin_ms` to `end_ms` after the anchor lies on the host's clock. It
// began after it was submitted, and has ended by now: the anchor is known to some microseconds
// only.
ProfileEvent place_on_clock(uint64_t anchor_ns, float begin_ms, float end_ms, uint64_t submitted_ns,
                            uint64_t now_ns);

}  // namespace halyard::hip
