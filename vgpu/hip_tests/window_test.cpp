// Stores to a GPU's memory through the PCI window, under the check of coherence: what HIP stores is
// not the program's mistake, what the program stores is.
#include <numeric>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

constexpr int kWindowCount = 256;

class Window : public HipTest {
 protected:
  Window() { std::iota(values.begin(), values.end(), 1.0F); }

  // A kernel reads what was stored.
  void use() {
    DeviceArray<float> doubled(kWindowCount);
    HIP_OK(launch("saxpy", dim3(1), dim3(kWindowCount), 2.0F, data.data(), doubled.data(),
                  kWindowCount));
    HIP_OK(hipDeviceSynchronize());
    const std::vector<float> found = doubled.read();
    for (int i = 0; i < kWindowCount; ++i) ASSERT_EQ(found[i], 2 * values[i]) << i;
  }

  std::vector<float> values = std::vector<float>(kWindowCount);
  DeviceArray<float> data{kWindowCount};
};

class HipWindow : public Window {};

TEST_F(HipWindow, SmallCopiesAreTheRuntimes) {
  for (int times = 0; times < 3; ++times) {
    for (float& value : values) value += 1;
    HIP_OK(
        hipMemcpy(data.data(), values.data(), kWindowCount * sizeof(float), hipMemcpyHostToDevice));
    use();
  }
}

TEST_F(HipWindow, ASmallCopyOverAKernelsResult) {
  HIP_OK(hipMemset(data.data(), 1, kWindowCount * sizeof(float)));
  HIP_OK(
      hipMemcpy(data.data(), values.data(), kWindowCount * sizeof(float), hipMemcpyHostToDevice));
  use();
}

class HipWindowUnflushed : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    hipDeviceProp_t properties{};
    HIP_OK(hipGetDeviceProperties(&properties, 0));
    if (properties.isLargeBar == 0) GTEST_SKIP() << "The host cannot store to this GPU's memory.";
  }
};

TEST_F(HipWindowUnflushed, AStoreIsTheProgramsOwn) {
  for (int i = 0; i < kWindowCount; ++i) data.data()[i] = values[i];
  use();
}

TEST_F(HipWindowUnflushed, SoIsOneBehindASmallCopy) {
  HIP_OK(
      hipMemcpy(data.data(), values.data(), kWindowCount * sizeof(float), hipMemcpyHostToDevice));
  values[kWindowCount - 1] = -1;
  data.data()[kWindowCount - 1] = -1;
  use();
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
