// Managed memory, on a GPU with SVM: one pointer for host and device, prefetches and advice. And
// with HSA_XNACK=1 the program's own memory, which no function of HIP has allocated.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

constexpr int kCount = 100000;
constexpr size_t kBytes = kCount * sizeof(int);

class HipManaged : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    void* memory = nullptr;
    HIP_OK(hipMallocManaged(&memory, kBytes, hipMemAttachGlobal));
    values_ = static_cast<int*>(memory);
    std::iota(values_, values_ + kCount, 0);
  }
  void TearDown() override { HIP_OK(hipFree(values_)); }

  void add(int amount, hipStream_t stream = nullptr) {
    HIP_OK(launch_on(stream, "add_to_all", 16, 256, 0, values_, kCount, amount));
  }
  void expect_added(int amount) {
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(values_[i], i + amount) << i;
  }
  int attribute(hipMemRangeAttribute which) {
    int value = -99;
    EXPECT_EQ(hipMemRangeGetAttribute(&value, sizeof value, which, values_, kBytes), hipSuccess);
    return value;
  }
  void advise(hipMemoryAdvise advice, int device = 0) {
    HIP_OK(hipMemAdvise(values_, kBytes, advice, device));
  }

  int* values_ = nullptr;
};

TEST_F(HipManaged, HostAndGpuTakeTurns) {
  for (int round = 1; round <= 3; ++round) {
    add(5);
    HIP_OK(hipDeviceSynchronize());
    expect_added(10 * round - 5);
    for (int i = 0; i < kCount; ++i) values_[i] += 5;
  }
}

TEST_F(HipManaged, PrefetchesMoveNothingThatCanBeSeen) {
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  EXPECT_EQ(attribute(hipMemRangeAttributeLastPrefetchLocation), hipInvalidDeviceId);
  HIP_OK(hipMemPrefetchAsync(values_, kBytes, 0, stream));
  add(1, stream);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(attribute(hipMemRangeAttributeLastPrefetchLocation), 0);
  HIP_OK(hipMemPrefetchAsync(values_, kBytes, hipCpuDeviceId, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(attribute(hipMemRangeAttributeLastPrefetchLocation), hipCpuDeviceId);
  expect_added(1);
  // A part of it.
  HIP_OK(hipMemPrefetchAsync(values_ + 5000, 4096, 0, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(attribute(hipMemRangeAttributeLastPrefetchLocation), hipInvalidDeviceId);
  HIP_OK(hipStreamDestroy(stream));
}

TEST_F(HipManaged, AdviceIsKeptUntilItIsTakenBack) {
  EXPECT_EQ(attribute(hipMemRangeAttributeReadMostly), 0);
  advise(hipMemAdviseSetReadMostly);
  EXPECT_EQ(attribute(hipMemRangeAttributeReadMostly), 1);
  advise(hipMemAdviseUnsetReadMostly);
  EXPECT_EQ(attribute(hipMemRangeAttributeReadMostly), 0);

  EXPECT_EQ(attribute(hipMemRangeAttributePreferredLocation), hipInvalidDeviceId);
  advise(hipMemAdviseSetPreferredLocation, 0);
  EXPECT_EQ(attribute(hipMemRangeAttributePreferredLocation), 0);
  advise(hipMemAdviseSetPreferredLocation, hipCpuDeviceId);
  EXPECT_EQ(attribute(hipMemRangeAttributePreferredLocation), hipCpuDeviceId);
  advise(hipMemAdviseUnsetPreferredLocation, 0);
  EXPECT_EQ(attribute(hipMemRangeAttributePreferredLocation), hipInvalidDeviceId);

  EXPECT_EQ(attribute(hipMemRangeAttributeAccessedBy), hipInvalidDeviceId);
  advise(hipMemAdviseSetAccessedBy, 0);
  EXPECT_EQ(attribute(hipMemRangeAttributeAccessedBy), 0);
  advise(hipMemAdviseUnsetAccessedBy, 0);
  EXPECT_EQ(attribute(hipMemRangeAttributeAccessedBy), hipInvalidDeviceId);
  add(3);
  HIP_OK(hipDeviceSynchronize());
  expect_added(3);
}

TEST_F(HipManaged, MemoryIsFineGrainedUnlessItIsAdvisedOtherwise) {
  EXPECT_EQ(attribute(hipMemRangeAttributeCoherencyMode), hipMemRangeCoherencyModeFineGrain);
  advise(hipMemAdviseSetCoarseGrain);
  EXPECT_EQ(attribute(hipMemRangeAttributeCoherencyMode), hipMemRangeCoherencyModeCoarseGrain);
  add(7);
  HIP_OK(hipDeviceSynchronize());
  expect_added(7);
  HIP_OK(hipMemAdvise(values_, 4096, hipMemAdviseUnsetCoarseGrain, 0));
  EXPECT_EQ(attribute(hipMemRangeAttributeCoherencyMode), hipMemRangeCoherencyModeIndeterminate);
  add(7);
  HIP_OK(hipDeviceSynchronize());
  expect_added(14);
}

// Whoever has the addresses next starts anew.
TEST_F(HipManaged, FreedMemoryLeavesNoAdvice) {
  void* memory = nullptr;
  HIP_OK(hipMallocManaged(&memory, kBytes, hipMemAttachGlobal));
  HIP_OK(hipMemAdvise(memory, kBytes, hipMemAdviseSetPreferredLocation, 0));
  HIP_OK(hipFree(memory));
  void* const again = mmap(memory, kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(again, memory) << "The addresses are in use.";
  int location = -99;
  HIP_OK(hipMemRangeGetAttribute(&location, sizeof location, hipMemRangeAttributePreferredLocation,
                                 memory, kBytes));
  EXPECT_EQ(location, hipInvalidDeviceId);
  munmap(again, kBytes);
}

TEST_F(HipManaged, MistakesAreErrors) {
  EXPECT_EQ(hipMemPrefetchAsync(values_, kBytes + 4096, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPrefetchAsync(values_, kBytes, 99, nullptr), hipErrorInvalidDevice);
  EXPECT_NE(hipMemAdvise(values_, kBytes, hipMemAdviseSetPreferredLocation, 99), hipSuccess);
  // The driver places device memory itself.
  const DeviceArray<int> device(64);
  EXPECT_EQ(hipMemAdvise(device.data(), device.bytes(), hipMemAdviseSetPreferredLocation, 0),
            hipErrorInvalidValue);
  static_cast<void>(hipGetLastError());
}

TEST_F(HipManaged, CopiesTakeItForDeviceMemory) {
  const DeviceArray<int> device(kCount);
  HIP_OK(hipMemcpy(device.data(), values_, kBytes, hipMemcpyDefault));
  HIP_OK(hipMemset(values_, 0, kBytes));
  HIP_OK(hipMemcpy(values_, device.data(), kBytes, hipMemcpyDeviceToDevice));
  expect_added(0);
}

// Run with HSA_XNACK=1.
class HipXnack : public HipTest {
 protected:
  static void add(int* values, int count, int amount) {
    HIP_OK(launch("add_to_all", 16, 256, values, count, amount));
    HIP_OK(hipDeviceSynchronize());
  }
};

TEST_F(HipXnack, TheDeviceSaysSo) {
  hipDeviceProp_t properties{};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  EXPECT_NE(std::string(properties.gcnArchName).find(":xnack+"), std::string::npos)
      << properties.gcnArchName;
  EXPECT_EQ(properties.pageableMemoryAccess, 1);
}

TEST_F(HipXnack, KernelsUseTheProgramsMemory) {
  static int in_data[300];
  int on_stack[300] = {};
  std::vector<int> on_heap(300);
  const size_t large = size_t{5} << 20;
  const std::unique_ptr<int[]> in_own_mapping(new int[large]());
  for (int round = 1; round <= 2; ++round) {
    add(in_data, 300, 1);
    add(on_stack, 300, 2);
    add(on_heap.data(), 300, 3);
    add(in_own_mapping.get(), static_cast<int>(large), 4);
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(in_data[i], round);
      ASSERT_EQ(on_stack[i], 2 * round);
      ASSERT_EQ(on_heap[static_cast<size_t>(i)], 3 * round);
    }
    for (size_t i = 0; i < large; ++i) ASSERT_EQ(in_own_mapping[i], 4 * round);
  }
}

TEST_F(HipXnack, AdviceIsForAnyMemory) {
  if (is_hip_57()) GTEST_SKIP() << "HIP 5.7 refuses advice for memory that it has not allocated.";
  std::vector<int> values(kCount, 1);
  HIP_OK(hipMemPrefetchAsync(values.data(), kBytes, 0, nullptr));
  add(values.data(), kCount, 1);
  EXPECT_EQ(values, std::vector<int>(kCount, 2));
}

class HipXnackDeathTest : public HipXnack {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static void write_to(void* address) {
    register_kernels();
    static_cast<void>(launch("write_where_told", 1, 1, static_cast<int*>(address), 1));
    static_cast<void>(hipDeviceSynchronize());
  }
};

TEST_F(HipXnackDeathTest, WhereTheProgramHasNoMemoryTheGpuHasNone) {
  EXPECT_DEATH(write_to(reinterpret_cast<void*>(0x10000)),
               "memory access fault in kernel write_where_told(.|\n)*cannot write 4 bytes");
}

TEST_F(HipXnackDeathTest, WhatTheProgramMayOnlyReadTheGpuMayOnlyRead) {
  EXPECT_DEATH(write_to(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
               "memory access fault in kernel write_where_told");
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
