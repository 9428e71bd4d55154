// Stores to a GPU's memory through the PCI window, under the check of coherence: what HIP stores is
// not the program's mistake, what the program stores is.
#include <numeric>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

constexpr int kCount = 256;

class Window : public HipTest {
 protected:
  Window() { std::iota(values.begin(), values.end(), 1.0F); }

  // A kernel reads what was stored.
  void use() {
    DeviceArray<float> doubled(kCount);
    HIP_OK(launch("saxpy", dim3(1), dim3(kCount), 2.0F, data.data(), doubled.data(), kCount));
    HIP_OK(hipDeviceSynchronize());
    const std::vector<float> found = doubled.read();
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(found[i], 2 * values[i]) << i;
  }

  std::vector<float> values = std::vector<float>(kCount);
  DeviceArray<float> data{kCount};
};

class HipWindow : public Window {};

TEST_F(HipWindow, SmallCopiesAreTheRuntimes) {
  for (int times = 0; times < 3; ++times) {
    for (float& value : values) value += 1;
    HIP_OK(hipMemcpy(data.data(), values.data(), kCount * sizeof(float), hipMemcpyHostToDevice));
    use();
  }
}

TEST_F(HipWindow, ASmallCopyOverAKernelsResult) {
  HIP_OK(hipMemset(data.data(), 1, kCount * sizeof(float)));
  HIP_OK(hipMemcpy(data.data(), values.data(), kCount * sizeof(float), hipMemcpyHostToDevice));
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
  for (int i = 0; i < kCount; ++i) data.data()[i] = values[i];
  use();
}

TEST_F(HipWindowUnflushed, SoIsOneBehindASmallCopy) {
  HIP_OK(hipMemcpy(data.data(), values.data(), kCount * sizeof(float), hipMemcpyHostToDevice));
  values[kCount - 1] = -1;
  data.data()[kCount - 1] = -1;
  use();
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
