#include "drivers/hip/profiler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "hal/error.h"
#include "plugins/sdk/clock.h"

namespace halyard::hip {

namespace {

int64_t nanoseconds(float ms) {
  return std::llround(static_cast<double>(ms) * 1e6);
}

}  // namespace

uint64_t settle_anchor(uint64_t anchor_ns, const std::vector<MeasuredOperation>& operations,
                       uint64_t now_ns) {
  const auto anchor = static_cast<int64_t>(anchor_ns);
  int64_t too_early = 0;
  int64_t too_late = 0;
  for (const MeasuredOperation& operation : operations) {
    const int64_t begin = anchor + nanoseconds(operation.begin_ms);
    const int64_t end = anchor + nanoseconds(operation.end_ms);
    too_early = std::max(too_early, static_cast<int64_t>(operation.submitted_ns) - begin);
    too_late = std::max(too_late, end - static_cast<int64_t>(now_ns));
  }
  return static_cast<uint64_t>(anchor + (too_early > 0 ? too_early : -too_late));
}

TimeSpan place_on_clock(uint64_t anchor_ns, const MeasuredOperation& operation) {
  const auto anchor = static_cast<int64_t>(anchor_ns);
  TimeSpan span;
  span.begin_ns = static_cast<uint64_t>(anchor + nanoseconds(operation.begin_ms));
  span.end_ns =
      std::max(span.begin_ns, static_cast<uint64_t>(anchor + nanoseconds(operation.end_ms)));
  return span;
}

Profiler::~Profiler() {
  visit([this](const EventMarks& marks) { drop(marks); });
  for (const hipEvent_t event : events_) device_.hip().hipEventDestroy(event);
}

hipEvent_t Profiler::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      const hipEvent_t event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  const CurrentDevice current(device_.hip(), device_.facts().device);
  hipEvent_t event = nullptr;
  return device_.hip().hipEventCreateWithFlags(&event, hipEventDefault) == hipSuccess ? event
                                                                                      : nullptr;
}

// Between two looks at the host's clock; the closest of some.
Status Profiler::prepare() {
  const Hip& hip = device_.hip();
  HALYARD_ASSIGN_OR_RETURN(Stream* const stream,
                           Streams::instance().take(hip, device_.facts().device, 0));
  uint64_t closest = UINT64_MAX;
  Status status;
  constexpr int kAttempts = 8;
  for (int i = 0; i < kAttempts && status.ok(); ++i) {
    const hipEvent_t event = take_event();
    const uint64_t before = now_ns();
    status = check(hip, hip.hipEventRecord(event, stream->handle()), "Recording an event");
    if (status.ok()) {
      status = check(hip, hip.hipEventSynchronize(event), "Waiting for an event");
    }
    const uint64_t after = now_ns();
    const std::lock_guard lock(mutex_);
    if (status.ok() && after - before < closest) {
      closest = after - before;
      if (anchor_.event != nullptr) events_.push_back(anchor_.event);
      anchor_ = {event, before + (after - before) / 2};
    } else if (event != nullptr) {
      events_.push_back(event);
    }
  }
  Streams::instance().give(*stream);
  return status;
}

TimedOperation Profiler::begin_operation(ProfileNote note) {
  return {std::move(note), {take_event(), take_event(), now_ns(), {}}};
}

void Profiler::end_operation(TimedOperation& operation, Stream& stream) {
  operation.marks.point = {&stream, stream.number() + 1};
  add(std::move(operation.note), operation.marks);
}

void Profiler::drop(const EventMarks& marks) {
  const std::lock_guard lock(mutex_);
  if (marks.start != nullptr) events_.push_back(marks.start);
  if (marks.stop != nullptr) events_.push_back(marks.stop);
}

void Profiler::record(hipEvent_t event, Stream& stream) {
  if (event != nullptr) device_.hip().hipEventRecord(event, stream.handle());
}

Status Profiler::measure(const EventMarks& marks, MeasuredOperation* measured) {
  const Hip& hip = device_.hip();
  const PointState state = Progress::instance().wait_until(
      [&] { return marks.point.stream->settled_state_of(marks.point.number); },
      Deadline::infinite());
  if (state == PointState::kFailed) return marks.point.stream->fault();
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventSynchronize(marks.stop), "Waiting for an operation's event"));
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventElapsedTime(&measured->begin_ms, anchor_.event, marks.start),
            "Asking when an operation began"));
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventElapsedTime(&measured->end_ms, anchor_.event, marks.stop),
            "Asking when an operation ended"));
  measured->submitted_ns = marks.submitted_ns;
  return {};
}

Status Profiler::read_marks(std::vector<Event>* events) {
  std::vector<MeasuredOperation> measured;
  for (const Event& event : *events) {
    if (!event.has_span) HALYARD_RETURN_IF_ERROR(measure(event.marks, &measured.emplace_back()));
  }
  const uint64_t anchor = settle_anchor(anchor_.host_ns, measured, now_ns());
  auto next = measured.begin();
  for (Event& event : *events) {
    if (std::exchange(event.has_span, true)) continue;
    event.span = place_on_clock(anchor, *next++);
  }
  return {};
}

Status Profiler::read(std::vector<Event>* events) {
  const Status status = read_marks(events);
  for (const Event& event : *events) drop(event.marks);
  return status;
}

// What is held back is timed when it gets onto its stream; the rest is waited for as it is read.
void Profiler::wait_for_work() {
  Progress::instance().wait_until(
      [this](bool* on_device) {
        *on_device = false;
        return Progress::instance().holds(device_) ? PointState::kPending : PointState::kReached;
      },
      Deadline::infinite());
}

}  // namespace halyard::hip
