// What `halyard` says about itself, about plugins, and about a command line that makes no sense.
// None of this needs a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// An error goes to standard error, in one form, and nothing to standard output.
std::string error_of(const std::vector<std::string>& arguments, const SpawnOptions& options = {}) {
  const Outcome outcome = spawn(arguments, options);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("halyard: error: "));
  EXPECT_TRUE(outcome.err.ends_with('\n'));
  return outcome.err;
}

TEST(CliUsage, SaysItsVersion) {
  const Outcome outcome = spawn({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("halyard " HALYARD_VERSION " "));
}

TEST(CliUsage, EveryCommandHasHelp) {
  const std::vector<std::vector<std::string>> commands = {{"--help"},
                                                          {"run", "--help"},
                                                          {"list", "-h"},
                                                          {"list", "drivers", "--help"},
                                                          {"list", "devices", "--help"},
                                                          {"dump", "devices", "--help"},
                                                          {"mlir-run", "--help"},
                                                          {"config", "--help"},
                                                          {"config", "show", "--help"},
                                                          {"config", "check", "--help"},
                                                          {"config", "schema", "--help"},
                                                          {"targets", "--help"},
                                                          {"vgpu", "--help"},
                                                          {"vgpu", "exec", "--help"}};
  for (const auto& command : commands) {
    const Outcome outcome = spawn(command);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("Usage: halyard"));
  }
  const std::string run = spawn({"run", "--help"}).out;
  for (const char* word :
       {"--device", "--vgpu", "--module", "--function", "--grid", "--workgroup", "--lds", "--input",
        "--output", "--expected-output", "--atol", "--rtol", "--plugin-path", "--libhsa",
        "--print-limit", "--stack", "&1024xf32", "lds=4096"}) {
    EXPECT_THAT(run, HasSubstr(word));
  }
}

TEST(CliUsage, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(error_of({}), HasSubstr("--help"));
  EXPECT_THAT(error_of({"rum"}), HasSubstr("has no command (rum). Did you mean \"run\"?"));
  EXPECT_THAT(error_of({"list", "driver"}), HasSubstr("Did you mean \"drivers\"?"));
  EXPECT_THAT(error_of({"list"}), HasSubstr("halyard list --help"));
  const std::vector<std::string> run = {"run", "--device=a", "--module=b", "--function=c"};
  const auto with = [&](std::string word) {
    std::vector<std::string> words = run;
    words.push_back(std::move(word));
    return words;
  };
  EXPECT_THAT(error_of(with("--inptu=1")), HasSubstr("Did you mean \"--input\"?"));
  EXPECT_THAT(error_of(with("extra")), HasSubstr("(extra)"));
  std::vector<std::string> twice = with("--timeout=1");
  twice.emplace_back("--timeout=2");
  EXPECT_THAT(error_of(twice), HasSubstr("--timeout"));
  EXPECT_THAT(error_of(with("--atol=-1")), HasSubstr("a tolerance (-1)"));
  EXPECT_THAT(error_of(with("--rtol=nan")), HasSubstr("a tolerance (nan)"));
}

// CLI11 would take the next word for the value.
TEST(CliUsage, AnEmptyValueIsRefusedByEveryCommand) {
  const auto empty = [](const std::string& option) {
    const std::string word = option + "=";
    return HasSubstr("The option " + option + " has an empty value (" + word + ")");
  };
  const std::string file = kernel("vadd_c_v6");
  const std::vector<std::string> run = {"run", "--module=" + file, "--function=vadd"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = run;
    words.insert(words.end(), more.begin(), more.end());
    return error_of(words);
  };
  EXPECT_THAT(with({"--device=", "--vgpu"}), empty("--device"));
  EXPECT_THAT(with({"--device=amdgpu", "--input=", "--input=@a.npy"}), empty("--input"));
  EXPECT_THAT(with({"--device=amdgpu", "--grid=", "4"}), empty("--grid"));
  EXPECT_THAT(with({"--device=amdgpu", "--vgpu=", "gfx900"}),
              ::testing::AllOf(empty("--vgpu"), HasSubstr("Write --vgpu=VALUE, or only the option"),
                               HasSubstr("halyard run --help")));
  EXPECT_THAT(with({"--device=amdgpu", "--input="}), empty("--input"));
  EXPECT_THAT(error_of({"list", "devices", "--plugin-path=", "--json"}), empty("--plugin-path"));
  EXPECT_THAT(error_of({"list", "drivers", "--json="}),
              HasSubstr("The option --json takes no value (--json=). Write --json."));
  EXPECT_THAT(error_of({"vgpu", "exec", "--check=", "--", "true"}),
              HasSubstr("Write --check=VALUE, or only the option."));
  EXPECT_THAT(error_of({"targets", "--libhsa=", "gfx900"}), empty("--libhsa"));
  EXPECT_THAT(error_of({"objdump", "--target=", file}), empty("--target"));
  EXPECT_THAT(error_of({"vgpu", "disasm", "--function=", "vadd", file}),
              ::testing::AllOf(empty("--function"), HasSubstr("halyard vgpu disasm --help")));
  EXPECT_THAT(error_of({"vgpu", "exec", "--profile=", "gfx906", "--", "echo"}), empty("--profile"));
  const TemporaryFolder folder;
  EXPECT_THAT(error_of({"pack", "--output=", folder / "a", file}), empty("--output"));
  EXPECT_THAT(error_of({"pack", "-o=" + folder / "a", file}),
              HasSubstr("The option -o takes its value without \"=\""));
  EXPECT_EQ(folder.entries(), 0U);
}

// Nor is the next option the value of one whose value has been forgotten.
TEST(CliUsage, AnOptionIsNotTheValueOfTheOneBefore) {
  const std::string file = kernel("vadd_c_v6");
  EXPECT_THAT(error_of({"run", "--device", "--vgpu", "--module=" + file, "--function=vadd"}),
              HasSubstr("--device: its value (--vgpu) is missing"));
  EXPECT_THAT(error_of({"objdump", "--function", "--json", file}),
              HasSubstr("--function: its value (--json) is missing"));
  EXPECT_THAT(error_of({"pack", file, "-o", "--compress=zstd"}),
              HasSubstr("its value (--compress=zstd) is missing"));
  EXPECT_THAT(error_of({"list", "devices", "--plugin-path", ""}),
              HasSubstr("--plugin-path: its value () is missing"));
}

TEST(CliUsage, NumbersHaveARange) {
  const auto with = [](const std::string& word) {
    return error_of({"run", "--device=a", "--module=b", "--function=c", word});
  };
  for (const std::string bad : {"-1", "x", "1.5", "1e3", "18446744073709551616", "0x", "1 "}) {
    EXPECT_THAT(with("--print-limit=" + bad),
                HasSubstr("--print-limit: the value (" + bad +
                          ") is not a whole number from 0 to 18446744073709551615. See"));
    EXPECT_THAT(with("--lds=" + bad), HasSubstr("--lds: the value (" + bad +
                                                ") is not a size from 0 to 4294967295 bytes"));
  }
  for (const std::string bad : {"4GiB", "17179869184GiB", "4kb", "4KiBs"})
    EXPECT_THAT(with("--lds=" + bad), HasSubstr("(" + bad + ") is not a size"));
  EXPECT_THAT(with("--stack=0"), HasSubstr("(0) is not a size from 1 to"));
  EXPECT_THAT(error_of({"list", "drivers", "--timeout=0"}),
              HasSubstr("(0) is not a whole number from 1 to 86400"));
}

TEST(CliUsage, WhatCannotBeWrittenIsAnErrorOfEveryCommand) {
  SpawnOptions full;
  full.standard_output = "/dev/full";
  const std::string file = kernel("vadd_c_v6");
  const std::vector<std::vector<std::string>> commands = {
      {"--version"},     {"--help"},
      {"run", "--help"}, {"vgpu", "exec", "--help"},
      {"targets"},       {"targets", "--json"},
      {"objdump", file}};
  for (const auto& command : commands) {
    const Outcome outcome = spawn(command, full);
    EXPECT_EQ(outcome.exit_code, 1) << command.front();
    EXPECT_THAT(outcome.err, HasSubstr("annot be written")) << command.front();
  }
}

// A descriptor that is opened later must not take the output's place.
TEST(CliUsage, AClosedStandardOutputIsAnErrorOfEveryCommand) {
  const std::string file = kernel("vadd_c_v6");
  const std::vector<std::vector<std::string>> commands = {
      {"--version"},
      {"targets"},
      {"objdump", file},
      {"config", "show"},
      {"list", "drivers"},
      {"list", "devices", "--vgpu=gfx900"},
      {"dump", "devices", "--vgpu=gfx900"},
      {"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + file, "--function=vadd",
       "--input=4xf32=1", "--input=4xf32=2", "--input=&4xf32", "--input=i32=4"},
      {"vgpu", "exec", "--profile=gfx900", "--", "echo", "hello"}};
  for (const std::vector<int>& closed : {std::vector<int>{1}, {0, 1}}) {
    SpawnOptions options;
    options.closed = closed;
    for (const auto& command : commands) {
      const Outcome outcome = spawn(command, options);
      EXPECT_EQ(outcome.exit_code, 1) << command.front();
      EXPECT_THAT(outcome.err,
                  ::testing::AnyOf(HasSubstr("annot be written"), HasSubstr("write error")))
          << command.front();
    }
  }
  SpawnOptions none;
  none.closed = {0, 1, 2};
  for (const auto& command : commands) EXPECT_EQ(spawn(command, none).exit_code, 1);
  // What needs none of them goes well.
  EXPECT_EQ(spawn({"vgpu", "exec", "--profile=gfx900", "--", "true"}, none).exit_code, 0);
}

TEST(CliUsage, NamesTheOptionsThatAreMissing) {
  EXPECT_THAT(error_of({"run"}), HasSubstr("--device is required"));
  EXPECT_THAT(error_of({"run", "--device=a"}), HasSubstr("--module is required"));
  EXPECT_THAT(error_of({"run", "--device=a", "--module=b"}), HasSubstr("--function is required"));
}

TEST(CliUsage, MalformedValuesAreMarked) {
  const std::vector<std::string> run = {"run", "--device=a", "--module=b", "--function=c",
                                        "--input=i32=1"};
  const auto with = [&](std::string word) {
    std::vector<std::string> words = run;
    words.push_back(std::move(word));
    return error_of(words);
  };
  EXPECT_THAT(
      with("--input=4xf32=1 2 x"),
      HasSubstr("Input 1: The value is malformed at column 11: \"x\" is not a number of type "
                "f32.\n  4xf32=1 2 x\n            ^\n"));
  // CLI11 has meanings of its own for these.
  EXPECT_THAT(with("--input={}"), HasSubstr("at least one field"));
  EXPECT_THAT(with("--input=[1,2]"), HasSubstr("at column 1"));
  EXPECT_THAT(with("--input= "), HasSubstr("a value is expected"));
  EXPECT_THAT(with("--input=@/nonexistent.npy"), HasSubstr("/nonexistent.npy"));
}

TEST(CliUsage, AModuleThatDoesNotExist) {
  EXPECT_THAT(
      error_of({"run", "--device=amdgpu", "--module=/nonexistent.hsaco", "--function=f"}),
      HasSubstr("The file (/nonexistent.hsaco) cannot be read: No such file or directory."));
  const std::string folder = ::testing::TempDir() + "halyard-no-module";
  std::filesystem::create_directories(folder);
  EXPECT_THAT(error_of({"run", "--device=amdgpu", "--module=" + folder, "--function=f"}),
              HasSubstr("The folder has no code object."));
}

TEST(CliUsage, ADriverThatDoesNotExist) {
  const std::string text =
      error_of({"run", "--device=nosuch", "--module=" + kernel("saxpy"), "--function=saxpy"});
  EXPECT_THAT(text, HasSubstr("(nosuch)"));
  EXPECT_THAT(text, HasSubstr("Places searched for driver plugins"));
  EXPECT_THAT(error_of({"run", "--device=7up", "--module=" + kernel("saxpy"), "--function=saxpy"}),
              HasSubstr("(7up)"));
}

// A program with nothing around it: no plugins, no virtual GPU.
class BareInstallation : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "bin");
    bare_.program = folder_ / "bin/halyard";
    std::filesystem::copy_file(HALYARD_PROGRAM, bare_.program);
  }

  TemporaryFolder folder_;
  SpawnOptions bare_;
};

TEST_F(BareInstallation, SaysWhereThereAreNoPlugins) {
  const std::string place = folder_ / "lib/halyard/plugins";
  EXPECT_THAT(error_of({"list", "drivers"}, bare_), HasSubstr(place));
  EXPECT_THAT(error_of({"list", "devices"}, bare_), HasSubstr(place));
  EXPECT_THAT(
      error_of({"run", "--device=amdgpu", "--module=" + kernel("saxpy"), "--function=saxpy"},
               bare_),
      HasSubstr(place));
}

TEST_F(BareInstallation, SaysWhereThereIsNoVirtualGpu) {
  EXPECT_THAT(error_of({"list", "devices", "--vgpu"}, bare_),
              HasSubstr(folder_ / "lib/halyard/vgpu/libhalyard-kfd.so.0"));
}

TEST_F(BareInstallation, APluginPathThatDoesNotExistIsAnError) {
  EXPECT_THAT(error_of({"list", "drivers", "--plugin-path=/nonexistent/plugins"}, bare_),
              HasSubstr("The plugin path (/nonexistent/plugins) cannot be used"));
}

TEST_F(BareInstallation, BrokenPluginsAreListedWithTheReason) {
  write_bytes(folder_ / "libbroken.so", "no library");
  const Outcome outcome = spawn({"list", "drivers", "--plugin-path=" + folder_.path()}, bare_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("DRIVER"));
  EXPECT_THAT(outcome.out, HasSubstr(folder_ / "libbroken.so"));
  EXPECT_THAT(outcome.out, HasSubstr("stopped after the stage \"found\": "));

  const auto json = nlohmann::json::parse(
      spawn({"list", "drivers", "--json", "--plugin-path=" + folder_ / "libbroken.so"}, bare_).out);
  ASSERT_EQ(json["candidates"].size(), 1U);
  EXPECT_EQ(json["candidates"][0]["plugin"], folder_ / "libbroken.so");
  EXPECT_EQ(json["candidates"][0]["stage"], "found");
  EXPECT_EQ(json["candidates"][0]["usable"], false);
  EXPECT_NE(json["candidates"][0]["reason"], "");
}

TEST_F(BareInstallation, NoDriverIsAnEmptyJsonListAndStillAnError) {
  const Outcome outcome = spawn({"list", "devices", "--json"}, bare_);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(outcome.out), nlohmann::json::array());
  EXPECT_THAT(outcome.err, HasSubstr("There is no device. --vgpu"));
}

// A terminal's colours, by util-linux' script(1), which every Debian has.
TEST(CliUsage, TheKindOfAMessageIsInColourOnATerminal) {
  const auto on_terminal = [](std::map<std::string, std::string> environment) {
    environment.emplace("TERM", "xterm");
    const std::string command = std::string(HALYARD_PROGRAM) + " frobnicate";
    return spawn({"-qec", command, "/dev/null"},
                 {.program = "/usr/bin/script", .environment = std::move(environment)})
        .out;
  };
  EXPECT_THAT(on_terminal({}), HasSubstr("halyard: \x1b[1;31merror\x1b[0m: "));
  EXPECT_THAT(on_terminal({{"NO_COLOR", "1"}}), HasSubstr("halyard: error: "));
  EXPECT_THAT(on_terminal({{"TERM", "dumb"}}), HasSubstr("halyard: error: "));
  EXPECT_THAT(spawn({"frobnicate"}).err, HasSubstr("halyard: error: "));
}

}  // namespace
}  // namespace halyard::testing
