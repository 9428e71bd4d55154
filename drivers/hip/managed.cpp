#include "drivers/hip/managed.h"

#include <mutex>

#include "drivers/hip/buffer.h"
#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/stream.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

hipMemoryAdvise hip_advice(MemoryAdvice advice) {
  switch (advice) {
    case MemoryAdvice::kReadMostly:
      return hipMemAdviseSetReadMostly;
    case MemoryAdvice::kNotReadMostly:
      return hipMemAdviseUnsetReadMostly;
    case MemoryAdvice::kPreferDevice:
    case MemoryAdvice::kPreferHost:
      return hipMemAdviseSetPreferredLocation;
    case MemoryAdvice::kPreferNothing:
      return hipMemAdviseUnsetPreferredLocation;
    case MemoryAdvice::kAccessedByDevice:
      return hipMemAdviseSetAccessedBy;
    case MemoryAdvice::kNotAccessedByDevice:
      break;
  }
  return hipMemAdviseUnsetAccessedBy;
}

void* start_of(const BufferRange& range) {
  return impl(*range.buffer).at(range.offset);
}

}  // namespace

// On a stream of its own: HIP 5.2.3 waits in the call for the work of the stream that it is given.
Status prefetch(DeviceImpl& device, const BufferRange& range, PrefetchTarget to) {
  const Hip& hip = device.hip();
  const int number = device.facts().device;
  const CurrentDevice current(hip, number);
  HALYARD_ASSIGN_OR_RETURN(Stream* const stream, Streams::instance().take(hip, number, 0));
  const auto move = [&]() -> Status {
    uint64_t end = 0;
    {
      const std::lock_guard lock(stream->order());
      HALYARD_RETURN_IF_ERROR(
          check(hip,
                hip.hipMemPrefetchAsync(start_of(range), range.length,
                                        to == PrefetchTarget::kDevice ? number : hipCpuDeviceId,
                                        stream->handle()),
                fmt::format("Prefetching {} bytes of managed memory", range.length)));
      stream->count();
      HALYARD_RETURN_IF_ERROR(stream->mark());
      end = stream->number();
    }
    const PointState state = Progress::instance().wait_until([&] { return stream->state_of(end); },
                                                             Deadline::infinite());
    return state == PointState::kReached ? Status() : stream->fault();
  };
  const Status status = move();
  Streams::instance().give(*stream);
  return status;
}

Status advise(DeviceImpl& device, const BufferRange& range, MemoryAdvice advice) {
  const Hip& hip = device.hip();
  const int number = advice == MemoryAdvice::kPreferHost ? hipCpuDeviceId : device.facts().device;
  return check(hip, hip.hipMemAdvise(start_of(range), range.length, hip_advice(advice), number),
               fmt::format("Advising \"{}\" for {} bytes of managed memory", to_string(advice),
                           range.length));
}

}  // namespace halyard::hip
