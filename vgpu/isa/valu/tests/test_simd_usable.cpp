// A library that was built for another CPU says so, before it would run what the CPU lacks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vgpu/isa/simd.h"

namespace halyard::vgpu::isa::test {
namespace {

// simd.cpp is compiled into this program with no build at all.
TEST(SimdUsable, NamesTheBuildsAndTheOption) {
  std::string error;
  EXPECT_FALSE(simd_usable(error));
  EXPECT_THAT(error, testing::HasSubstr("this CPU lacks its instructions (avx512)"));
  EXPECT_THAT(error, testing::HasSubstr("-DHALYARD_VGPU_SIMD=all"));
}

TEST(SimdUsableDeathTest, NothingRunsWithoutABuild) {
  EXPECT_DEATH(simd_build(), "this CPU lacks its instructions");
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
