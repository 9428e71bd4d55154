// halyard run --profile: a trace of the host and of the device's queues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class CliRunProfile : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Json trace(const std::vector<std::string>& more) const {
    const std::string path = folder_ / "out.json";
    std::vector<std::string> words = {"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                                      "--profile=" + path};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = spawn(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(read_bytes(path), nullptr, false);
  }
};

// The spans of a category by name, as (begin, end) in microseconds.
using Spans = std::vector<std::pair<double, double>>;
std::map<std::string, Spans> spans_of(const Json& trace, const std::string& category) {
  std::map<std::string, Spans> spans;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] != category) continue;
    const double begin = event["ts"];
    const double length = event["dur"];
    EXPECT_GE(begin, 0);
    EXPECT_GE(length, 0);
    spans[event["name"]].emplace_back(begin, begin + length);
  }
  return spans;
}

TEST_P(CliRunProfile, HasEachSubmissionWaitAndOperation) {
  const Json json =
      trace({"--module=" + kernel("busy"), "--buffer=data=64xu32=1", "--function=affine",
             "--input=%data", "--input=u32=64", "--input=u32=3", "--input=u32=1",
             "--function=append", "--input=%data", "--input=u32=7", "--input=u32=1000", "--grid=64",
             "--warmup=1", "--repeat=2", "--output=%data:-"});
  ASSERT_TRUE(json["traceEvents"].is_array());
  const auto host = spans_of(json, "host");
  const auto kernels = spans_of(json, "device");
  for (const char* name : {"affine", "append"}) {
    const Spans& submitted = host.at(std::string("submit ") + name);
    const Spans& ran = kernels.at(name);
    ASSERT_EQ(submitted.size(), 3U) << name;
    ASSERT_EQ(ran.size(), 3U) << name;
    for (size_t i = 0; i < ran.size(); ++i) {
      // On one clock: a kernel does not start before somebody submits it, and the wait behind it
      // does not end before it has.
      EXPECT_LE(submitted[i].first, ran[i].first);
      EXPECT_LE(ran[i].second, host.at("wait")[i].second);
    }
  }
  EXPECT_EQ(host.at("wait").size(), 3U);
  EXPECT_EQ(host.at("copy results").size(), 1U);
  EXPECT_EQ(kernels.count("copy"), 1U);
}

TEST_P(CliRunProfile, EachDeviceAndItsHostHaveANamedProcess) {
  const Json json =
      trace({"--module=" + kernel("vadd_cl_v5"), "--function=vadd", "--input=128xf32=1",
             "--input=128xf32=2", "--input=&128xf32", "--input=i32=128"});
  std::map<int, std::string> processes;
  std::set<std::pair<int, int>> threads;
  for (const Json& event : json["traceEvents"]) {
    if (event["name"] == "thread_name") threads.emplace(event["pid"], event["tid"]);
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
  }
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_THAT(processes[1], HasSubstr(GetParam()));
  EXPECT_EQ(processes[2], std::string("host of ") + GetParam());
  for (const Json& event : json["traceEvents"]) {
    EXPECT_EQ(threads.count({event["pid"].get<int>(), event["tid"].get<int>()}), 1U) << event;
  }
}

TEST_P(CliRunProfile, APlaceThatCannotBeWrittenIsKnownBeforeTheRun) {
  const Outcome outcome =
      spawn({"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
             "--module=" + kernel("vadd_cl_v5"), "--function=vadd", "--input=4xf32=1",
             "--input=4xf32=2", "--input=&4xf32", "--input=i32=4", "--profile=/nowhere/a.json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/a.json"));
}

TEST_P(CliRunProfile, ARunThatIsAbandonedLeavesNoTrace) {
  const Outcome outcome = spawn({"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                                 "--module=" + kernel("busy"), "--function=append",
                                 "--input=4xu32=0", "--input=u32=1", "--input=u32=4294967295",
                                 "--grid=1", "--timeout=1", "--profile=" + (folder_ / "a.json")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("has not finished"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

INSTANTIATE_TEST_SUITE_P(Drivers, CliRunProfile, ::testing::Values("amdgpu", "hip"));

}  // namespace
}  // namespace halyard::testing
