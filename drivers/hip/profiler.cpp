#include "drivers/hip/profiler.h"

#include <algorithm>
#include <cmath>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "hal/error.h"

namespace halyard::hip {

ProfileEvent place_on_clock(uint64_t anchor_ns, float begin_ms, float end_ms, uint64_t submitted_ns,
                            uint64_t now_ns) {
  const auto at = [&](float ms) {
    const auto offset = static_cast<int64_t>(std::llround(static_cast<double>(ms) * 1e6));
    return static_cast<uint64_t>(static_cast<int64_t>(anchor_ns) + offset);
  };
  ProfileEvent event;
  const uint64_t begin = at(begin_ms);
  const uint64_t duration = std::max(at(end_ms), begin) - begin;
  event.begin_ns = std::clamp(begin, submitted_ns, std::max(submitted_ns, now_ns));
  event.end_ns = std::min(event.begin_ns + duration, std::max(event.begin_ns, now_ns));
  return event;
}

Profiler::~Profiler() {
  for (const TimedLaunch& launch : launches_) {
    device_.hip().hipEventDestroy(launch.start);
    device_.hip().hipEventDestroy(launch.stop);
  }
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

Status Profiler::start() {
  if (active_.load()) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::begin_profile is called while a profile is being taken. Call "
                 "Device::end_profile first.");
  }
  HALYARD_RETURN_IF_ERROR(set_anchor());
  active_.store(true);
  return {};
}

TimedLaunch Profiler::begin(StringView name) {
  TimedLaunch launch;
  launch.start = take_event();
  launch.stop = take_event();
  launch.name = name.view();
  launch.submitted_ns = now_ns();
  return launch;
}

void Profiler::end(TimedLaunch& launch, Stream& stream) {
  launch.point = {&stream, stream.number() + 1};
  const std::lock_guard lock(mutex_);
  launches_.push_back(std::move(launch));
}

void Profiler::drop(TimedLaunch& launch) {
  const std::lock_guard lock(mutex_);
  if (launch.start != nullptr) events_.push_back(launch.start);
  if (launch.stop != nullptr) events_.push_back(launch.stop);
}

Status Profiler::report(TimedLaunch& launch, ProfileSink sink, void* context) {
  const Hip& hip = device_.hip();
  const PointState state = Progress::instance().wait_until(
      [&](bool* on_device) {
        *on_device = true;
        return launch.point.stream->settled_state_of(launch.point.number);
      },
      Deadline::infinite());
  if (state == PointState::kFailed) return launch.point.stream->fault();
  HALYARD_RETURN_IF_ERROR(
      check(hip, hip.hipEventSynchronize(launch.stop), "Waiting for a launch's event"));
  float begin_ms = 0;
  float end_ms = 0;
  HALYARD_RETURN_IF_ERROR(check(hip,
                                hip.hipEventElapsedTime(&begin_ms, anchor_.event, launch.start),
                                "Asking when a launch began"));
  HALYARD_RETURN_IF_ERROR(check(hip, hip.hipEventElapsedTime(&end_ms, anchor_.event, launch.stop),
                                "Asking when a launch ended"));
  ProfileEvent event =
      place_on_clock(anchor_.host_ns, begin_ms, end_ms, launch.submitted_ns, now_ns());
  event.name = launch.name;
  sink(context, event);
  return {};
}

Status Profiler::finish(ProfileSink sink, void* context) {
  if (!active_.exchange(false)) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::end_profile is called while no profile is being taken. Call "
                 "Device::begin_profile first.");
  }
  std::vector<TimedLaunch> launches;
  {
    const std::lock_guard lock(mutex_);
    launches.swap(launches_);
  }
  Status status;
  for (TimedLaunch& launch : launches) {
    if (status.ok()) status = report(launch, sink, context);
    drop(launch);
  }
  return status;
}

}  // namespace halyard::hip
