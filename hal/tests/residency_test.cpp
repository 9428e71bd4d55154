// How much of a function a device runs at once, and the work-group size that is suggested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_device.h"
#include "hal/occupancy.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using testing::FakeExecutable;
using ::testing::HasSubstr;

// The fake device is a gfx900 with 64 compute units.
class ResidencyOf : public ::testing::Test {
 protected:
  ResidencyOf() {
    info_.name = "saxpy";
    info_.vgpr_count = 24;
    info_.sgpr_count = 16;
  }
  const Function& function() { return executable_->add(info_); }

  Ref<FakeDevice> device_ = Ref<FakeDevice>::adopt(new FakeDevice);
  Ref<FakeExecutable> executable_ = Ref<FakeExecutable>::adopt(new FakeExecutable(*device_));
  FunctionInfo info_;
};

TEST_F(ResidencyOf, ASmallKernelIsBoundByWaves) {
  const Residency residency = function().residency(256).value();
  EXPECT_EQ(residency.workgroup_size, 256u);
  // 4 SIMDs of 10 waves; 4 waves to a work-group.
  EXPECT_EQ(residency.groups_per_compute_unit, 10u);
  EXPECT_EQ(residency.waves_per_simd, 10u);
  EXPECT_EQ(residency.max_waves_per_simd, 10u);
  EXPECT_EQ(residency.groups, 640u);
}

TEST_F(ResidencyOf, IsWhatOccupancySays) {
  for (const uint32_t vgprs : {16u, 64u, 128u, 256u}) {
    info_.vgpr_count = vgprs;
    info_.group_segment_size = 4096;
    const Function& made = function();
    for (const uint32_t size : {1u, 64u, 100u, 1024u}) {
      const Occupancy expected = *occupancy("gfx900", {vgprs, 16, 4096 + 512, size, 64});
      const Residency residency = made.residency(size, 512).value();
      EXPECT_EQ(residency.groups_per_compute_unit, expected.groups_per_compute_unit);
      EXPECT_EQ(residency.groups, expected.groups_per_compute_unit * 64u);
      EXPECT_EQ(residency.waves_per_simd, expected.waves_per_simd);
    }
  }
}

TEST_F(ResidencyOf, DynamicLdsCounts) {
  EXPECT_EQ(function().residency(64, 32 * 1024).value().groups_per_compute_unit, 2u);
  EXPECT_EQ(function().residency(64, 65 * 1024).value().groups, 0u);
  EXPECT_EQ(function().residency(64, UINT32_MAX).value().groups, 0u);
}

TEST_F(ResidencyOf, SizesThatNoDispatchMayHaveAreRefused) {
  info_.max_workgroup_size = 256;
  EXPECT_EQ(function().residency(0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(function().residency(257).status().message().view(),
            "Function::residency is given work-groups of 257 work-items for \"saxpy\". Legal are 1 "
            "to 256.");
  info_.required_workgroup_size = {8, 8, 1};
  EXPECT_THAT(function().residency(128).status().to_string(),
              HasSubstr("which is compiled for 8×8×1 only (64)."));
  EXPECT_TRUE(function().residency(64).ok());
}

TEST_F(ResidencyOf, AProcessorWithoutFiguresIsUnimplemented) {
  device_->set_target("gfx9999:xnack-");
  const Status status = function().residency(64).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.to_string(), HasSubstr("(gfx9999)"));
  EXPECT_EQ(function().suggest_workgroup_size().status().code(), StatusCode::kUnimplemented);
}

TEST_F(ResidencyOf, ATargetsFeaturesDoNotMatter) {
  device_->set_target("gfx90a:sramecc+:xnack-");
  EXPECT_EQ(function().residency(256).value().max_waves_per_simd, 8u);
}

TEST_F(ResidencyOf, ASuggestionIsTheBestThereIs) {
  for (const uint32_t vgprs : {16u, 40u, 84u, 128u, 256u}) {
    for (const uint32_t lds : {0u, 1000u, 12000u, 40000u}) {
      info_.vgpr_count = vgprs;
      const Function& made = function();
      const Residency best = made.suggest_workgroup_size(lds).value();
      const uint64_t work_items = best.groups * best.workgroup_size;
      EXPECT_NE(work_items, 0u);
      for (uint32_t size = 64; size <= 1024; size += 64) {
        const Residency other = made.residency(size, lds).value();
        EXPECT_LE(other.groups * size, work_items) << size << " " << vgprs << " " << lds;
        if (size < best.workgroup_size && size >= 256) {
          EXPECT_LT(other.groups * size, work_items) << "a smaller one is as good";
        }
      }
    }
  }
}

TEST_F(ResidencyOf, ASuggestionKeepsToTheFunctionsBounds) {
  info_.max_workgroup_size = 512;
  EXPECT_EQ(function().suggest_workgroup_size().value().workgroup_size, 256u);
  // Of more than one wave a compute unit has 16 work-groups at most, which are fewer work-items.
  info_.max_workgroup_size = 128;
  EXPECT_EQ(function().suggest_workgroup_size().value().workgroup_size, 64u);
  info_.required_workgroup_size = {16, 4, 1};
  EXPECT_EQ(function().suggest_workgroup_size().value().workgroup_size, 64u);
}

TEST_F(ResidencyOf, WhatDoesNotFitIsNotSuggested) {
  info_.group_segment_size = 60000;
  const Status status = function().suggest_workgroup_size(6000).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.to_string(), HasSubstr("takes 66000 bytes of LDS (6000 of them dynamic)"));
}

}  // namespace
}  // namespace halyard
