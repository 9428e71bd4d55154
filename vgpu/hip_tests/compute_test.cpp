// What HIP kernels compute: LDS, cross-lane operations, atomics, waiting for each other, scratch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

using HipCompute = HipTest;

std::vector<int> counted(size_t count, int first = 0) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(HipCompute, Saxpy) {
  constexpr int kCount = 10000;  // the last work-group is not full
  std::vector<float> x(kCount);
  std::vector<float> y(kCount);
  for (int i = 0; i < kCount; ++i) {
    x[i] = static_cast<float>(i) * 0.5f;
    y[i] = static_cast<float>(-i);
  }
  const DeviceArray<float> device_x(x);
  const DeviceArray<float> device_y(y);
  HIP_OK(launch("saxpy", 40, 256, 3.0f, device_x.data(), device_y.data(), kCount));
  const std::vector<float> result = device_y.read();
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(result[i], 3.0f * x[i] + y[i]) << i;
}

// clock64() counts at the rate that the device reports: two readings are as far apart as the host's
// clock says, which is read before and after each.
TEST_F(HipCompute, TheClockRunsAtTheRateThatIsReported) {
  using Clock = std::chrono::steady_clock;
  int kilohertz = 0;
  HIP_OK(hipDeviceGetAttribute(&kilohertz, hipDeviceAttributeClockRate, 0));
  const DeviceArray<long long> ticks(1);
  struct Reading {
    Clock::time_point before, after;
    long long ticks = 0;
  };
  const auto read = [&](Reading& reading) {
    reading.before = Clock::now();
    HIP_OK(launch("read_clock", 1, 1, ticks.data()));
    HIP_OK(hipDeviceSynchronize());
    reading.after = Clock::now();
    reading.ticks = ticks.read()[0];
  };
  Reading first, second;
  read(first);
  read(first);  // the first launch loads the kernel, which takes long
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  read(second);
  const auto ticks_in = [&](Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count() * kilohertz;
  };
  const auto counted_ticks = static_cast<double>(second.ticks - first.ticks);
  EXPECT_GE(counted_ticks, ticks_in(second.before - first.after));
  EXPECT_LE(counted_ticks, ticks_in(second.after - first.before));
}

TEST_F(HipCompute, DynamicSharedMemory) {
  for (const unsigned block : {1u, 64u, 250u, 1024u}) {
    const DeviceArray<int> values(counted(block * 3));
    HIP_OK(launch_on(nullptr, "reverse_in_lds", 3, block, block * sizeof(int), values.data()));
    std::vector<int> expected = counted(block * 3);
    for (unsigned group = 0; group < 3; ++group) {
      std::reverse(expected.begin() + group * block, expected.begin() + (group + 1) * block);
    }
    EXPECT_EQ(values.read(), expected) << block;
  }
}

TEST_F(HipCompute, AllOfTheSharedMemory) {
  const DeviceArray<int> values(counted(64));
  HIP_OK(launch_on(nullptr, "reverse_in_lds", 1, 64, 64 * 1024, values.data()));
  HIP_OK(hipDeviceSynchronize());
  std::vector<int> expected = counted(64);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(values.read(), expected);
}

TEST_F(HipCompute, CooperativeGroupsReduce) {
  constexpr int kCount = 100000;
  const DeviceArray<int> values(counted(kCount, -1000));
  const DeviceArray<int> sum(1);
  HIP_OK(launch("sum_with_groups", 16, 512, values.data(), kCount, sum.data()));
  int64_t expected = 0;
  for (const int value : counted(kCount, -1000)) expected += value;
  EXPECT_EQ(sum.read()[0], static_cast<int>(expected));
}

TEST_F(HipCompute, WarpShufflesAndVotes) {
  const std::vector<int> in = counted(128);
  const DeviceArray<int> device_in(in);
  const DeviceArray<int> out(128 * 8);
  HIP_OK(launch("shuffle", 1, 128, device_in.data(), out.data()));
  const std::vector<int> result = out.read();
  for (int i = 0; i < 128; ++i) {
    const int wave = i / 64 * 64;
    const int lane = i % 64;
    const int* const row = &result[static_cast<size_t>(i) * 8];
    EXPECT_EQ(row[0], wave + lane * 7 % 64) << i;
    EXPECT_EQ(row[1], lane < 3 ? i : i - 3) << i;
    EXPECT_EQ(row[2], lane + 5 > 63 ? i : i + 5) << i;
    EXPECT_EQ(row[3], wave + (lane ^ 9)) << i;
    EXPECT_EQ(row[4], wave + lane / 16 * 16 + (lane + 1) % 16) << i;
    EXPECT_EQ(row[5], wave == 0 ? 1 : 0) << i;
    EXPECT_EQ(row[6], 1) << i;
    EXPECT_EQ(row[7], wave == 0 ? 22 : 21) << i;
  }
}

TEST_F(HipCompute, Atomics) {
  constexpr int kCount = 4096;
  const DeviceArray<int> ints(8);
  const DeviceArray<unsigned> unsigneds(std::vector<unsigned>{~0u, 0u, 0u, 50u});
  const DeviceArray<unsigned long long> longs(1);
  const DeviceArray<float> floats(1);
  HIP_OK(launch("atomics", 16, 256, ints.data(), unsigneds.data(), longs.data(), floats.data()));
  const std::vector<int> i = ints.read();
  EXPECT_EQ(i[0], kCount * (kCount - 1) / 2);
  EXPECT_EQ(i[1], -2 * kCount);
  EXPECT_EQ(i[2], -(kCount - 1));
  EXPECT_EQ(i[3], kCount - 1);
  EXPECT_EQ(i[4], 0);  // every bit is flipped an even number of times
  EXPECT_EQ(i[5], 3 * kCount);
  EXPECT_EQ(i[6], 123);
  const std::vector<unsigned> u = unsigneds.read();
  EXPECT_EQ(u[0], 0u);
  EXPECT_EQ(u[1], ~0u);
  EXPECT_EQ(u[2], kCount % 100u);
  EXPECT_EQ(u[3], (50u + 100u * 41 - kCount) % 100u);
  EXPECT_EQ(longs.read()[0], uint64_t{kCount} << 33);
  EXPECT_EQ(floats.read()[0], kCount * 0.5f);
}

TEST_F(HipCompute, SpinLocksBetweenWorkGroups) {
  const DeviceArray<int> lock(1);
  const DeviceArray<int> counter(1);
  HIP_OK(launch("count_under_lock", 64, 64, lock.data(), counter.data(), 20));
  EXPECT_EQ(counter.read()[0], 64 * 20);
}

TEST_F(HipCompute, AGridBarrierAmongResidentWorkGroups) {
  const DeviceArray<int> arrived(1);
  const DeviceArray<int> out(100 * 128);
  HIP_OK(launch("grid_barrier", 100, 128, arrived.data(), out.data()));
  for (const int seen : out.read()) ASSERT_EQ(seen, 100);
}

TEST_F(HipCompute, RecursionUsesScratch) {
  const DeviceArray<unsigned long long> out(96);
  HIP_OK(launch("recursion", 1, 96, out.data()));
  const auto result = out.read();
  for (unsigned long long i = 0; i < 96; ++i) EXPECT_EQ(result[i], i * (i + 1) / 2) << i;
}

TEST_F(HipCompute, StructsByValue) {
  struct Shape {
    float sides[3];
    double scale;
    char kind;
  };
  const DeviceArray<double> out(3);
  HIP_OK(launch("struct_argument", 1, 1, Shape{{1, 2, 3}, 0.125, 'x'}, out.data()));
  EXPECT_EQ(out.read(), (std::vector<double>{321, 0.125, 'x'}));
}

TEST_F(HipCompute, HalfPrecision) {
  // 0, 0.5, 1, -2 and the largest half.
  const std::vector<uint16_t> in = {0x0000, 0x3800, 0x3c00, 0xc000, 0x7bff};
  const DeviceArray<uint16_t> device_in(in);
  const DeviceArray<uint16_t> out(5);
  const DeviceArray<uint32_t> pairs(5);
  HIP_OK(launch("half_arithmetic", 1, 5, device_in.data(), out.data(), pairs.data()));
  // 0.25, 1.75, 3.25, -5.75, infinity.
  EXPECT_EQ(out.read(), (std::vector<uint16_t>{0x3400, 0x3f00, 0x4280, 0xc5c0, 0x7c00}));
  // (2x + 1, 4x - 1).
  EXPECT_EQ(pairs.read(),
            (std::vector<uint32_t>{0xbc003c00, 0x3c004000, 0x42004200, 0xc880c200, 0x7c007c00}));
}

TEST_F(HipCompute, DoublePrecisionMathLibrary) {
  std::vector<double> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 0.37;
  const DeviceArray<double> device_in(in);
  const DeviceArray<double> out(64 * 6);
  HIP_OK(launch("double_math", 1, 64, device_in.data(), out.data()));
  const std::vector<double> result = out.read();
  for (int i = 0; i < 64; ++i) {
    const double x = in[i];
    const double* const row = &result[static_cast<size_t>(i) * 6];
    EXPECT_EQ(row[0], std::sqrt(x));
    EXPECT_NEAR(row[1], std::sin(x), 1e-15);
    EXPECT_NEAR(row[2], std::exp(-x), 1e-15);
    EXPECT_NEAR(row[3], std::log(x + 1.0), 2e-15);
    EXPECT_EQ(row[4], std::fma(x, x, 1.0));
    EXPECT_NEAR(row[5], 1.0 / (x + 1.0), 1e-16);
  }
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
