// What device code asks of the host while it runs: printf, assert, malloc.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

using HipHostcall = HipTest;
using HipHostcallDeathTest = HipTest;

TEST_F(HipHostcall, PrintsFromEveryWorkItem) {
  const std::string text = "from the device";
  const DeviceArray<char> device_text(
      std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
  ::testing::internal::CaptureStdout();
  HIP_OK(launch("print_lines", 3, 64, static_cast<const char*>(device_text.data()), 150));
  HIP_OK(hipDeviceSynchronize());
  std::istringstream output(::testing::internal::GetCapturedStdout());
  std::vector<std::string> lines;
  for (std::string line; std::getline(output, line);) lines.push_back(line);
  std::vector<std::string> expected;
  for (int i = 0; i < 150; ++i) {
    char line[200];
    std::snprintf(line, sizeof line, "item %d of 150: %s, %.3f, %c, 123456789abcdef", i,
                  text.c_str(), i * 0.5, 'a' + i);
    expected.emplace_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines, expected);
}

TEST_F(HipHostcall, AnAssertionThatHoldsIsSilent) {
  const DeviceArray<int> values(std::vector<int>(64, 3));
  HIP_OK(launch("assert_below", 1, 64, static_cast<const int*>(values.data()), 4));
  HIP_OK(hipDeviceSynchronize());
}

TEST_F(HipHostcallDeathTest, AnAssertionThatFailsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        register_kernels();
        const DeviceArray<int> values(std::vector<int>(64, 3));
        static_cast<void>(launch("assert_below", 1, 64, static_cast<const int*>(values.data()), 3));
        static_cast<void>(hipDeviceSynchronize());
      },
      "assert_below.*assertion `values\\[threadIdx.x\\] < limit' failed");
}

TEST_F(HipHostcall, AllocatesFromTheDeviceHeap) {
  const DeviceArray<int*> blocks(64);
  const DeviceArray<int> sums(64);
  HIP_OK(launch("device_heap", 1, 64, blocks.data(), 10));
  const std::vector<int*> pointers = blocks.read();
  for (const int* pointer : pointers) ASSERT_NE(pointer, nullptr);
  HIP_OK(launch("device_heap_sum", 1, 64, blocks.data(), 10, sums.data()));
  const std::vector<int> result = sums.read();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(result[i], 45 * (i + 1));
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
