#include "plugins/sdk/device_clock.h"

#include <cmath>

#include "hal/error.h"

namespace halyard {

namespace {

Status not_told(const char* what) {
  return error(StatusCode::kInternal,
               "Device::read_clocks fails: the vendor's runtime does not tell {}.", what);
}

// The system's clock, and the host's at the middle of the time that reading it took.
struct HostAndSystem {
  uint64_t system_ticks = 0;
  uint64_t host_ns = 0;
  uint64_t uncertainty_ns = UINT64_MAX;
};

// The closest of some readings: a thread may lose its processor during one. False if the runtime
// does not tell its clock.
bool read_host_and_system(const ClockSource& source, HostAndSystem* closest) {
  constexpr int kReadings = 8;
  for (int i = 0; i < kReadings; ++i) {
    uint64_t ticks = 0;
    const uint64_t before = source.host_now_ns();
    if (!source.system_now(&ticks)) return false;
    const uint64_t after = source.host_now_ns();
    if (after - before >= closest->uncertainty_ns) continue;
    *closest = {ticks, before + (after - before) / 2, after - before};
  }
  return true;
}

double difference(uint64_t to, uint64_t from) {
  return static_cast<double>(static_cast<int64_t>(to - from));
}

// The device's ticks that are converted to `system`, or next to it, and how many of the system's
// ticks one of them is.
Status find_device_ticks(const ClockSource& source, uint64_t system, uint64_t* device,
                         double* ratio) {
  // Far enough apart for the rounding of conversions not to show in the ratio.
  constexpr uint64_t kFar = uint64_t{1} << 20;
  // ROCR measures its clocks' ratio when it is first asked about a time to come. Asked about one
  // before its own start without that, it keeps what is no number as the ratio of all such times
  // (GpuAgent::TranslateTime, 5.2.3).
  constexpr uint64_t kFuture = uint64_t{1} << 56;
  // Conversions are linear but for rounding, and for a runtime that measures its clocks' ratio anew
  // meanwhile.
  constexpr int kSteps = 16;
  uint64_t ticks = 0;
  uint64_t here = 0;
  uint64_t there = 0;
  if (!source.to_system(kFuture, &there)) return not_told("what the device's time is in its own");
  for (int i = 0; i < kSteps; ++i) {
    if (!source.to_system(ticks, &here) || !source.to_system(ticks + kFar, &there)) {
      return not_told("what the device's time is in its own");
    }
    *ratio = difference(there, here) / static_cast<double>(kFar);
    if (!(*ratio > 0)) break;
    const double left = difference(system, here);
    *device = ticks;
    if (std::fabs(left) <= std::fmax(1.0, *ratio)) return {};
    const auto step = static_cast<int64_t>(std::llround(left / *ratio));
    ticks += static_cast<uint64_t>(step != 0 ? step : (left > 0 ? 1 : -1));
  }
  return not_told("a time of the device's for one of its own");
}

}  // namespace

Status read_clocks(const ClockSource& source, ClockReading* reading) {
  if (source.system_hz == 0) return not_told("how fast its clock is");
  HostAndSystem now;
  if (!read_host_and_system(source, &now)) return not_told("its time");
  reading->host_ns = now.host_ns;
  reading->uncertainty_ns = now.uncertainty_ns;
  double ratio = 0;
  HALYARD_RETURN_IF_ERROR(
      find_device_ticks(source, now.system_ticks, &reading->device_ticks, &ratio));
  reading->device_hz =
      static_cast<uint64_t>(std::llround(static_cast<double>(source.system_hz) / ratio));
  return {};
}

SystemClock::SystemClock(const ClockSource& source) {
  HostAndSystem now;
  read_host_and_system(source, &now);
  if (source.system_hz != 0) ns_per_tick_ = 1e9 / static_cast<double>(source.system_hz);
  offset_ns_ = static_cast<int64_t>(now.host_ns) - in_ns(now.system_ticks);
}

}  // namespace halyard
