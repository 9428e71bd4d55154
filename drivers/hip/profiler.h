// Profiler: when each operation began and ended, on the host's clock.
//
// HIP times a launch with two events, and returns how far two events are apart; around a transfer
// two events are recorded. So the profiler puts an event of its own onto an idle stream, notes the
// host's time around it, and measures every other event from there. What the host does is timed by
// the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/common/operation_facts.h"
#include "drivers/hip/queue_core.h"
#include "drivers/hip/stream.h"
#include "hal/device.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::hip {

class DeviceImpl;

// The two events of an operation that is timed; both null if it is not, or was the host's.
struct TimedOperation {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  ProfileNote note;
  uint64_t submitted_ns = 0;  // by the host: when it began
  uint64_t end_ns = 0;        // by the host only
  StreamPoint point;
};

// How far after the anchor an operation began and ended, and when it was submitted.
struct MeasuredOperation {
  float begin_ms = 0;
  float end_ms = 0;
  uint64_t submitted_ns = 0;
};

// Any thread may use any method.
class Profiler {
 public:
  explicit Profiler(DeviceImpl& device) : device_(device) {}
  ~Profiler();

  bool active() const { return kinds_.load(std::memory_order_relaxed) != 0; }
  bool wants(ProfileKind kind) const {
    return (kinds_.load(std::memory_order_relaxed) & profile_bit(kind)) != 0;
  }
  // RecordedPlace::execution of an execution that is submitted.
  uint64_t next_execution() { return next_execution_.fetch_add(1, std::memory_order_relaxed); }
  // The first starts, and says that there is one already; the second waits for what was submitted
  // in between. `kinds` has a profile_bit() for each kind of operation that is timed, at least one.
  Status start(uint64_t kinds);
  Status finish(ProfileSink sink, void* context);

  // Around a launch, under its stream's lock.
  TimedOperation begin(ProfileNote note);
  void end(TimedOperation& operation, Stream& stream);
  void drop(TimedOperation& operation);
  // Calls `put`, which puts an operation onto the queue's stream, whose lock is held; between two
  // events, if such operations are timed.
  template <typename Put>
  Status around(QueueCore& core, const OperationFacts& facts, const RecordedPlace& place,
                Put&& put) {
    if (!wants(facts.kind)) [[likely]]
      return put();
    Stream& stream = core.stream();
    TimedOperation operation = begin(ProfileNote(facts, core.queue_id(), place));
    record(operation.start, stream);
    const Status status = put();
    record(operation.stop, stream);
    if (status.ok()) {
      end(operation, stream);
    } else {
      drop(operation);
    }
    return status;
  }
  void add_host(const QueueCore& core, const OperationFacts& facts, uint64_t begin_ns,
                uint64_t end_ns);

 private:
  // A moment that both clocks know.
  struct Anchor {
    hipEvent_t event = nullptr;
    uint64_t host_ns = 0;
  };

  hipEvent_t take_event();  // null if HIP has none
  Status set_anchor();
  // One that HIP does not record is measured as HIP measures it: not at all.
  void record(hipEvent_t event, Stream& stream);
  Status measure(const TimedOperation& operation, MeasuredOperation* measured);
  Status report(const std::vector<TimedOperation>& operations, ProfileSink sink, void* context);

  DeviceImpl& device_;
  std::atomic<uint64_t> kinds_{0};  // 0: no profile is being taken
  std::atomic<uint64_t> next_execution_{1};
  std::mutex mutex_;
  std::vector<hipEvent_t> events_;          // under mutex_: the spare ones
  std::vector<TimedOperation> operations_;  // under mutex_
  Anchor anchor_;                           // under mutex_
};

// The host's time of the anchor, which is known to some microseconds, or worse on a busy host: what
// is closest to `anchor_ns` so that nothing began before it was submitted, and nothing ends after
// now. All operations move together, so what lies between them stays as it was measured.
uint64_t settle_anchor(uint64_t anchor_ns, const std::vector<MeasuredOperation>& operations,
                       uint64_t now_ns);
struct TimeSpan {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
};
TimeSpan place_on_clock(uint64_t anchor_ns, const MeasuredOperation& operation);

}  // namespace halyard::hip
