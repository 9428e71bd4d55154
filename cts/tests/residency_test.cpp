// How much of a function the device runs at once, and launches of the suggested size.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class ResidencyOnDevice : public DeviceTest {
 protected:
  // A processor that Halyard has no figures of has none of this.
  bool has_figures() {
    const auto found = function("busy", "affine")->residency(64);
    return found.ok() || found.status().code() != StatusCode::kUnimplemented;
  }
};

TEST_F(ResidencyOnDevice, IsBoundedByTheDevice) {
  if (!has_figures()) GTEST_SKIP() << "no figures of this processor";
  const Function* const kernel = function("busy", "affine");
  const DeviceInfo& info = device().info();
  for (uint32_t size = 64; size <= info.max_workgroup_size; size *= 2) {
    const Residency residency = take(kernel->residency(size));
    EXPECT_EQ(residency.struct_size, sizeof(Residency));
    EXPECT_EQ(residency.workgroup_size, size);
    EXPECT_GT(residency.groups_per_compute_unit, 0u);
    EXPECT_EQ(residency.groups, uint64_t{residency.groups_per_compute_unit} * info.compute_units);
    EXPECT_LE(residency.waves_per_simd, residency.max_waves_per_simd);
  }
  EXPECT_FAILS(kernel->residency(info.max_workgroup_size + 1), StatusCode::kInvalidArgument);
}

TEST_F(ResidencyOnDevice, LdsOfADispatchMakesLessOfIt) {
  if (!has_figures()) GTEST_SKIP() << "no figures of this processor";
  const Function* const kernel = function("dynamic_lds_hip", "dynamic_shared");
  const Residency without = take(kernel->residency(64));
  const Residency with = take(kernel->residency(64, device().info().lds_bytes / 2));
  EXPECT_LT(with.groups, without.groups);
  EXPECT_EQ(take(kernel->residency(64, device().info().lds_bytes * 4)).groups, 0u);
}

TEST_F(ResidencyOnDevice, TheSuggestedSizeRuns) {
  if (!has_figures()) GTEST_SKIP() << "no figures of this processor";
  const Function* const kernel = function("busy", "affine");
  const Residency best = take(kernel->suggest_workgroup_size());
  EXPECT_GT(best.groups, 0u);
  constexpr uint32_t kCount = 5000;
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kCount, 5));
  const uint32_t size = best.workgroup_size;
  ASSERT_OK(run(kernel, whole_groups(kCount, size), {size, 1, 1},
                {data, Argument::of(kCount), Argument::of(3u), Argument::of(1u)}));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kCount, 16)));
}

}  // namespace
}  // namespace halyard::cts
