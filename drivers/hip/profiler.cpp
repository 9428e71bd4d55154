#include "drivers/hip/profiler.h"

#include <algorithm>
#include <cmath>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "hal/error.h"

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
  for (TimedOperation& operation : operations_) drop(operation);
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
Status Profiler::set_anchor() {
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

Status Profiler::start(uint64_t kinds) {
  if (active()) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::begin_profile is called while a profile is being taken. Call "
                 "Device::end_profile first.");
  }
  HALYARD_RETURN_IF_ERROR(set_anchor());
  kinds_.store(kinds);
  return {};
}

TimedOperation Profiler::begin(ProfileNote note) {
  TimedOperation operation;
  operation.start = take_event();
  operation.stop = take_event();
  operation.note = std::move(note);
  operation.submitted_ns = now_ns();
  return operation;
}

void Profiler::end(TimedOperation& operation, Stream& stream) {
  operation.point = {&stream, stream.number() + 1};
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
}

void Profiler::drop(TimedOperation& operation) {
  const std::lock_guard lock(mutex_);
  if (operation.start != nullptr) events_.push_back(operation.start);
  if (operation.stop != nullptr) events_.push_back(operation.stop);
}

void Profiler::record(hipEvent_t event, Stream& stream) {
  if (event != nullptr) device_.hip().hipEventRecord(event, stream.handle());
}

void Profiler::add_host(const QueueCore& core, const OperationFacts& facts, uint64_t begin_ns,
                        uint64_t end_ns) {
  TimedOperation operation;
  operation.note = ProfileNote(facts, core.queue_id());
  operation.submitted_ns = begin_ns;
  operation.end_ns = end_ns;
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
}

Status Profiler::measure(const TimedOperation& operation, MeasuredOperation* measured) {
  const Hip& hip = device_.hip();
  const PointState state = Progress::instance().wait_until(
      [&](bool* on_device) {
        *on_device = true;
        return operation.point.stream->settled_state_of(operation.point.number);
      },
      Deadline::infinite());
  if (state == PointState::kFailed) return operation.point.stream->fault();
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventSynchronize(operation.stop), "Waiting for an operation's event"));
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventElapsedTime(&measured->begin_ms, anchor_.event, operation.start),
            "Asking when an operation began"));
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventElapsedTime(&measured->end_ms, anchor_.event, operation.stop),
            "Asking when an operation ended"));
  measured->submitted_ns = operation.submitted_ns;
  return {};
}

Status Profiler::report(const std::vector<TimedOperation>& operations, ProfileSink sink,
                        void* context) {
  std::vector<MeasuredOperation> measured;
  for (const TimedOperation& operation : operations) {
    if (operation.end_ns != 0) continue;
    HALYARD_RETURN_IF_ERROR(measure(operation, &measured.emplace_back()));
  }
  const uint64_t anchor = settle_anchor(anchor_.host_ns, measured, now_ns());
  auto next = measured.begin();
  for (const TimedOperation& operation : operations) {
    const TimeSpan span = operation.end_ns != 0 ? TimeSpan{operation.submitted_ns, operation.end_ns}
                                                : place_on_clock(anchor, *next++);
    sink(context, operation.note.event(span.begin_ns, span.end_ns));
  }
  return {};
}

Status Profiler::finish(ProfileSink sink, void* context) {
  if (!active()) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::end_profile is called while no profile is being taken. Call "
                 "Device::begin_profile first.");
  }
  // What is held back is timed when it gets onto its stream.
  Progress::instance().wait_until(
      [this](bool* on_device) {
        *on_device = false;
        return Progress::instance().holds(device_) ? PointState::kPending : PointState::kReached;
      },
      Deadline::infinite());
  kinds_.store(0);
  std::vector<TimedOperation> operations;
  {
    const std::lock_guard lock(mutex_);
    operations.swap(operations_);
  }
  const Status status = report(operations, sink, context);
  for (TimedOperation& operation : operations) drop(operation);
  return status;
}

}  // namespace halyard::hip
