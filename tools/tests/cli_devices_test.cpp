// halyard list devices: what URIs mean, and what variables of the environment hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The URIs that are listed for `device` on a node with GPUs of four kinds.
std::vector<std::string> listed(const std::string& device, const std::string& vgpu = "mixed") {
  const Outcome outcome = spawn({"list", "devices", device, "--json", "--vgpu=" + vgpu});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> uris;
  for (const auto& one : nlohmann::json::parse(outcome.out, nullptr, false)) {
    uris.push_back(one["uri"]);
  }
  return uris;
}

TEST(CliDevices, UrisOfEveryForm) {
  for (const std::string driver : {"amdgpu", "hip"}) {
    const auto uri = [&](uint32_t ordinal) { return driver + ":" + std::to_string(ordinal); };
    EXPECT_THAT(listed(driver), ElementsAre(uri(0), uri(1), uri(2), uri(3)));
    EXPECT_THAT(listed(driver + ":2"), ElementsAre(uri(2)));
    EXPECT_THAT(listed(driver + "://3,1"), ElementsAre(uri(1), uri(3)));
    EXPECT_THAT(listed(driver + "://0000:23:00.0"), ElementsAre(uri(1)));
    EXPECT_THAT(listed(driver + "://gfx908,gfx900"), ElementsAre(uri(0), uri(2)));
    EXPECT_THAT(listed(driver + "://gfx90a", "four-mi210"),
                ElementsAre(uri(0), uri(1), uri(2), uri(3)));
  }
}

TEST(CliDevices, WrongUrisSayWhereAndWhatThereIs) {
  const auto refused = [](const std::string& device) {
    const Outcome outcome = spawn({"list", "devices", device, "--vgpu=two-gfx90a"});
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(refused("amdgpu://0,2"),
              AllOf(HasSubstr("at character 12: the driver amdgpu has no device with the ordinal "
                              "(2). It has amdgpu:0 ("),
                    HasSubstr("0000:43:00.0) and amdgpu:1 ("), HasSubstr("0000:46:00.0)")));
  EXPECT_THAT(refused("hip://gfx90a,0"), HasSubstr("twice, at character 14: by the processor"));
  EXPECT_THAT(refused("hip://0,,1"), HasSubstr("at character 9 (\",\"): a selector is expected"));
  EXPECT_THAT(refused("hip://0,amdgpu://1"), HasSubstr("GPUs of one driver only"));
}

// The first GPU is hidden by one variable, and of those that are left the first one by the other.
TEST(CliDevices, WhatAVariableHidesIsSaid) {
  const auto list = [](const std::vector<std::pair<std::string, std::string>>& variables) {
    SpawnOptions options;
    for (const auto& [name, value] : variables) options.environment[name] = value;
    return spawn({"list", "devices", "--vgpu=mixed"}, options);
  };
  EXPECT_THAT(list({}).err, Not(HasSubstr("hides")));
  const Outcome outcome = list({{"ROCR_VISIBLE_DEVICES", "1,2,3"}, {"HIP_VISIBLE_DEVICES", "1,2"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.err,
      AllOf(HasSubstr("ROCR_VISIBLE_DEVICES (1,2,3) hides a GPU from the driver amdgpu: "),
            HasSubstr("ROCR_VISIBLE_DEVICES (1,2,3) hides a GPU from the driver hip: "),
            HasSubstr("HIP_VISIBLE_DEVICES (1,2) hides a GPU from the driver hip: "),
            Not(HasSubstr("HIP_VISIBLE_DEVICES (1,2) hides a GPU from the driver amdgpu"))));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("amdgpu:2"), Not(HasSubstr("amdgpu:3")),
                                 HasSubstr("hip:1"), Not(HasSubstr("hip:2"))));
}

}  // namespace
}  // namespace halyard::testing
