// `--schedule` of `halyard run` and `halyard vgpu exec`, and `halyard vgpu explore`: a result that
// depends on the order of waves is repeated and found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRaceModule = "--module=" HALYARD_TEST_DATA "/race.hsaco";
constexpr const char* kTopKModule = "--module=" HALYARD_TEST_DATA "/iree/topk.hsaco";
constexpr const char* kCompareProgram = "--compare=" HALYARD_PROGRAM;

std::vector<std::string> run_race(const std::string& function) {
  return {"run",
          "--device=amdgpu",
          kRaceModule,
          "--function=" + function,
          "--input=&64xi32",
          "--grid=128",
          "--workgroup=128",
          "--print-limit=2"};
}

std::vector<std::string> under(const std::vector<std::string>& command,
                               const std::vector<std::string>& program) {
  std::vector<std::string> words = command;
  words.insert(words.end(), {"--", HALYARD_PROGRAM});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

constexpr const char* kOnes = "[0]: 64xi32=1 1 ... (62 more)\n";
constexpr const char* kTwos = "[0]: 64xi32=2 2 ... (62 more)\n";

TEST(CliVgpuSchedule, RunHasBothOutcomesOfARace) {
  const auto result_of = [](const std::string& schedule) {
    std::vector<std::string> words = run_race("race");
    words.insert(words.end(), {"--vgpu", "--schedule=" + schedule});
    const Outcome outcome = spawn(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(result_of("waves"), kTwos);
  EXPECT_EQ(result_of("waits"), kOnes);
  EXPECT_EQ(result_of("every:1"), kOnes);
  EXPECT_EQ(result_of("every:1,until:0"), kTwos);
}

TEST(CliVgpuSchedule, ExecTheVariableAndTheProfileChooseIt) {
  const auto result_of = [](const std::vector<std::string>& options, const char* variable) {
    std::vector<std::string> words = {"vgpu", "exec"};
    words.insert(words.end(), options.begin(), options.end());
    SpawnOptions spawn_options;
    spawn_options.environment["HALYARD_VGPU_SCHEDULE"] = variable;
    const Outcome outcome = spawn(under(words, run_race("race")), spawn_options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const TemporaryFolder folder;
  write_bytes(folder / "turns.yaml", "extends: gfx900\nengine: {schedule: \"every:1\"}\n");
  write_bytes(folder / "waves.yaml", "extends: gfx900\nengine: {schedule: waves}\n");
  EXPECT_EQ(result_of({"--schedule=waits"}, ""), kOnes);
  EXPECT_EQ(result_of({"--profile=" + (folder / "turns.yaml")}, ""), kOnes);
  EXPECT_EQ(result_of({"--profile=" + (folder / "waves.yaml")}, ""), kTwos);
  EXPECT_EQ(result_of({"--profile=" + (folder / "turns.yaml")}, "waves"), kTwos);
  EXPECT_EQ(result_of({"--schedule=waits"}, "waves"), kOnes);
}

TEST(CliVgpuSchedule, MistakesStopTheProgramBeforeItStarts) {
  const Outcome exec = spawn({"vgpu", "exec", "--schedule=wave", "--", "echo", "started"});
  EXPECT_EQ(exec.exit_code, 1);
  EXPECT_EQ(exec.out, "");
  EXPECT_THAT(exec.err, HasSubstr("There is no schedule (wave)"));
  std::vector<std::string> words = run_race("race");
  words.emplace_back("--schedule=waits");
  const Outcome run = spawn(words);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("--schedule needs the virtual GPU"));
  words.emplace_back("--vgpu");
  words[words.size() - 2] = "--schedule=every:0";
  EXPECT_THAT(spawn(words).err, HasSubstr("The schedule (every:0) needs a number"));
}

// Runs the command line that a report gives.
Outcome run_reported(const std::string& command) {
  SpawnOptions options;
  options.program = "/bin/sh";
  return spawn({"-c", "halyard() { " HALYARD_PROGRAM " \"$@\"; }; " + command}, options);
}

TEST(CliVgpuExplore, ARaceIsFoundAndItsCommandsRepeatBothResults) {
  const Outcome outcome = spawn(under({"vgpu", "explore"}, run_race("race")));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("under waits,serial it is not that of waves,serial"),
            HasSubstr("waves,serial: [0]: 64xi32=2 2"), HasSubstr("waits,serial: [0]: 64xi32=1 1"),
            HasSubstr("These two instructions have changed places: kernel race, in"),
            HasSubstr("\n  work-group (0, 0, 0), wave 1 at +0x0014: global_load_dword"),
            HasSubstr("\n  work-group (0, 0, 0), wave 0 at +0x0024: global_store_dword")));
  EXPECT_THAT(outcome.err, HasSubstr("gives different results under different schedules"));
  std::vector<std::string> commands;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  halyard vgpu exec ")) commands.push_back(line);
  }
  ASSERT_EQ(commands.size(), 3u) << outcome.out;
  EXPECT_EQ(run_reported(commands[0]).out, kTwos);
  EXPECT_EQ(run_reported(commands[1]).out, kOnes);
  EXPECT_EQ(run_reported(commands[2]).out, kOnes);
  ASSERT_THAT(commands[2], HasSubstr(",until:"));
  const size_t until = commands[2].find(",until:") + 7;
  const uint64_t last = std::stoull(commands[2].substr(until));
  std::string earlier = commands[2];
  earlier.replace(until, std::to_string(last).size(), std::to_string(last - 1));
  EXPECT_EQ(run_reported(earlier).out, kTwos);
}

// The top-k gives 6 6 5 if one wave comes after the other, and 6 5 4 if both read before either
// writes.
TEST(CliVgpuExplore, TheRaceInATopKOfIree) {
  const Outcome outcome = spawn(under(
      {"vgpu", "explore", "--profile=gfx90a"},
      {"run", "--device=amdgpu", kTopKModule, "--function=topk_2d_dim1_max_dispatch_0_topk_2x6xf32",
       "--grid=128", "--input=2x6xf32=[6 5 4 3 2 1][6 5 4 3 2 1]", "--input=2x6xi32=0",
       "--input=&32xf32", "--input=&32xi32", "--print-limit=3"}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("waves,serial: [2]: 32xf32=6 6 5 ..."),
                                 HasSubstr("waits,serial: [2]: 32xf32=6 5 4 ..."),
                                 HasSubstr("wave 1 at +0x0048: buffer_load_dwordx4"),
                                 HasSubstr("wave 0 at +0x00c0: buffer_store_dwordx3")));
}

TEST(CliVgpuExplore, WithoutARaceTheResultIsTheSameEverywhere) {
  const Outcome outcome = spawn(under({"vgpu", "explore", "--runs=6"}, run_race("no_race")));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out,
            "The result is the same under 7 schedules: waves,serial, waits,serial, every:1, "
            "every:16, seed:1, seed:2, seed:3.\n");
}

TEST(CliVgpuExplore, FilesOfTheProgramAreCompared) {
  const TemporaryFolder folder;
  std::vector<std::string> program = run_race("race");
  program.emplace_back("--output=@" + (folder / "sum.bin"));
  const Outcome seen =
      spawn(under({"vgpu", "explore", "--runs=1", "--compare=" + (folder / "sum.bin")}, program));
  EXPECT_EQ(seen.exit_code, 1);
  EXPECT_THAT(seen.out, HasSubstr("sum.bin, from byte 0 on (256 and 256 bytes)"));
}

// What it gets of the GPU is compared, by copies or in memory that kernels write.
TEST(CliVgpuExplore, ARaceOfAProgramThatPrintsNothingIsFound) {
  const TemporaryFolder folder;
  std::string silent = HALYARD_PROGRAM;
  for (const std::string& word : run_race("race")) silent += " '" + word + "'";
  silent += " >" + (folder / "out");
  const Outcome outcome = spawn({"vgpu", "explore", "--runs=1", "--", "/bin/sh", "-c", silent});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("under waits,serial it is not that of waves,serial"),
                    HasSubstr("\n  what the host gets: "), HasSubstr("have other bytes\n"),
                    HasSubstr("These two instructions have changed places: kernel race, in")));
}

// Pointers, say; here the process's number.
TEST(CliVgpuExplore, DataThatDiffersFromRunToRunIsNamedAndNotCompared) {
  const std::string silent =
      HALYARD_PROGRAM " run --device=amdgpu --module=" + kernel("vadd_c_v6") +
      " --function=vadd --input=4xf32=$$ --input=4xf32=10 '--input=&4xf32' --input=i32=4 "
      "--grid=4 >/dev/null";
  const Outcome outcome = spawn({"vgpu", "explore", "--runs=1", "--", "/bin/sh", "-c", silent});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nNot compared, because it differs from run to run: "));
}

TEST(CliVgpuExplore, AProgramThatNeverRepeatsItselfCannotBeCompared) {
  const Outcome outcome = spawn({"vgpu", "explore", "--", "sh", "-c", "echo $$"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("different results under one schedule (waves,serial)"),
                                 HasSubstr("standard output, line 1")));
}

TEST(CliVgpuExplore, MistakesAreSaidBeforeTheProgramStarts) {
  const Outcome missing = spawn({"vgpu", "explore", "--", "/nonexistent/program"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("The program (/nonexistent/program) cannot be run: No such"));
  const Outcome runs = spawn({"vgpu", "explore", "--runs=0", "--", "echo", "started"});
  EXPECT_EQ(runs.exit_code, 1);
  EXPECT_EQ(runs.out, "");
  EXPECT_THAT(runs.err, HasSubstr("--runs"));
  const Outcome profile = spawn({"vgpu", "explore", "--profile=gfx90", "--", "echo", "started"});
  EXPECT_EQ(profile.exit_code, 1);
  EXPECT_THAT(profile.err, HasSubstr("did you mean gfx900?"));
  EXPECT_THAT(profile.out, Not(HasSubstr("started")));
  const Outcome input =
      spawn({"vgpu", "explore", kCompareProgram, "--", HALYARD_PROGRAM, "--version"});
  EXPECT_EQ(input.exit_code, 1);
  EXPECT_THAT(input.err, HasSubstr("is a file that the command reads ("));
}

}  // namespace
}  // namespace halyard::testing
