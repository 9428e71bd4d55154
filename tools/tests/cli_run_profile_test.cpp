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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;

class CliRunProfile : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Json trace(const std::vector<std::string>& more,
             const std::map<std::string, std::string>& environment = {}) const {
    const std::string path = folder_ / "out.json";
    std::vector<std::string> words = {"run", std::string("--device=") + GetParam(), "--vgpu=gfx900",
                                      "--profile=" + path};
    words.insert(words.end(), more.begin(), more.end());
    SpawnOptions options;
    options.environment = environment;
    const Outcome outcome = spawn(words, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(read_bytes(path), nullptr, false);
  }

  // Two kernels, three times.
  Json busy_trace() const {
    return trace({"--module=" + kernel("busy"), "--buffer=data=64xu32=1", "--function=affine",
                  "--input=%data", "--input=u32=64", "--input=u32=3", "--input=u32=1",
                  "--function=append", "--input=%data", "--input=u32=7", "--input=u32=1000",
                  "--grid=64", "--workgroup=32", "--warmup=1", "--repeat=2", "--output=%data:-"});
  }
};

// The events of a kind and category.
std::vector<Json> events_of(const Json& trace, const char* phase, const std::string& category) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase && event.value("cat", "") == category) events.push_back(event);
  }
  return events;
}

// The spans of a category by name, as (begin, end) in microseconds.
using Spans = std::vector<std::pair<double, double>>;
std::map<std::string, Spans> spans_of(const Json& trace, const std::string& category) {
  std::map<std::string, Spans> spans;
  for (const Json& event : events_of(trace, "X", category)) {
    const double begin = event["ts"];
    const double length = event["dur"];
    EXPECT_GE(begin, 0);
    EXPECT_GE(length, 0);
    spans[event["name"]].emplace_back(begin, begin + length);
  }
  return spans;
}

bool is_within(const std::pair<double, double>& inner, const std::pair<double, double>& outer) {
  return outer.first <= inner.first && inner.second <= outer.second;
}

TEST_P(CliRunProfile, HasEachSubmissionWaitAndOperation) {
  const Json json = busy_trace();
  ASSERT_TRUE(json["traceEvents"].is_array());
  const auto host = spans_of(json, "host");
  const auto kernels = spans_of(json, "dispatch");
  const Spans launches = {host.at("warm-up 1").at(0), host.at("launch 1").at(0),
                          host.at("launch 2").at(0)};
  for (const char* name : {"affine", "append"}) {
    const Spans& submitted = host.at(std::string("submit ") + name);
    const Spans& ran = kernels.at(name);
    ASSERT_EQ(submitted.size(), 3U) << name;
    ASSERT_EQ(ran.size(), 3U) << name;
    for (size_t i = 0; i < ran.size(); ++i) {
      // On one clock: a kernel does not start before somebody submits it, and the wait behind it
      // does not end before it has. The device's clock is known as exactly as the two are read at
      // one moment: by HIP, between an event and the end of a wait for it.
      // On a busy machine those moments are far apart.
      const double apart = GetParam() == std::string("hip") ? 50'000 : 1000;  // microseconds
      EXPECT_LE(submitted[i].first, ran[i].first + apart);
      EXPECT_LE(ran[i].second, host.at("wait")[i].second + apart);
      EXPECT_TRUE(is_within(submitted[i], launches[i]));
      EXPECT_LE(launches[i].first, ran[i].first + apart);
      EXPECT_LE(ran[i].second, launches[i].second + apart);
    }
  }
  EXPECT_EQ(host.at("wait").size(), 3U);
  EXPECT_EQ(host.at("fill buffers").size(), 3U);
  EXPECT_EQ(host.at("copy results").size(), 1U);
}

TEST_P(CliRunProfile, AnOperationHasItsKindAndFacts) {
  const Json json = busy_trace();
  const std::vector<Json> dispatches = events_of(json, "X", "dispatch");
  ASSERT_EQ(dispatches.size(), 6U);
  for (const Json& event : dispatches) {
    if (event["name"] != "append") continue;
    EXPECT_EQ(event["args"], Json::parse(R"({"grid": [64, 1, 1], "workgroup": [32, 1, 1]})"));
  }
  const std::vector<Json> copies = events_of(json, "X", "copy");
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies.front()["args"], Json::parse(R"({"bytes": 256})"));
  EXPECT_FALSE(events_of(json, "X", "fill").empty());
}

TEST_P(CliRunProfile, AnArrowGoesFromEachSubmissionToItsKernel) {
  const Json json = busy_trace();
  std::vector<Json> submitted;
  for (const Json& event : events_of(json, "X", "host")) {
    if (std::string(event["name"]).starts_with("submit ")) submitted.push_back(event);
  }
  const std::vector<Json> ran = events_of(json, "X", "dispatch");
  const std::vector<Json> starts = events_of(json, "s", "submission");
  const std::vector<Json> ends = events_of(json, "f", "submission");
  ASSERT_EQ(submitted.size(), 6U);
  ASSERT_EQ(starts.size(), 6U);
  ASSERT_EQ(ends.size(), 6U);
  ASSERT_EQ(ran.size(), 6U);
  for (size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(submitted[i]["name"], "submit " + std::string(ran[i]["name"]));
    for (const char* const place : {"pid", "tid", "ts"}) {
      EXPECT_EQ(starts[i][place], submitted[i][place]);
      EXPECT_EQ(ends[i][place], ran[i][place]);
    }
  }
}

TEST_P(CliRunProfile, EachQueueAndItsHostHaveANamedTrack) {
  const Json json =
      trace({"--module=" + kernel("vadd_cl_v5"), "--function=vadd", "--input=128xf32=1",
             "--input=128xf32=2", "--input=&128xf32", "--input=i32=128"});
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  for (const Json& event : json["traceEvents"]) {
    if (event["name"] == "thread_name")
      threads[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
  }
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_THAT(processes[1], HasSubstr(GetParam()));
  EXPECT_THAT(processes[2], StartsWith(std::string("host of ") + GetParam()));
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_THAT((threads[{1, 1}]), MatchesRegex("queue [0-9]+"));
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "M") continue;
    EXPECT_EQ(threads.count({event["pid"].get<int>(), event["tid"].get<int>()}), 1U) << event;
  }
}

// What a library in the process names with ROCTX: here a tool that the HSA runtime loads.
TEST_P(CliRunProfile, HasRoctxRangesOfTheProcess) {
  const Json json =
      trace({"--module=" + kernel("vadd_cl_v5"), "--function=vadd", "--input=128xf32=1",
             "--input=128xf32=2", "--input=&128xf32", "--input=i32=128"},
            {{"HSA_TOOLS_LIB", HALYARD_RANGES_TOOL}});
  const auto ranges = spans_of(json, "roctx");
  ASSERT_THAT(ranges, UnorderedElementsAre(Key("outer"), Key("inner \"quoted\""),
                                           Key("of another thread"), Key("open")));
  EXPECT_TRUE(is_within(ranges.at("inner \"quoted\"").at(0), ranges.at("outer").at(0)));
  EXPECT_TRUE(is_within(ranges.at("of another thread").at(0), ranges.at("outer").at(0)));
  // It goes on to the end.
  EXPECT_GT(ranges.at("open").at(0).second, spans_of(json, "dispatch").at("vadd").at(0).second);
  const std::vector<Json> marks = events_of(json, "i", "roctx");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0]["name"], "levels are right");
  const std::vector<Json> begins = events_of(json, "b", "roctx");
  const std::vector<Json> ends = events_of(json, "e", "roctx");
  ASSERT_EQ(begins.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(begins[0]["name"], "started");
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_LT(begins[0]["ts"], ends[0]["ts"]);
  std::set<int> tracks;
  for (const Json& event : events_of(json, "X", "roctx")) tracks.insert(event["tid"].get<int>());
  EXPECT_EQ(tracks.size(), 2U);
}

// What looks AMD's library up by its name finds the program's functions, whether AMD's is there or
// not; if it is, it is called too, and its levels and numbers are those that are returned.
TEST_P(CliRunProfile, HasRangesOfWhatLooksTheLibraryUp) {
  const std::vector<std::string> run = {"--module=" + kernel("vadd_cl_v5"),
                                        "--function=vadd",
                                        "--input=128xf32=1",
                                        "--input=128xf32=2",
                                        "--input=&128xf32",
                                        "--input=i32=128"};
  const auto marks_with = [&](const std::map<std::string, std::string>& environment) {
    const Json json = trace(run, environment);
    EXPECT_THAT(spans_of(json, "roctx"), UnorderedElementsAre(Pair("by libroctx64.so.4", SizeIs(2)),
                                                              Pair("by libroctx64.so", SizeIs(1))));
    EXPECT_EQ(events_of(json, "b", "roctx").size(), 3U);
    EXPECT_EQ(events_of(json, "e", "roctx").size(), 3U);
    std::vector<std::string> marks;
    for (const Json& mark : events_of(json, "i", "roctx")) marks.push_back(mark["name"]);
    return marks;
  };
  const std::string tool = HALYARD_LOOKUP_RANGES_TOOL;
  EXPECT_THAT(
      marks_with({{"HSA_TOOLS_LIB", tool}}),
      ElementsAre("libroctx64.so.4 4.1 0 0", "libroctx64.so 4.1 0 0", "libroctx64.so.4 4.1 0 0"));
  EXPECT_THAT(marks_with({{"HSA_TOOLS_LIB", tool}, {"LD_LIBRARY_PATH", HALYARD_AMDS_ROCTX}}),
              ElementsAre("libroctx64.so.4 4.1 70 71", "libroctx64.so 4.1 70 71",
                          "libroctx64.so.4 4.1 70 71"));
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
