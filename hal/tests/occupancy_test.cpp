#include "hal/occupancy.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

KernelNeeds needs_of(uint32_t vgprs, uint32_t sgprs = 16, uint32_t lds = 0, uint32_t group = 64,
                     uint32_t wavefront = 64) {
  return {vgprs, sgprs, lds, group, wavefront};
}

struct Expected {
  uint32_t waves;
  OccupancyLimit limit;
};

void expect(std::string_view processor, const KernelNeeds& needs, const Expected& expected) {
  const auto found = occupancy(processor, needs);
  ASSERT_TRUE(found) << processor;
  EXPECT_EQ(found->waves_per_simd, expected.waves) << processor << ", " << needs.vgprs << " VGPRs";
  EXPECT_EQ(to_string(found->limit), std::string(to_string(expected.limit))) << processor;
}

using enum OccupancyLimit;

TEST(Occupancy, WaveSlotsAreTheLimitOfASmallKernel) {
  expect("gfx900", needs_of(24), {10, kWaveSlots});
  expect("gfx90a", needs_of(64), {8, kWaveSlots});
  expect("gfx9-generic", needs_of(24), {10, kWaveSlots});
  expect("gfx1010", needs_of(24), {20, kWaveSlots});
  expect("gfx1030", needs_of(32), {16, kWaveSlots});
  expect("gfx1200", needs_of(48), {16, kWaveSlots});
}

TEST(Occupancy, VgprsAreTakenInGranules) {
  expect("gfx906", needs_of(28), {9, kVgprs});
  expect("gfx906", needs_of(29), {8, kVgprs});
  expect("gfx906", needs_of(129), {1, kVgprs});
  expect("gfx90a", needs_of(65), {7, kVgprs});
  expect("gfx942", needs_of(512), {1, kVgprs});
  expect("gfx1030", needs_of(65), {7, kVgprs});
  expect("gfx1100", needs_of(96), {8, kVgprs});
  expect("gfx1102", needs_of(96), {5, kVgprs});
}

TEST(Occupancy, AWaveOf32LanesHasTwiceTheRegisters) {
  expect("gfx1100", needs_of(96, 16, 0, 32, 32), {16, kWaveSlots});
  expect("gfx1030", needs_of(80, 16, 0, 32, 32), {12, kVgprs});
  expect("gfx1030", needs_of(81, 16, 0, 32, 32), {10, kVgprs});
}

TEST(Occupancy, SgprsCountOnGfx9Only) {
  expect("gfx900", needs_of(24, 80), {10, kWaveSlots});
  expect("gfx900", needs_of(24, 88), {9, kSgprs});
  expect("gfx900", needs_of(24, 100), {8, kSgprs});
  expect("gfx900", needs_of(24, 102), {7, kSgprs});
  expect("gfx1030", needs_of(24, 106), {16, kWaveSlots});
}

TEST(Occupancy, LdsLimitsWorkGroups) {
  // Two groups of four waves on four SIMDs.
  expect("gfx900", needs_of(24, 16, 32768, 256), {2, kLds});
  expect("gfx900", needs_of(24, 16, 32769, 256), {1, kLds});
  expect("gfx950", needs_of(24, 16, 32768, 256), {4, kLds});
  const auto none = occupancy("gfx900", needs_of(24, 16, 65537, 256));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->waves_per_simd, 0u);
  EXPECT_EQ(none->groups_per_compute_unit, 0u);
}

TEST(Occupancy, AComputeUnitHasSixteenWorkGroupsOfSeveralWaves) {
  expect("gfx900", needs_of(24, 16, 0, 128), {8, kWorkGroups});
  expect("gfx900", needs_of(24, 16, 0, 256), {10, kWaveSlots});
}

TEST(Occupancy, OnlyWholeWorkGroupsFit) {
  // 16 waves: two groups are 32 of the 40 slots.
  const auto found = occupancy("gfx900", needs_of(24, 16, 0, 1024));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->groups_per_compute_unit, 2u);
  EXPECT_EQ(found->waves_per_simd, 8u);
  EXPECT_EQ(found->max_waves_per_simd, 10u);
}

TEST(Occupancy, WhatIsNotKnownHasNone) {
  EXPECT_FALSE(occupancy("gfx1250", needs_of(24)));
  EXPECT_FALSE(occupancy("gfx803", needs_of(24)));
  EXPECT_FALSE(occupancy("", needs_of(24)));
  EXPECT_FALSE(occupancy("gfx900", needs_of(24, 16, 0, 0)));
}

}  // namespace
}  // namespace halyard
