// Code for one setting of sramecc or xnack runs only on devices that have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::HasSubstr;

class CliRunFeatures : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // The vector add that was built for `target` ("gfx906_sramecc+"), on a profile.
  static Outcome run_on(const std::string& profile, const std::string& target,
                        const SpawnOptions& options = {}) {
    return spawn({"run", std::string("--device=") + GetParam(), "--vgpu=" + profile,
                  "--module=" HALYARD_TEST_DATA "/vadd_of_" + target + ".hsaco", "--function=vadd",
                  "--input=65xf32=1", "--input=65xf32=10", "--input=&65xf32", "--input=u32=65",
                  "--workgroup=64", "--grid=128", "--expected-output=[2]: 65xf32=11"},
                 options);
  }
  static void expect_runs(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static void expect_refused(const Outcome& outcome, const std::string& why) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(why));
  }
};

TEST_P(CliRunFeatures, SrameccHasToBeAsTheCodeNeedsIt) {
  expect_runs(run_on("gfx906", "gfx906_sramecc-"));
  expect_runs(run_on("mi50", "gfx906_sramecc+"));
  expect_refused(run_on("gfx906", "gfx906_sramecc+"),
                 "it needs sramecc on, and the device has it off");
  expect_refused(run_on("mi50", "gfx906_sramecc-"),
                 "it needs sramecc off, and the device has it on");
}

TEST_P(CliRunFeatures, XnackHasToBeAsTheCodeNeedsIt) {
  expect_runs(run_on("gfx90a", "gfx90a_xnack-"));
  expect_refused(run_on("gfx90a", "gfx90a_xnack+"), "it needs xnack on, and the device has it off");
  SpawnOptions retries;
  retries.environment["HSA_XNACK"] = "1";
  expect_runs(run_on("gfx90a", "gfx90a_xnack+", retries));
  expect_refused(run_on("gfx90a", "gfx90a_xnack-", retries),
                 "it needs xnack off, and the device has it on");
}

INSTANTIATE_TEST_SUITE_P(Drivers, CliRunFeatures, ::testing::Values("amdgpu", "hip"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::testing
