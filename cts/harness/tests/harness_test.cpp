// The harness itself: which tests it selects, what it makes of their results, what it reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cts/harness/expectations.h"
#include "cts/harness/options.h"
#include "cts/harness/record.h"
#include "cts/harness/report.h"
#include "cts/harness/selection.h"

namespace halyard::cts {
namespace {

using Names = std::vector<std::string>;

TEST(Globs, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("A.B", "A.B"));
  EXPECT_FALSE(matches_glob("A.B", "A.BC"));
  EXPECT_FALSE(matches_glob("A.BC", "A.B"));
  EXPECT_TRUE(matches_glob("A.*b*", "A.xxbyb"));
  EXPECT_FALSE(matches_glob("A.*b", "A.xxby"));
  EXPECT_TRUE(matches_glob("?.?", "A.B"));
  EXPECT_FALSE(matches_glob("?", ""));
  EXPECT_TRUE(matches_glob("*aab", "aaaab"));  // wants to go back
}

TEST(Filters, TakeAndLeaveOut) {
  EXPECT_TRUE(matches_filter("", "A.B"));
  EXPECT_TRUE(matches_filter("C.*:A.*", "A.B"));
  EXPECT_FALSE(matches_filter("C.*:D.*", "A.B"));
  EXPECT_FALSE(matches_filter("A.*-A.B", "A.B"));
  EXPECT_TRUE(matches_filter("-A.C:A.D", "A.B"));
  EXPECT_FALSE(matches_filter("-A.C:A.B", "A.B"));
}

TEST(Shards, AreEverythingOnce) {
  const Names all = {"A.1", "A.2", "A.3", "B.1", "B.2"};
  Names together;
  for (uint32_t i = 1; i <= 3; ++i) {
    const Names part = select_tests(all, "*", {i, 3});
    EXPECT_LE(part.size(), 2u);
    together.insert(together.end(), part.begin(), part.end());
  }
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, all);
  EXPECT_EQ(select_tests(all, "B.*", {2, 2}), Names{"B.2"});
}

TEST(ExpectationFiles, AreRead) {
  const Result<Expectations> read = Expectations::read_text(
      "unsupported:\n  \"A.*\": The sea is too deep.\nxfail:\n  B.C: It rains.\n"
      "ends_process:\n  D.E: The cook aborts.\n",
      "x.yaml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  ASSERT_EQ(read->excuses().size(), 3u);
  ASSERT_NE(read->find("A.anything"), nullptr);
  EXPECT_EQ(read->find("A.anything")->reason, "The sea is too deep.");
  EXPECT_EQ(read->find("A.anything")->kind, Excuse::Kind::kUnsupported);
  EXPECT_EQ(read->find("B.C")->kind, Excuse::Kind::kExpectedFailure);
  EXPECT_EQ(read->find("D.E")->kind, Excuse::Kind::kEndsProcess);
  EXPECT_EQ(read->find("B.D"), nullptr);
}

TEST(ExpectationFiles, WantAReasonAndKnownKeys) {
  const auto refusal = [](std::string_view text) {
    const Result<Expectations> read = Expectations::read_text(text, "x.yaml");
    return read.ok() ? std::string() : std::string(read.status().message().view());
  };
  EXPECT_NE(refusal("xfail:\n  A.B: \"\"\n").find("x.yaml:2"), std::string::npos);
  EXPECT_NE(refusal("xfial:\n  A.B: why\n").find("xfail"), std::string::npos);
  EXPECT_NE(refusal("xfail:\n  A.B: why\n  A.B: why\n").find("twice"), std::string::npos);
  EXPECT_NE(refusal("- A.B\n"), "");
}

TEST(ExpectationFiles, PatternsThatMatchNothingAreStale) {
  const Result<Expectations> read =
      Expectations::read_text("xfail:\n  A.*: why\n  B.*: why\n", "x.yaml");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->stale({"A.1", "C.1"}), Names{"B.*"});
}

TEST(Verdicts, FollowFromOutcomeAndExcuse) {
  const Excuse excuse = {"A.*", "why", Excuse::Kind::kUnsupported};
  EXPECT_EQ(judge(Outcome::kPassed, nullptr), Verdict::kPassed);
  EXPECT_EQ(judge(Outcome::kFailed, nullptr), Verdict::kFailed);
  EXPECT_EQ(judge(Outcome::kSkipped, nullptr), Verdict::kSkipped);
  EXPECT_EQ(judge(Outcome::kPassed, &excuse), Verdict::kUnexpectedPass);
  EXPECT_EQ(judge(Outcome::kFailed, &excuse), Verdict::kExpectedFailure);
  EXPECT_TRUE(is_failure(Verdict::kUnexpectedPass));
  EXPECT_FALSE(is_failure(Verdict::kExpectedFailure));
}

// Only an end that was seen will do: a test that passes, or fails in another way, is none.
TEST(Verdicts, AnExpectedEndHasToBeSeen) {
  const Excuse excuse = {"A.*", "why", Excuse::Kind::kEndsProcess};
  EXPECT_EQ(judge(Outcome::kEnded, &excuse), Verdict::kExpectedEnd);
  EXPECT_EQ(judge(Outcome::kPassed, &excuse), Verdict::kUnexpectedPass);
  EXPECT_EQ(judge(Outcome::kFailed, &excuse), Verdict::kFailed);
  EXPECT_EQ(judge(Outcome::kEnded, nullptr), Verdict::kFailed);
  EXPECT_FALSE(is_failure(Verdict::kExpectedEnd));
}

Record two_tests() {
  Record record;
  record.tests.push_back({"A", "Good", 0, Verdict::kPassed, 1500, "", ""});
  record.tests.push_back({"A", "Bad", 1, Verdict::kFailed, 2, "1 < 2 & \"x\"\n\x01", ""});
  record.tests.push_back({"B", "Odd", 1, Verdict::kUnexpectedPass, 2, "", "the moon"});
  return record;
}

TEST(Reports, JUnitHasASuiteForEachRepetition) {
  Subject subject;
  subject.driver = "mine";
  subject.commit = "0123abcd";
  const std::string text = junit_report(subject, two_tests());
  EXPECT_NE(text.find("<testsuite name=\"halyard-cts.mine\" tests=\"1\" failures=\"0\""),
            std::string::npos);
  EXPECT_NE(text.find("tests=\"2\" failures=\"2\""), std::string::npos);
  EXPECT_NE(text.find("classname=\"A\" name=\"Good\" time=\"1.500\"/>"), std::string::npos);
  EXPECT_NE(text.find("1 &lt; 2 &amp; &quot;x&quot;&#10;?"), std::string::npos);
  EXPECT_NE(text.find("the moon"), std::string::npos);
  EXPECT_NE(text.find("0123abcd"), std::string::npos);
}

TEST(Reports, JsonNamesWhatWasTested) {
  Subject subject;
  subject.driver = "mine";
  subject.library_version = "1.2";
  subject.target = "gfx900";
  const auto report = nlohmann::json::parse(json_report(subject, two_tests()));
  EXPECT_EQ(report["driver"]["name"], "mine");
  EXPECT_EQ(report["driver"]["library_version"], "1.2");
  EXPECT_EQ(report["device"]["target"], "gfx900");
  EXPECT_EQ(report["good"], false);
  EXPECT_EQ(report["counts"]["passed"], 1);
  EXPECT_EQ(report["tests"][2]["reason"], "the moon");
  EXPECT_EQ(report["tests"][1]["iteration"], 1);
}

TEST(Reports, TheSummaryNamesEachFailure) {
  const std::string text = summary(two_tests());
  EXPECT_NE(text.find("A.Bad failed"), std::string::npos);
  EXPECT_NE(text.find("B.Odd passed unexpectedly"), std::string::npos);
  EXPECT_NE(text.find("1 passed, 1 failed, 1 passed unexpectedly\n"), std::string::npos);
}

TEST(Reports, AFileThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(write_report("/nowhere/at/all.xml", "x").code(), StatusCode::kUnavailable);
}

// Returns the problem; "" if there is none.
std::string parse(Names arguments, Options* options) {
  arguments.insert(arguments.begin(), "halyard-cts");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  std::string problem;
  if (parse_options(&argc, argv.data(), options, &problem) &&
      check_rest(argc, argv.data(), &problem)) {
    return "";
  }
  return problem;
}

TEST(CommandLine, ValuesBehindAnEqualsSignOrASpace) {
  Options options;
  ASSERT_EQ(parse({"--device", "mine:1", "--shard", "2/3", "--repeat=4", "--shuffle=7", "--vgpu",
                   "--check=waits", "--filter=A.*", "--junit=x", "--json", "y", "--patience=2"},
                  &options),
            "");
  EXPECT_EQ(options.device, "mine:1");
  EXPECT_EQ(options.shard.index, 2u);
  EXPECT_EQ(options.shard.count, 3u);
  EXPECT_EQ(options.repeat, 4u);
  EXPECT_EQ(options.shuffle, 7);
  EXPECT_EQ(options.vgpu, "");
  EXPECT_EQ(options.check, "waits");
  EXPECT_EQ(options.filter, "A.*");
  EXPECT_EQ(options.json, "y");
  EXPECT_EQ(options.patience_seconds, 2u);
}

TEST(CommandLine, WhatMakesNoSenseIsRefusedByName) {
  for (const char* bad :
       {"--shard=0/3", "--shard=4/3", "--shard=x", "--repeat=0", "--repeat=x", "--shuffle=x",
        "--shuffle=100000", "--seed=-1", "--patience=0", "--filter=", "--expectations="}) {
    Options options;
    const std::string flag = std::string(bad).substr(0, std::string(bad).find('='));
    EXPECT_NE(parse({"--device=mine", bad}, &options).find(flag), std::string::npos) << bad;
  }
  Options options;
  EXPECT_NE(parse({"--device=mine", "--fliter=x"}, &options).find("--fliter=x"), std::string::npos);
  EXPECT_NE(parse({"--device"}, &options).find("wants a value"), std::string::npos);
  options = {};
  EXPECT_NE(parse({}, &options).find("--device=URI"), std::string::npos);
}

}  // namespace
}  // namespace halyard::cts
