// What AMD calls unsafe float atomics: on MI200 fine-grained memory does not carry them out.
#include <cstring>
#include <functional>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

class HipFloatAtomics : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    hipDeviceProp_t properties;
    HIP_OK(hipGetDeviceProperties(&properties, 0));
    if (std::strncmp(properties.gcnArchName, "gfx90a", 6) != 0)
      GTEST_SKIP() << "These instructions are gfx90a's.";
  }

  // Two doubles and a maximum, then a float: what they become, and what the atomics return.
  struct Values {
    double doubles[3] = {2, 3, 4};
    float one_float = 5;
    float padding = 0;
    double returned[4] = {-1, -1, -1, -1};
  };
  static void run(void* memory, const std::function<void(Values&)>& set,
                  const std::function<void(Values&)>& get, Values& values) {
    auto* const on_gpu = static_cast<Values*>(memory);
    set(values);
    HIP_OK(launch("fast_float_atomics", 1, 1, &on_gpu->doubles[0], &on_gpu->one_float,
                  &on_gpu->returned[0]));
    HIP_OK(hipDeviceSynchronize());
    get(values);
  }
  static void run_on_host_memory(unsigned flags, Values& values) {
    void* memory = nullptr;
    HIP_OK(hipHostMalloc(&memory, sizeof(Values), flags));
    run(
        memory, [&](Values& v) { std::memcpy(memory, &v, sizeof v); },
        [&](Values& v) { std::memcpy(&v, memory, sizeof v); }, values);
    HIP_OK(hipHostFree(memory));
  }
  static void run_by_copies(void* memory, Values& values) {
    run(
        memory, [&](Values& v) { HIP_OK(hipMemcpy(memory, &v, sizeof v, hipMemcpyHostToDevice)); },
        [&](Values& v) { HIP_OK(hipMemcpy(&v, memory, sizeof v, hipMemcpyDeviceToHost)); }, values);
  }

  static void expect_carried_out(const Values& values) {
    EXPECT_EQ(values.doubles[0], 3);
    EXPECT_EQ(values.doubles[1], 1);
    EXPECT_EQ(values.doubles[2], 100);
    EXPECT_EQ(values.one_float, 6);
    EXPECT_EQ(values.returned[0], 2);
    EXPECT_EQ(values.returned[1], 3);
    EXPECT_EQ(values.returned[2], 4);
    EXPECT_EQ(values.returned[3], 5);
  }
  static void expect_dropped(const Values& values) {
    EXPECT_EQ(values.doubles[0], 2);
    EXPECT_EQ(values.doubles[1], 3);
    EXPECT_EQ(values.doubles[2], 4);
    EXPECT_EQ(values.one_float, 5);
    for (const double returned : values.returned) EXPECT_EQ(returned, 0);
  }
};

TEST_F(HipFloatAtomics, CoarseGrainedMemoryCarriesThemOut) {
  void* memory = nullptr;
  HIP_OK(hipMalloc(&memory, sizeof(Values)));
  Values values;
  run_by_copies(memory, values);
  expect_carried_out(values);
  HIP_OK(hipFree(memory));
  Values host;
  run_on_host_memory(hipHostMallocNonCoherent, host);
  expect_carried_out(host);
}

TEST_F(HipFloatAtomics, FineGrainedMemoryDropsThemAndReturnsZero) {
  Values host;
  run_on_host_memory(hipHostMallocCoherent, host);
  expect_dropped(host);
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
