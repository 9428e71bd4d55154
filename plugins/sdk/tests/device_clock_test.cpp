#include "plugins/sdk/device_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace halyard {
namespace {

// A device that ticks `hz` times in a second and was at `device_start` when the system, which ticks
// in nanoseconds, was at `system_start`; the host's clock is 1000 ns behind the system's.
struct Clocks {
  double hz = 100e6;
  uint64_t device_start = 0;
  uint64_t system_start = 0;
  uint64_t now = 0;  // of the system
  int reads = 0;

  ClockSource source() {
    ClockSource source;
    source.system_hz = 1'000'000'000;
    source.system_now = [this](uint64_t* ticks) {
      *ticks = now;
      return true;
    };
    source.to_system = [this](uint64_t device, uint64_t* system) {
      const auto elapsed = static_cast<double>(static_cast<int64_t>(device - device_start));
      *system = system_start + static_cast<uint64_t>(static_cast<int64_t>(elapsed * (1e9 / hz)));
      return true;
    };
    source.host_now_ns = [this] {
      now += 50;
      ++reads;
      return now - 1000;
    };
    return source;
  }
};

TEST(ReadClocks, FindsTheDevicesTimeForTheHosts) {
  for (const double hz : {25e6, 27e6, 99.99e6, 100e6, 1e9}) {
    for (const uint64_t start : {uint64_t{0}, uint64_t{12345}, uint64_t{987654321012}}) {
      Clocks clocks = {.hz = hz, .device_start = start, .system_start = 5'000'000'000};
      clocks.now = clocks.system_start + 3'600'000'000'000;
      ClockReading reading;
      ASSERT_TRUE(read_clocks(clocks.source(), &reading).ok()) << hz;
      EXPECT_NEAR(static_cast<double>(reading.device_hz), hz, hz * 1e-6);
      // The system was read 1000 ns above the host's, between two reads that are 50 ns apart.
      EXPECT_EQ(reading.uncertainty_ns, 50u);
      const double system = static_cast<double>(reading.host_ns) + 1000;
      const double elapsed_ns = system - 5e9;
      EXPECT_NEAR(static_cast<double>(reading.device_ticks - start), elapsed_ns * hz / 1e9,
                  2 + 100 * hz / 1e9)
          << hz << " " << start;
    }
  }
}

// As ROCR is that has not been asked for anything yet.
TEST(ReadClocks, ARuntimeThatHasNotMeasuredItsClocksYetIsAskedAboutTheFutureFirst) {
  Clocks clocks = {.hz = 100e6, .device_start = 77'000'000'000, .system_start = 5'000'000'000};
  clocks.now = clocks.system_start + 1'000'000'000;
  ClockSource source = clocks.source();
  bool measured = false;
  bool spoilt = false;
  source.to_system = [&, convert = source.to_system](uint64_t device, uint64_t* system) {
    measured |= device > 100 * clocks.device_start;
    spoilt |= !measured;
    return convert(device, system);
  };
  ClockReading reading;
  ASSERT_TRUE(read_clocks(source, &reading).ok());
  EXPECT_TRUE(measured);
  EXPECT_FALSE(spoilt);
}

TEST(ReadClocks, ATimeBeforeTheDevicesStartIsFoundToo) {
  Clocks clocks = {.hz = 100e6, .device_start = uint64_t{1} << 40, .system_start = 1 << 30};
  clocks.now = 1000;
  ClockReading reading;
  ASSERT_TRUE(read_clocks(clocks.source(), &reading).ok());
  EXPECT_LT(reading.device_ticks, clocks.device_start);
}

TEST(ReadClocks, ARuntimeThatDoesNotTellIsAnError) {
  Clocks clocks;
  ClockReading reading;
  ClockSource source = clocks.source();
  source.system_hz = 0;
  EXPECT_EQ(read_clocks(source, &reading).code(), StatusCode::kInternal);
  source = clocks.source();
  source.system_now = [](uint64_t*) { return false; };
  EXPECT_EQ(read_clocks(source, &reading).code(), StatusCode::kInternal);
  source = clocks.source();
  source.to_system = [](uint64_t, uint64_t*) { return false; };
  EXPECT_EQ(read_clocks(source, &reading).code(), StatusCode::kInternal);
  // A clock that stands still.
  source.to_system = [](uint64_t, uint64_t* system) {
    *system = 5;
    return true;
  };
  EXPECT_EQ(read_clocks(source, &reading).code(), StatusCode::kInternal);
}

// The host is 1000 ns behind the system, and reads are 50 ns apart.
TEST(SystemClock, TellsTheHostsTimeOfTheSystems) {
  Clocks clocks = {.now = 5'000'000'000};
  const SystemClock clock(clocks.source());
  EXPECT_NEAR(static_cast<double>(clock.to_host_ns(6'000'000'000)), 5'999'999'000, 50);
  EXPECT_NEAR(static_cast<double>(clock.to_host_ns(4'000'000'000)), 3'999'999'000, 50);
}

// A thread may lose its processor for milliseconds between the two clocks.
TEST(SystemClock, IsNotMisledByAReadingThatTookLong) {
  for (const int interrupted : {1, 2, 3, 7}) {
    Clocks clocks = {.now = 5'000'000'000};
    ClockSource source = clocks.source();
    int readings = 0;
    source.host_now_ns = [&, read = source.host_now_ns] {
      if (++readings == interrupted) clocks.now += 4'000'000;
      return read();
    };
    const SystemClock clock(source);
    EXPECT_NEAR(static_cast<double>(clock.to_host_ns(6'000'000'000)), 5'999'999'000, 50)
        << interrupted;
  }
}

TEST(SystemClock, CountsTicksOfAnyLength) {
  Clocks clocks = {.now = 5'000'000'000};
  ClockSource source = clocks.source();
  source.system_hz = 100'000'000;
  const SystemClock clock(source);
  // The system was read between two reads of the host.
  const uint64_t read = clock.to_host_ns(5'000'000'050);
  EXPECT_NEAR(static_cast<double>(read), 4'999'999'075, 25);
  EXPECT_EQ(clock.to_host_ns(5'000'000'050 + 100) - read, 1000u);
}

}  // namespace
}  // namespace halyard
