// Several GPUs in one machine: copies between them, and kernels that reach a peer's memory.
#include <numeric>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

constexpr int kPeerCount = 1 << 18;

class HipPeers : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    HIP_OK(hipGetDeviceCount(&devices_));
    ASSERT_GE(devices_, 2) << "Run this with a profile of several GPUs.";
  }
  static std::vector<int> values_for(int from, int to) {
    std::vector<int> values(kPeerCount);
    std::iota(values.begin(), values.end(), 1000 * from + to);
    return values;
  }

  int devices_ = 0;
};

TEST_F(HipPeers, CopiesBetweenEveryTwoGpus) {
  for (int from = 0; from < devices_; ++from) {
    for (int to = 0; to < devices_; ++to) {
      if (from == to) continue;
      const std::vector<int> values = values_for(from, to);
      HIP_OK(hipSetDevice(from));
      const DeviceArray<int> source(values);
      HIP_OK(hipSetDevice(to));
      const DeviceArray<int> target(kPeerCount);
      HIP_OK(hipMemcpyPeer(target.data(), to, source.data(), from, source.bytes()));
      HIP_OK(hipDeviceSynchronize());
      ASSERT_EQ(target.read(), values) << from << " to " << to;
    }
  }
}

TEST_F(HipPeers, KernelsReachAPeersMemory) {
  for (int from = 0; from < devices_; ++from) {
    for (int to = 0; to < devices_; ++to) {
      if (from == to) continue;
      int can_access = 0;
      HIP_OK(hipDeviceCanAccessPeer(&can_access, to, from));
      ASSERT_EQ(can_access, 1);
      HIP_OK(hipSetDevice(from));
      const DeviceArray<int> memory(values_for(from, to));
      HIP_OK(hipSetDevice(to));
      const hipError_t enabled = hipDeviceEnablePeerAccess(from, 0);
      ASSERT_TRUE(enabled == hipSuccess || enabled == hipErrorPeerAccessAlreadyEnabled);
      HIP_OK(launch("add_to_all", 32, 256, memory.data(), kPeerCount, 7));
      HIP_OK(hipDeviceSynchronize());
      std::vector<int> expected = values_for(from, to);
      for (int& value : expected) value += 7;
      HIP_OK(hipSetDevice(from));
      ASSERT_EQ(memory.read(), expected) << to << " in the memory of " << from;
    }
  }
}

TEST_F(HipPeers, GpusAreDifferentDevices) {
  std::vector<std::string> places;
  for (int device = 0; device < devices_; ++device) {
    char place[64] = "";
    HIP_OK(hipDeviceGetPCIBusId(place, sizeof place, device));
    for (const std::string& other : places) EXPECT_NE(other, place);
    places.emplace_back(place);
  }
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
