// halyard bench: with few repetitions, as here it is not about the times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using Json = nlohmann::json;

class CliBench : public CliTest {
 protected:
  static Outcome bench(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"bench", "--repetitions=2", "--min-time=0"};
    words.insert(words.end(), more.begin(), more.end());
    return spawn(words);
  }
  static Json bench_json(std::vector<std::string> more) {
    more.emplace_back("--json");
    const Outcome outcome = bench(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
};

// The rows of each column.
std::map<std::string, std::set<std::string>> rows_of(const Json& json) {
  std::map<std::string, std::set<std::string>> rows;
  for (const Json& one : json["measurements"]) rows[one["column"]].insert(one["row"]);
  return rows;
}

void expect_times(const Json& json, bool executes) {
  EXPECT_EQ(json["executes"], executes);
  EXPECT_EQ(json["repetitions"], 2);
  for (const Json& column : json["columns"]) EXPECT_EQ(column["absent"], "") << column.dump();
  for (const Json& one : json["measurements"]) {
    SCOPED_TRACE(one["name"]);
    EXPECT_EQ(one["error"], "");
    EXPECT_EQ(one["times_ns"].size(), 2U);
    EXPECT_GT(one["median_ns"], 0);
    EXPECT_LE(one["least_ns"], one["median_ns"]);
    EXPECT_GE(one["most_ns"], one["median_ns"]);
    const std::string name = one["name"];
    const bool has_results =
        name.find("allocate") == std::string::npos && name.find("pool") == std::string::npos;
    EXPECT_EQ(one["checked"], executes && has_results);
  }
}

TEST_F(CliBench, EveryLoopIsMeasuredAndItsResultsAreRight) {
  const Json json = bench_json({"--vgpu=gfx90a"});
  ASSERT_TRUE(json.is_object());
  expect_times(json, true);
  const auto rows = rows_of(json);
  const std::vector<std::string> everywhere = {"submission, burst",
                                               "submission, sustained",
                                               "launch and wait",
                                               "two queues, a round",
                                               "copy host to device, 4 KiB",
                                               "copy device to host, 16 MiB",
                                               "copy within the device, 1 MiB",
                                               "fill, 64 KiB",
                                               "allocate and free, 1 MiB"};
  for (const char* column : {"amdgpu", "hip", "HSA", "HIP"})
    EXPECT_THAT(rows.at(column), IsSupersetOf(everywhere)) << column;
  for (const char* column : {"amdgpu", "hip", "HIP"})
    EXPECT_THAT(rows.at(column), ::testing::Contains("replay of 1,000, a launch")) << column;
}

TEST_F(CliBench, AProfileThatExecutesNothingIsMeasuredAndSaidToBeOne) {
  const Json json = bench_json({"--vgpu=gfx900-noexec"});
  ASSERT_TRUE(json.is_object());
  expect_times(json, false);
  EXPECT_EQ(rows_of(json).size(), 4U);
}

TEST_F(CliBench, TwoGpusDependOnEachOther) {
  const Json json = bench_json({"--vgpu=two-gfx90a", "--filter=GPU"});
  ASSERT_TRUE(json.is_object());
  expect_times(json, true);
  const auto rows = rows_of(json);
  for (const char* column : {"amdgpu", "hip", "HSA", "HIP"}) {
    EXPECT_THAT(rows.at(column), AllOf(::testing::Contains("two GPUs, a round"),
                                       ::testing::Contains("copy to another GPU, 1 MiB")))
        << column;
  }
}

TEST_F(CliBench, EachFieldOfTheJsonIsInTheDocumentation) {
  const Json json = bench_json({"--vgpu=gfx900-noexec", "--filter=^halyard_and_wait$"});
  ASSERT_EQ(json["measurements"].size(), 1U) << json.dump();
  const std::string page = read_bytes(HALYARD_JSON_PAGE);
  for (const Json* object : {&json, &json["gpu"], &json["columns"][0], &json["measurements"][0]}) {
    for (const auto& [name, value] : object->items())
      EXPECT_THAT(page, HasSubstr("`" + name + "`"));
  }
}

TEST_F(CliBench, AVendorsLibraryThatIsNotThereIsAbsent) {
  const std::vector<std::string> words = {
      "--vgpu=gfx900-noexec", "--libhip=/nowhere/libamdhip64.so", "--filter=launch and wait"};
  const Outcome outcome = bench(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("OPERATION        amdgpu:0"), HasSubstr("bare HSA"),
                                 HasSubstr("absent\n")));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("HIP is absent: "), HasSubstr("/nowhere")));
}

TEST_F(CliBench, GoalsAreComparedAndAPlotIsDrawn) {
  const std::string svg = folder_ / "out.svg";
  const Outcome outcome =
      bench({"--vgpu=gfx900-noexec", "--filter=and_wait", "--goals", "--plot=" + svg});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nlaunch and wait: bare HSA "));
  EXPECT_THAT(read_bytes(svg), AllOf(StartsWith("<?xml"), HasSubstr(">launch and wait<")));
}

TEST_F(CliBench, TwoFilesAreCompared) {
  const std::string a = folder_ / "a.json";
  write_bytes(a, bench({"--vgpu=gfx900-noexec", "--filter=and_wait", "--json"}).out);
  const Outcome outcome = spawn({"bench", "--compare", a, a, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out, nullptr, false);
  ASSERT_GE(json.size(), 4U);
  for (const Json& change : json) {
    EXPECT_EQ(change["ratio"], 1);
    EXPECT_EQ(change["is_clear"], false);
  }
  EXPECT_THAT(spawn({"bench", "--compare", a, a}).out,
              AllOf(StartsWith("LOOP"), HasSubstr("bare_and_wait"), HasSubstr("1.000")));
}

TEST_F(CliBench, MistakesAreSaid) {
  const std::string none = folder_ / "none.json";
  write_bytes(none, "{}");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--compare", none, none}, "is not what `halyard bench --json` prints"},
      {{"--compare", none}, "--compare"},
      {{"--compare", "/nowhere", none}, "/nowhere"},
      {{"--compare", none, none, "--goals"}, "--goals"},
      {{"--vgpu=gfx900-noexec", "--filter=("}, "not a valid regular expression"},
      {{"--vgpu=gfx900-noexec", "--filter=nothing"}, "matches no loop"},
      {{"--vgpu=gfx900-noexec", "--device=amdgpu:7"}, "(7)"},
      {{"--vgpu=two-gfx90a", "--device=hip:0", "--device=hip:1"}, "two devices of the driver hip"},
  };
  for (const auto& [words, message] : cases) {
    const Outcome outcome = bench(words);
    EXPECT_EQ(outcome.exit_code, 1) << message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace halyard::testing
