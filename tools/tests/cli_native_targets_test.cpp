// halyard targets native: the devices that the drivers report, here virtual ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CliNativeTargets, AreTheDevicesWithTheirFeatures) {
  const Outcome outcome = spawn({"targets", "native", "--vgpu=gfx906"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("amdgpu:0: "));
  EXPECT_THAT(outcome.out, HasSubstr("\ngfx906:sramecc"));
  EXPECT_THAT(outcome.out, HasSubstr("2. processor                     gfx906\n"));
  EXPECT_THAT(outcome.out, HasSubstr("4. generic target                gfx9-generic\n"));
  // Not every driver's devices are GPUs.
  EXPECT_THAT(outcome.out, HasSubstr("host_memory:0: "));
  EXPECT_THAT(outcome.out, HasSubstr("no AMD GPU (its target is none)"));
}

TEST(CliNativeTargets, AreMeantByTheOptionsOfDrivers) {
  const Outcome outcome = spawn({"targets", "--vgpu=gfx90a"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\ngfx90a:sramecc"));
}

TEST(CliNativeTargets, MayBeMissing) {
  const Outcome outcome = spawn({"targets", "native", "--vgpu=nosuchprofile"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("halyard: error: "), HasSubstr("nosuchprofile")));
}

}  // namespace
}  // namespace halyard::testing
