// The device's clock and the host's, read together.
#include <ctime>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

uint64_t now_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

class Clock : public DeviceTest {
 protected:
  // What the device's clock says in a kernel, before and behind some work.
  std::vector<uint64_t> read_in_a_kernel() {
    const Ref<Buffer> out = allocate(16);
    require(run(function("clock", "read_clock"), {1, 1, 1}, {1, 1, 1},
                {out, Argument::of(uint32_t{200})}));
    return download<uint64_t>(out);
  }
  // The host's time of `ticks`, by a reading.
  static double host_ns_of(uint64_t ticks, const ClockReading& reading) {
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - reading.device_ticks));
    return static_cast<double>(reading.host_ns) +
           since * 1e9 / static_cast<double>(reading.device_hz);
  }
};

TEST_F(Clock, TheHostsPartIsItsClock) {
  const uint64_t before = now_ns();
  const ClockReading reading = take(device().read_clocks());
  const uint64_t after = now_ns();
  EXPECT_EQ(reading.struct_size, sizeof(ClockReading));
  EXPECT_GE(reading.host_ns, before);
  EXPECT_LE(reading.host_ns, after);
  EXPECT_LE(reading.uncertainty_ns, after - before);
  EXPECT_GT(reading.device_hz, 0u);
}

TEST_F(Clock, BothGoOn) {
  const ClockReading first = take(device().read_clocks());
  timespec pause = {.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&pause, nullptr);
  const ClockReading second = take(device().read_clocks());
  EXPECT_GT(second.device_ticks, first.device_ticks);
  EXPECT_GT(second.host_ns, first.host_ns);
}

// A kernel that runs between two readings reads a time between theirs.
TEST_F(Clock, TheDevicesPartIsWhatKernelsRead) {
  constexpr double kSlack = 2e6;  // ns; two clocks are brought together
  const ClockReading before = take(device().read_clocks());
  const std::vector<uint64_t> read = read_in_a_kernel();
  const ClockReading after = take(device().read_clocks());
  EXPECT_LE(read[0], read[1]);
  for (const ClockReading& reading : {before, after}) {
    for (const uint64_t ticks : read) {
      EXPECT_GT(host_ns_of(ticks, reading) + kSlack, static_cast<double>(before.host_ns));
      EXPECT_LT(host_ns_of(ticks, reading) - kSlack, static_cast<double>(after.host_ns));
    }
  }
}

}  // namespace
}  // namespace halyard::cts
