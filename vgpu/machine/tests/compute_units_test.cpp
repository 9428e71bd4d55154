// Compute units, as masks count them and HW_ID shows them.
#include "vgpu/machine/compute_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace halyard::vgpu::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GpuProfile gpu(uint32_t units, uint32_t engines) {
  GpuProfile profile;
  profile.compute_units = units;
  profile.shader_engines = engines;
  return profile;
}

TEST(ComputeUnits, AreCountedAcrossTheShaderEngines) {
  // Three engines: of three, three and one.
  EXPECT_THAT(units_of_engines(gpu(7, 3)), ElementsAre(3, 3, 1));
  const auto place = [](uint32_t engine, uint32_t unit) { return engine << 13 | unit << 8; };
  EXPECT_THAT(places_of_units(gpu(7, 3)),
              ElementsAre(place(0, 0), place(1, 0), place(2, 0), place(0, 1), place(1, 1),
                          place(0, 2), place(1, 2)));
}

// HW_ID says where in its die a unit is.
TEST(ComputeUnits, AreCountedAcrossTheDies) {
  GpuProfile profile = gpu(8, 4);
  profile.processor = "gfx942";
  profile.xcds = 2;
  EXPECT_THAT(units_of_engines(profile), ElementsAre(2, 2));
  const auto place = [](uint32_t engine, uint32_t unit) { return engine << 13 | unit << 8; };
  EXPECT_THAT(places_of_units(profile),
              ElementsAre(place(0, 0), place(0, 0), place(1, 0), place(1, 0), place(0, 1),
                          place(0, 1), place(1, 1), place(1, 1)));
}

TEST(ComputeUnits, EachHasItsOwnPlace) {
  for (const auto& [units, engines] : {std::pair{60u, 4u}, {64u, 4u}, {120u, 8u}, {104u, 8u}}) {
    std::vector<uint32_t> places = places_of_units(gpu(units, engines));
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places.size(), units);
    EXPECT_EQ(std::unique(places.begin(), places.end()), places.end()) << units;
  }
}

TEST(ComputeUnits, AMaskMeansThoseThatThereAre) {
  EXPECT_THAT(units_in({0x80000005, 0x2}, 40), ElementsAre(0, 2, 31, 33));
  EXPECT_THAT(units_in({0x80000005, 0x2}, 33), ElementsAre(0, 2, 31));
  EXPECT_THAT(units_in({0xffffffff}, 2), ElementsAre(0, 1));
  EXPECT_THAT(units_in({0}, 40), IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::machine
