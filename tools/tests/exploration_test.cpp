#include "tools/halyard/exploration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace halyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A program whose result is another one from the instruction `from` of the schedule `sensitive` on.
class FakeProgram {
 public:
  FakeProgram(std::string sensitive, uint64_t from)
      : sensitive_(std::move(sensitive)), from_(from) {}

  Result<Observed> operator()(const std::string& schedule) {
    ++runs;
    constexpr std::string_view kUntil = ",until:";
    const size_t at = schedule.find(kUntil);
    const uint64_t until = at == std::string::npos
                               ? UINT64_MAX
                               : std::strtoull(schedule.c_str() + at + kUntil.size(), nullptr, 10);
    Observed observed;
    const bool is_other = schedule.substr(0, at) == sensitive_ && until >= from_;
    observed.output = is_other ? "6 6 5\n" : "6 5 4\n";
    return observed;
  }
  unsigned runs = 0;

 private:
  std::string sensitive_;
  uint64_t from_;
};

TEST(Exploration, SchedulesWithNamesComeFirst) {
  EXPECT_THAT(schedules_to_try(6, 40),
              ElementsAre("waits,serial", "every:1", "every:16", "seed:40", "seed:41", "seed:42"));
  EXPECT_THAT(schedules_to_try(1, 1), ElementsAre("waits,serial"));
}

TEST(Exploration, TheFirstOtherResultIsNarrowedDown) {
  for (const uint64_t from : {1u, 2u, 3u, 4u, 5u, 63u, 64u, 65u, 1000003u}) {
    FakeProgram program("seed:2", from);
    const Result<Exploration> found = explore(schedules_to_try(20, 1), std::ref(program));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->different, "seed:2");
    EXPECT_THAT(found->tried, ElementsAre("waits,serial", "every:1", "every:16", "seed:1"));
    EXPECT_EQ(found->other.output, "6 6 5\n");
    EXPECT_EQ(found->until, from);
    EXPECT_LT(program.runs, 45u) << from;
  }
}

TEST(Exploration, AResultThatNoPartOfTheOrderGivesIsNotNarrowed) {
  const Result<Exploration> found =
      explore({"every:1"}, [](const std::string& schedule) -> Result<Observed> {
        Observed observed;
        observed.exit_code = schedule == "every:1" ? 3 : 0;
        return observed;
      });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->different, "every:1");
  EXPECT_EQ(found->until, std::nullopt);
}

TEST(Exploration, TheSameResultEverywhereIsNoFinding) {
  FakeProgram program("nothing", 0);
  const Result<Exploration> found = explore({"every:1", "seed:1"}, std::ref(program));
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->is_steady);
  EXPECT_EQ(found->different, "");
  EXPECT_THAT(found->tried, ElementsAre("every:1", "seed:1"));
  EXPECT_EQ(program.runs, 4u);
}

TEST(Exploration, AProgramThatNeverRepeatsItselfCannotBeCompared) {
  int n = 0;
  const Result<Exploration> found = explore({"every:1"}, [&](const std::string&) {
    return Result<Observed>(Observed{0, 0, std::to_string(n++), {}});
  });
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->is_steady);
  EXPECT_EQ(n, 2);
}

TEST(Exploration, AResultThatDoesNotRepeatIsNoFinding) {
  int n = 0;
  const Result<Exploration> found = explore({"seed:1", "seed:2"}, [&](const std::string& schedule) {
    return Result<Observed>(Observed{0, 0, schedule == "seed:1" ? std::to_string(n++) : "", {}});
  });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->different, "");
  EXPECT_THAT(found->unsteady, ElementsAre("seed:1"));
  EXPECT_THAT(found->tried, ElementsAre("seed:2"));
}

// What the host gets counts as what is printed does.
TEST(Exploration, OtherDataIsAnotherResult) {
  const Result<Exploration> found =
      explore({"every:1"}, [](const std::string& schedule) -> Result<Observed> {
        Observed observed;
        observed.data =
            parse_data(schedule == "every:1" ? "copies of 4 bytes\t1\n" : "copies of 4 bytes\t2\n");
        return observed;
      });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->different, "every:1");
  EXPECT_THAT(found->unsteady_data, IsEmpty());
}

// Pointers, say, and what the host's own threads decide.
TEST(Exploration, DataThatDiffersFromRunToRunIsNotCompared) {
  int n = 0;
  const Result<Exploration> found = explore({"every:1"}, [&](const std::string&) {
    Observed observed;
    observed.data = parse_data("kernel a\t" + std::to_string(n++) + "\nkernel b\t7\nkernel b\t6\n");
    return Result<Observed>(observed);
  });
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->is_steady);
  EXPECT_EQ(found->different, "");
  EXPECT_THAT(found->unsteady_data, ElementsAre("kernel a"));
  EXPECT_THAT(found->first.data.at("kernel b"), ElementsAre("6", "7"));
}

TEST(Exploration, DifferencesAreShownWhereTheyBegin) {
  const auto differences = [](const Observed& first, const Observed& other) {
    return difference_text("seed:1", first, other, {"out.bin"});
  };
  EXPECT_EQ(differences({0, 0, "a\nb\n", {}}, {0, 0, "a\nc\n", {}}),
            "  standard output, line 2\n    waves,serial: b\n    seed:1: c\n");
  EXPECT_THAT(differences({0, 0, "a\n", {}}, {0, 0, "a\nb\n", {}}),
              AllOf(HasSubstr("line 2"), HasSubstr("waves,serial: (no such line)")));
  EXPECT_THAT(differences({0, 0, "a\n", {}}, {0, 0, "a", {}}), HasSubstr("the end of the last"));
  EXPECT_THAT(differences({0, 0, "", {}}, {1, 0, "", {}}),
              AllOf(HasSubstr("waves,serial: exit code 0"), HasSubstr("seed:1: exit code 1")));
  EXPECT_THAT(differences({0, 0, "", {}}, {0, 11, "", {}}), HasSubstr("ended by signal 11"));
  EXPECT_EQ(differences({0, 0, "", {"abc"}}, {0, 0, "", {"abd!"}}),
            "  the file out.bin, from byte 2 on (3 and 4 bytes)\n");
  const auto with_data = [](const char* lines) {
    Observed observed;
    observed.data = parse_data(lines);
    return observed;
  };
  EXPECT_EQ(differences(with_data("copies\t1\ncopies\t2\n"), with_data("copies\t2\ncopies\t3\n")),
            "  what the host gets: copies: 1 of 2 have other bytes\n");
  EXPECT_EQ(differences(with_data("copies\t1\n"), with_data("")),
            "  what the host gets: copies\n    waves,serial: 1 times\n    seed:1: 0 times\n");
}

TEST(Exploration, CommandsAreForAShell) {
  EXPECT_EQ(shell_text({"run", "--input=&4xi32", "it's", "", "a b"}),
            "run '--input=&4xi32' 'it'\\''s' '' 'a b'");
}

}  // namespace
}  // namespace halyard::cli
