// Profiler: when each operation began and ended, on the host's clock.
//
// HIP times a launch with two events, and returns how far two events are apart; around a transfer
// two events are recorded. So the profiler puts an event of its own onto an idle stream, notes the
// host's time around it, and measures every other event from there. What the host does is timed by
// the host.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/hip/queue_core.h"
#include "drivers/hip/stream.h"
#include "hal/status.h"
#include "plugins/sdk/profile_recorder.h"

namespace halyard::hip {

class DeviceImpl;

struct EventMarks {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  uint64_t submitted_ns = 0;  // by the host's clock
  StreamPoint point;
};

// One whose two events are null is not timed.
struct TimedOperation {
  ProfileNote note;
  EventMarks marks;
};

// How far after the anchor an operation began and ended, and when it was submitted.
struct MeasuredOperation {
  float begin_ms = 0;
  float end_ms = 0;
  uint64_t submitted_ns = 0;
};

// Any thread may use any method.
class Profiler final : public ProfileRecorder<EventMarks> {
 public:
  explicit Profiler(DeviceImpl& device) : device_(device) {}
  ~Profiler();

  // Around a launch, under its stream's lock.
  TimedOperation begin_operation(ProfileNote note);
  void end_operation(TimedOperation& operation, Stream& stream);
  void drop(const EventMarks& marks);
  // Calls `put`, which puts an operation onto the queue's stream, whose lock is held; between two
  // events, if such operations are timed.
  template <typename Put>
  Status around(QueueCore& core, const OperationFacts& facts, const RecordedPlace& place,
                Put&& put) {
    if (!wants(facts.kind)) [[likely]]
      return put();
    Stream& stream = core.stream();
    TimedOperation operation = begin_operation(ProfileNote(facts, core.queue_id(), place));
    record(operation.marks.start, stream);
    const Status status = put();
    record(operation.marks.stop, stream);
    if (status.ok()) {
      end_operation(operation, stream);
    } else {
      drop(operation.marks);
    }
    return status;
  }

 private:
  // A moment that both clocks know.
  struct Anchor {
    hipEvent_t event = nullptr;
    uint64_t host_ns = 0;
  };

  Status prepare() override;
  void wait_for_work() override;
  Status read(std::vector<Event>* events) override;
  Status read_marks(std::vector<Event>* events);
  hipEvent_t take_event();  // null if HIP has none
  // One that HIP does not record is measured as HIP measures it: not at all.
  void record(hipEvent_t event, Stream& stream);
  Status measure(const EventMarks& marks, MeasuredOperation* measured);

  DeviceImpl& device_;
  std::mutex mutex_;
  std::vector<hipEvent_t> events_;  // under mutex_: the spare ones
  Anchor anchor_;                   // under mutex_
};

// The host's time of the anchor, which is known to some microseconds, or worse on a busy host: what
// is closest to `anchor_ns` so that nothing began before it was submitted, and nothing ends after
// now. All operations move together, so what lies between them stays as it was measured.
uint64_t settle_anchor(uint64_t anchor_ns, const std::vector<MeasuredOperation>& operations,
                       uint64_t now_ns);
TimeSpan place_on_clock(uint64_t anchor_ns, const MeasuredOperation& operation);

}  // namespace halyard::hip
