// Two GPUs without a link between them (unlinked.yaml): what each is told about the other, and that
// each has its own id and its own memory, and no more.
#include <cstring>
#include <string>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

constexpr int kUnlinkedCount = 1 << 16;
constexpr size_t kMiB = size_t{1} << 20;

class HipUnlinked : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    int devices = 0;
    HIP_OK(hipGetDeviceCount(&devices));
    ASSERT_EQ(devices, 2) << "Run this with unlinked.yaml.";
  }
};

TEST_F(HipUnlinked, NoneMayAccessTheOther) {
  for (int device = 0; device < 2; ++device) {
    int can_access = 1;
    HIP_OK(hipDeviceCanAccessPeer(&can_access, device, 1 - device));
    EXPECT_EQ(can_access, 0) << device;
    HIP_OK(hipSetDevice(device));
    EXPECT_NE(hipDeviceEnablePeerAccess(1 - device, 0), hipSuccess) << device;
    static_cast<void>(hipGetLastError());
  }
}

TEST_F(HipUnlinked, CopiesGoThroughTheHost) {
  std::vector<int> values(kUnlinkedCount);
  for (int i = 0; i < kUnlinkedCount; ++i) values[static_cast<size_t>(i)] = i * 3 + 1;
  const DeviceArray<int> source(values);
  HIP_OK(hipSetDevice(1));
  const DeviceArray<int> target(kUnlinkedCount);
  HIP_OK(hipMemcpyPeer(target.data(), 1, source.data(), 0, source.bytes()));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(target.read(), values);
}

TEST_F(HipUnlinked, EachHasMemoryOfItsOwnSize) {
  const size_t sizes[] = {256 * kMiB, 512 * kMiB};
  void* first = nullptr;
  for (int device = 0; device < 2; ++device) {
    HIP_OK(hipSetDevice(device));
    hipDeviceProp_t properties{};
    HIP_OK(hipGetDeviceProperties(&properties, device));
    EXPECT_EQ(properties.totalGlobalMem, sizes[device]);
    void* memory = nullptr;
    EXPECT_EQ(hipMalloc(&memory, sizes[device] + kMiB), hipErrorOutOfMemory) << device;
    static_cast<void>(hipGetLastError());
    // What the other one has taken is not this one's.
    HIP_OK(hipMalloc(&memory, sizes[device] / 4 * 3));
    if (device == 0) {
      first = memory;
    } else {
      HIP_OK(hipFree(memory));
    }
  }
  HIP_OK(hipFree(first));
}

TEST_F(HipUnlinked, EachHasTheIdThatTheProfileGivesIt) {
  const char* const ids[] = {"1122334455667788", "fedcba9876543210"};
  for (int device = 0; device < 2; ++device) {
    hipUUID uuid{};
    HIP_OK(hipDeviceGetUuid(&uuid, device));
    EXPECT_EQ(std::string(uuid.bytes, sizeof uuid.bytes), ids[device]);
  }
}

using HipUnlinkedDeathTest = HipUnlinked;

// HIP refuses to launch with a pointer that the GPU cannot use. One that is stored in memory it
// does not know of.
TEST_F(HipUnlinkedDeathTest, AKernelThatReachesForTheOthersMemoryFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const DeviceArray<int> memory(kUnlinkedCount);
        static_cast<void>(hipSetDevice(1));
        const DeviceArray<int*> pointers(std::vector<int*>{memory.data()});
        const DeviceArray<int> sum(1);
        static_cast<void>(launch("device_heap_sum", 1, 1, pointers.data(), 4, sum.data()));
        static_cast<void>(hipDeviceSynchronize());
      },
      "memory access fault in kernel device_heap_sum");
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
