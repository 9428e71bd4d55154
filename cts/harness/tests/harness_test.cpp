// The harness itself: which tests it selects, what it makes of their results, what it reports.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "cts/harness/expectations.h"
#include "cts/harness/options.h"
#include "cts/harness/record.h"
#include "cts/harness/report.h"
#include "cts/harness/selection.h"
#include "cts/harness/tolerance.h"

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

TEST(ExpectationFiles, WhatMaySkipItselfHasToPassOtherwise) {
  const Result<Expectations> read =
      Expectations::read_text("xfail:\n  A.B: It rains.\nskips:\n  A.*: no umbrella\n", "x.yaml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->find("A.C"), nullptr);
  ASSERT_NE(read->find_skip("A.C"), nullptr);
  EXPECT_EQ(read->find_skip("A.C")->reason, "no umbrella");
  EXPECT_EQ(read->find("A.B")->reason, "It rains.");
  EXPECT_EQ(read->find_skip("B.C"), nullptr);
}

TEST(Verdicts, FollowFromOutcomeAndExcuse) {
  const Excuse excuse = {"A.*", "why", Excuse::Kind::kUnsupported};
  EXPECT_EQ(judge(Outcome::kPassed, nullptr, nullptr), Verdict::kPassed);
  EXPECT_EQ(judge(Outcome::kFailed, nullptr, nullptr), Verdict::kFailed);
  EXPECT_EQ(judge(Outcome::kPassed, &excuse, nullptr), Verdict::kUnexpectedPass);
  EXPECT_EQ(judge(Outcome::kFailed, &excuse, nullptr), Verdict::kExpectedFailure);
}

TEST(Verdicts, ASkipWantsAnExcuseOfItsOwn) {
  const Excuse excuse = {"A.*", "why", Excuse::Kind::kUnsupported};
  const Excuse skip = {"A.*", "why", Excuse::Kind::kSkips};
  EXPECT_EQ(judge(Outcome::kSkipped, nullptr, nullptr), Verdict::kUnexpectedSkip);
  EXPECT_EQ(judge(Outcome::kSkipped, &excuse, nullptr), Verdict::kUnexpectedSkip);
  EXPECT_EQ(judge(Outcome::kSkipped, nullptr, &skip), Verdict::kSkipped);
  EXPECT_EQ(judge(Outcome::kPassed, nullptr, &skip), Verdict::kPassed);
  EXPECT_EQ(judge(Outcome::kFailed, nullptr, &skip), Verdict::kFailed);
}

TEST(Verdicts, AreAPassASkipOrAFailure) {
  for (const Verdict verdict :
       {Verdict::kFailed, Verdict::kUnexpectedPass, Verdict::kUnexpectedSkip}) {
    EXPECT_TRUE(is_failure(verdict)) << to_string(verdict);
    EXPECT_FALSE(is_skip(verdict)) << to_string(verdict);
  }
  for (const Verdict verdict :
       {Verdict::kSkipped, Verdict::kExpectedFailure, Verdict::kExpectedEnd}) {
    EXPECT_FALSE(is_failure(verdict)) << to_string(verdict);
    EXPECT_TRUE(is_skip(verdict)) << to_string(verdict);
  }
  EXPECT_FALSE(is_failure(Verdict::kPassed));
  EXPECT_FALSE(is_skip(Verdict::kPassed));
}

// Only an end that was seen will do: a test that passes, or fails in another way, is none.
TEST(Verdicts, AnExpectedEndHasToBeSeen) {
  const Excuse excuse = {"A.*", "why", Excuse::Kind::kEndsProcess};
  EXPECT_EQ(judge(Outcome::kEnded, &excuse, nullptr), Verdict::kExpectedEnd);
  EXPECT_EQ(judge(Outcome::kPassed, &excuse, nullptr), Verdict::kUnexpectedPass);
  EXPECT_EQ(judge(Outcome::kFailed, &excuse, nullptr), Verdict::kFailed);
  EXPECT_EQ(judge(Outcome::kEnded, nullptr, nullptr), Verdict::kFailed);
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
  pugi::xml_document report;
  ASSERT_TRUE(report.load_string(junit_report(subject, two_tests()).c_str()));
  const pugi::xml_node first = report.child("testsuites").child("testsuite");
  const pugi::xml_node second = first.next_sibling("testsuite");
  EXPECT_STREQ(first.attribute("name").value(), "halyard-cts.mine");
  EXPECT_EQ(first.attribute("tests").as_int(), 1);
  EXPECT_EQ(first.attribute("failures").as_int(), 0);
  EXPECT_STREQ(first.child("testcase").attribute("name").value(), "Good");
  EXPECT_STREQ(first.child("testcase").attribute("time").value(), "1.500");
  EXPECT_FALSE(first.child("testcase").first_child());
  EXPECT_STREQ(first.child("properties")
                   .find_child_by_attribute("property", "name", "commit")
                   .attribute("value")
                   .value(),
               "0123abcd");
  EXPECT_EQ(second.attribute("tests").as_int(), 2);
  EXPECT_EQ(second.attribute("failures").as_int(), 2);
  const pugi::xml_node bad = second.find_child_by_attribute("testcase", "name", "Bad");
  EXPECT_STREQ(bad.child("failure").attribute("message").value(), "1 < 2 & \"x\"\n?");
  const pugi::xml_node odd = second.find_child_by_attribute("testcase", "name", "Odd");
  EXPECT_NE(std::string(odd.child("failure").attribute("message").value()).find("the moon"),
            std::string::npos);
}

TEST(Reports, JUnitSaysWhyATestIsSkipped) {
  Record record;
  record.tests.push_back({"A", "Alone", 0, Verdict::kSkipped, 1, "one device only", "one GPU"});
  record.tests.push_back({"A", "Late", 0, Verdict::kExpectedFailure, 1, "1 != 2", "no kernels"});
  record.tests.push_back({"A", "Shy", 0, Verdict::kUnexpectedSkip, 1, "not today", ""});
  pugi::xml_document report;
  ASSERT_TRUE(report.load_string(junit_report({}, record).c_str()));
  const pugi::xml_node suite = report.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("skipped").as_int(), 2);
  EXPECT_EQ(suite.attribute("failures").as_int(), 1);
  const auto message = [&](const char* test, const char* verdict) {
    const pugi::xml_node node = suite.find_child_by_attribute("testcase", "name", test);
    return std::string(node.child(verdict).attribute("message").value());
  };
  EXPECT_EQ(message("Alone", "skipped"), "one device only");
  EXPECT_EQ(message("Late", "skipped"), "failed as expected: no kernels");
  EXPECT_EQ(message("Shy", "failure"), "skipped unexpectedly: not today");
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
  EXPECT_NE(text.find("1 passed, 2 failed, 0 skipped (1 passed unexpectedly)\n"),
            std::string::npos);
}

TEST(Reports, TheSummaryMarksEachSkippedTestForCtest) {
  Record record;
  record.tests.push_back({"A", "Alone", 0, Verdict::kSkipped, 1, "one device only", "one GPU"});
  record.tests.push_back({"A", "Late", 0, Verdict::kExpectedFailure, 1, "1 != 2", "no kernels"});
  record.tests.push_back({"A", "Shy", 0, Verdict::kUnexpectedSkip, 1, "not today", ""});
  const std::string text = summary(record);
  EXPECT_NE(text.find(std::string(kSkipMark) + "A.Alone: one device only\n"), std::string::npos);
  EXPECT_NE(text.find(std::string(kSkipMark) + "A.Late: failed as expected (no kernels)\n"),
            std::string::npos);
  EXPECT_EQ(text.find(std::string(kSkipMark) + "A.Shy"), std::string::npos);
  EXPECT_NE(text.find("A.Shy skipped itself, and no expectation names it (not today)"),
            std::string::npos);
  EXPECT_NE(text.find("0 passed, 1 failed, 2 skipped"), std::string::npos);
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
                   "--check=waits", "--schedule=seed:3", "--filter=A.*", "--junit=x", "--json", "y",
                   "--timeout=2"},
                  &options),
            "");
  EXPECT_EQ(options.schedule, "seed:3");
  EXPECT_EQ(options.device, "mine:1");
  EXPECT_EQ(options.shard.index, 2u);
  EXPECT_EQ(options.shard.count, 3u);
  EXPECT_EQ(options.repeat, 4u);
  EXPECT_EQ(options.shuffle, 7);
  EXPECT_EQ(options.vgpu, "");
  EXPECT_EQ(options.check, "waits");
  EXPECT_EQ(options.filter, "A.*");
  EXPECT_EQ(options.json, "y");
  EXPECT_EQ(options.timeout_seconds, 2u);
}

TEST(CommandLine, OptionalValuesMayBeLeftOut) {
  Options options;
  ASSERT_EQ(parse({"--vgpu=gfx90a", "--check", "--shuffle", "--expectations=none", "--plugin=a.so",
                   "--plugin-path=b", "--device=mine"},
                  &options),
            "");
  EXPECT_EQ(options.vgpu, "gfx90a");
  EXPECT_EQ(options.check, "");
  EXPECT_EQ(options.shuffle, 0);
  EXPECT_EQ(options.expectations, "");
  EXPECT_EQ(options.plugin_paths, (Names{"a.so", "b"}));
  EXPECT_EQ(options.device, "mine");
}

TEST(CommandLine, HelpWantsNoDevice) {
  Options options;
  ASSERT_EQ(parse({"--help"}, &options), "");
  EXPECT_NE(options.help.find("--timeout"), std::string::npos) << options.help;
}

TEST(CommandLine, WhatMakesNoSenseIsRefusedByName) {
  for (const char* bad : {"--shard=0/3", "--shard=4/3", "--shard=x", "--repeat=0", "--repeat=x",
                          "--shuffle=x", "--shuffle=0", "--shuffle=100000", "--seed=-1",
                          "--timeout=0", "--filter=", "--expectations="}) {
    Options options;
    const std::string flag = std::string(bad).substr(0, std::string(bad).find('='));
    EXPECT_NE(parse({"--device=mine", bad}, &options).find(flag), std::string::npos) << bad;
  }
  Options options;
  const std::string misspelt = parse({"--device=mine", "--fliter=x"}, &options);
  EXPECT_NE(misspelt.find("(--fliter)"), std::string::npos) << misspelt;
  EXPECT_NE(misspelt.find("Did you mean \"--filter\"?"), std::string::npos) << misspelt;
  EXPECT_NE(parse({"--device"}, &options).find("--device"), std::string::npos);
  EXPECT_NE(parse({"--device=mine", "--gtest_fliter=x"}, &options).find("--gtest_fliter=x"),
            std::string::npos);
  options = {};
  EXPECT_NE(parse({}, &options).find("--device=URI"), std::string::npos);
}

Result<config::Settings> settings_of(const std::string& text) {
  // ctest runs the tests of this program at the same time: each has a file of its own.
  const std::string path =
      testing::TempDir() + "/cts_tolerances." + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << text;
  config::SettingsSources sources;
  sources.system_folder.clear();
  sources.user_folder = "";
  sources.use_environment = false;
  sources.files = {path};
  Result<config::Settings> settings = config::Settings::load(sources);
  std::remove(path.c_str());
  return settings;
}

TEST(Tolerances, AreThoseOfTheProcessorAndTheType) {
  const Result<config::Settings> settings = settings_of(
      "processors:\n"
      "  default: {tolerances: {f32: {absolute: 0.5, relative: 0.25}}}\n"
      "  gfx90a: {tolerances: {f32: {absolute: 2, relative: 0}}}\n");
  ASSERT_TRUE(settings.ok()) << settings.status().to_string();
  EXPECT_EQ(configured_tolerance(*settings, "gfx90a", "f32"), (Tolerance{2, 0}));
  EXPECT_EQ(configured_tolerance(*settings, "gfx900", "f32"), (Tolerance{0.5, 0.25}));
  EXPECT_EQ(configured_tolerance(*settings, "gfx90a", "f64"), std::nullopt);
}

TEST(Tolerances, WithoutAConfigATestHasItsOwn) {
  EXPECT_EQ(configured_tolerance(config::Settings(), "gfx90a", "f32"), std::nullopt);
  // config/devices says something of every type; that is for halyard run.
  const Result<config::Settings> settings = settings_of("logging: {level: note}\n");
  ASSERT_TRUE(settings.ok()) << settings.status().to_string();
  EXPECT_EQ(configured_tolerance(*settings, "gfx90a", "f32"), std::nullopt);
}

TEST(Tolerances, BoundTheDifference) {
  const Tolerance tolerance = {0.5, 0.25};
  const auto is_within = [&](float actual, float expected) {
    return static_cast<bool>(within_tolerance<float>({actual}, {expected}, tolerance));
  };
  EXPECT_TRUE(is_within(5.5F, 4));
  EXPECT_FALSE(is_within(5.75F, 4));
  EXPECT_TRUE(is_within(-5.5F, -4));
  EXPECT_FALSE(is_within(-4, 4));
  EXPECT_TRUE(is_within(HUGE_VALF, HUGE_VALF));
  EXPECT_FALSE(is_within(HUGE_VALF, 4));
  EXPECT_FALSE(is_within(4, HUGE_VALF));
  EXPECT_TRUE(is_within(NAN, NAN));
  EXPECT_FALSE(is_within(NAN, 4));
}

}  // namespace
}  // namespace halyard::cts
