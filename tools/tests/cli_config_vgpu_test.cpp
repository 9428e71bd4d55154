// What configs change for commands that use a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::ContainsRegex;
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

// Config key: processors.<processor>.tolerances.<type>.absolute
// Config key: processors.<processor>.tolerances.<type>.relative
TEST_F(CliConfigVgpuTest, TolerancesAreThoseOfTheProcessor) {
  EXPECT_EQ(add_with("").exit_code, 1);
  const char* const mine = "processors: {gfx900: {tolerances: {f32: {absolute: 7}}}}\n";
  EXPECT_THAT(add_with(mine).out, HasSubstr("as expected (4 elements, atol 7, rtol 1e-05)"));
  EXPECT_EQ(add_with(mine, {"--atol=1"}).exit_code, 1) << "the flag comes after the config";
  EXPECT_EQ(add_with("processors: {gfx90a: {tolerances: {f32: {absolute: 7}}}}\n").exit_code, 1);
  EXPECT_THAT(add_with("processors: {default: {tolerances: {f32: {relative: 0.5}}}}\n").out,
              HasSubstr("rtol 0.5"));
}

// A copy to the host by a kernel of the device library, or by a copy engine.
// Config key: processors.<processor>.copies.engine_from
TEST_F(CliConfigVgpuTest, CopiesFromASizeOnUseAnEngine) {
  const auto trace_with = [&](const char* config) {
    write_bytes(folder_ / "a.yaml", std::string_view(config));
    const std::string trace = folder_ / "trace.txt";
    SpawnOptions options;
    options.environment = {{"HALYARD_VGPU_TRACE", trace}};
    const Outcome outcome =
        spawn({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + kernel("vadd_c_v6"),
               "--function=vadd", "--config=" + (folder_ / "a.yaml"), "--input=4xf32=1 2 3 4",
               "--input=4xf32=10 20 30 40", "--input=&4xf32", "--input=u32=4"},
              options);
    EXPECT_THAT(outcome.out, HasSubstr("11 22 33 44")) << outcome.err;
    std::string text = read_bytes(trace);
    std::filesystem::remove(trace);
    return text;
  };
  EXPECT_TRUE(trace_with("").find("kernel halyard_copy ") != std::string::npos);
  const std::string trace = trace_with("processors: {gfx900: {copies: {engine_from: 1B}}}\n");
  EXPECT_TRUE(trace.find("kernel vadd ") != std::string::npos);
  EXPECT_TRUE(trace.find("kernel halyard_copy ") == std::string::npos);
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

// The virtual GPU itself.
class CliConfigOfVgpuTest : public CliTest {
 protected:
  Outcome list(const std::string& config, const std::string& flag) const {
    write_bytes(folder_ / "a.yaml", config);
    // The variables of the environment come after the config.
    SpawnOptions options;
    options.environment = {{"HALYARD_VGPU_PROFILE", ""},
                           {"HALYARD_VGPU_PATH", ""},
                           {"HALYARD_LIBHSA_PATH", ""},
                           {"HALYARD_LIBHIP_PATH", ""}};
    return spawn({"list", "devices", flag, "--config=" + (folder_ / "a.yaml")}, options);
  }
};

// Config key: vgpu.profile
// Config key: virtual_gpus.<vgpu>.profile
// Config key: virtual_gpus.<vgpu>.memory_size
// Config key: virtual_gpus.<vgpu>.compute_units
TEST_F(CliConfigOfVgpuTest, ProfilesAreThoseOfTheConfig) {
  EXPECT_THAT(list("", "--vgpu").out, HasSubstr("gfx900"));
  EXPECT_THAT(list("vgpu: {profile: mi100}\n", "--vgpu").out, HasSubstr("gfx908"));
  const Outcome small =
      list("virtual_gpus: {small: {profile: mi210, memory_size: 3GiB, compute_units: 7}}\n",
           "--vgpu=small");
  EXPECT_THAT(small.out, HasSubstr("gfx90a"));
  EXPECT_THAT(small.out, ContainsRegex(" 7 +3 GiB"));
}

// Config key: vgpu.library
TEST_F(CliConfigOfVgpuTest, TheLibraryIsThatOfTheConfig) {
  const Outcome outcome = list("vgpu: {library: /nowhere/vgpu}\n", "--vgpu");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/vgpu"));
}

// Config key: drivers.amdgpu.libhsa
// Config key: drivers.hip.libhip
TEST_F(CliConfigOfVgpuTest, VendorsLibrariesAreThoseOfTheConfig) {
  const Outcome outcome =
      list("drivers: {amdgpu: {libhsa: /nowhere/hsa}, hip: {libhip: /nowhere/hip}}\n", "--json");
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/hsa"));
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/hip"));
}

}  // namespace
}  // namespace halyard::testing
