// Images are not built: a HIP program learns that from its device, and from the call that wants
// one, and goes on.
#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

using HipImages = HipTest;

TEST_F(HipImages, AnArrayIsRefusedAndTheProgramGoesOn) {
  const hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  hipArray* array = nullptr;
  EXPECT_NE(hipMallocArray(&array, &format, 64, 64, 0), hipSuccess);
  EXPECT_NE(hipMallocArray(&array, &format, 64, 0, 0), hipSuccess);
  hipExtent extent{};
  extent.width = extent.height = extent.depth = 8;
  EXPECT_NE(hipMalloc3DArray(&array, &format, extent, 0), hipSuccess);

  const DeviceArray<int> values(std::vector<int>{1, 2, 3});
  HIP_OK(launch("add_to_all", 1, 64, values.data(), 3, 4));
  EXPECT_EQ(values.read(), (std::vector<int>{5, 6, 7}));
}

// It has nothing to do with images, but HIP refuses it to devices that report none.
TEST_F(HipImages, PitchedMemoryIsThereAllTheSame) {
  if (!has_pitched_memory()) GTEST_SKIP() << "HIP 5.7 has no pitched memory on gfx942.";
  void* memory = nullptr;
  size_t pitch = 0;
  HIP_OK(hipMallocPitch(&memory, &pitch, 100, 7));
  EXPECT_GE(pitch, 100u);
  HIP_OK(hipFree(memory));
}

TEST_F(HipImages, ATextureObjectIsRefused) {
  const DeviceArray<float> values(64);
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = values.data();
  resource.res.linear.desc = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  resource.res.linear.sizeInBytes = values.bytes();
  hipTextureDesc description{};
  hipTextureObject_t texture = nullptr;
  EXPECT_NE(hipCreateTextureObject(&texture, &resource, &description, nullptr), hipSuccess);
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
