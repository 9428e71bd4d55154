// What configs change for commands that use a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::HasSubstr;

class CliConfigVgpuTest : public CliTest {
 protected:
  // Adds 1, 2, 3, 4 and 10, 20, 30, 40, and expects 50 for the last.
  Outcome add_with(std::string_view text, const std::vector<std::string>& more = {}) const {
    write_bytes(folder_ / "a.yaml", text);
    std::vector<std::string> words = {"--config=" + (folder_ / "a.yaml"),
                                      "--input=4xf32=1 2 3 4",
                                      "--input=4xf32=10 20 30 40",
                                      "--input=&4xf32",
                                      "--input=u32=4",
                                      "--expected-output=4xf32=11 22 33 50"};
    words.insert(words.end(), more.begin(), more.end());
    return run("vadd_c_v6", "vadd", words);
  }
};

TEST_F(CliConfigVgpuTest, TolerancesAreThoseOfTheProcessor) {
  EXPECT_EQ(add_with("").exit_code, 1);
  const char* const mine = "processors: {gfx900: {tolerances: {f32: {absolute: 7}}}}\n";
  EXPECT_THAT(add_with(mine).out, HasSubstr("as expected (4 elements, atol 7, rtol 1e-05)"));
  EXPECT_EQ(add_with(mine, {"--atol=1"}).exit_code, 1) << "the flag comes after the config";
  EXPECT_EQ(add_with("processors: {gfx90a: {tolerances: {f32: {absolute: 7}}}}\n").exit_code, 1);
  EXPECT_THAT(add_with("processors: {default: {tolerances: {f32: {relative: 0.5}}}}\n").out,
              HasSubstr("rtol 0.5"));
}

TEST_F(CliConfigVgpuTest, DevicesAreOpenedWithTheOptionsOfTheirProcessor) {
  write_bytes(folder_ / "a.yaml", "processors: {gfx900: {workgroups: {max_size: 32}}}\n");
  const auto add_on = [&](const std::string& device) {
    return spawn({"run", "--device=" + device, "--vgpu=gfx900", "--module=" + kernel("vadd_c_v6"),
                  "--function=vadd", "--grid=64", "--workgroup=64",
                  "--config=" + (folder_ / "a.yaml"), "--input=4xf32=1 2 3 4",
                  "--input=4xf32=10 20 30 40", "--input=&4xf32", "--input=u32=4"});
  };
  for (const std::string driver : {"amdgpu", "hip"}) {
    EXPECT_THAT(add_on(driver).err, HasSubstr("has a limit of 32×32×32 work-items"));
    const Outcome uri = add_on(driver + "?max_workgroup_size=64");
    EXPECT_EQ(uri.exit_code, 0) << "a parameter of the URI comes after the config: " << uri.err;
    EXPECT_THAT(uri.out, HasSubstr("11 22 33 44"));
  }
}

}  // namespace
}  // namespace halyard::testing
