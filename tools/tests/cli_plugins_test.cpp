// Plugins that end the program, or that others may exchange: what `halyard` says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kDeadly = std::string(HALYARD_TEST_BROKEN_PLUGINS) + "/deadly/";

// A sanitizer's handlers would make exit codes of signals.
SpawnOptions with_plain_signals() {
  SpawnOptions options;
  for (const char* const name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const char* const before = std::getenv(name);
    options.environment[name] =
        std::string(before == nullptr ? "" : before) +
        ":handle_segv=0:handle_sigill=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0";
  }
  return options;
}

TEST(CliPlugins, ListDriversSurvivesAllOfThemAndSaysWhatEachDid) {
  const std::vector<std::string> list = {"list",
                                         "drivers",
                                         "--plugin-path=" + kDeadly + "crashes_in_constructor.so",
                                         "--plugin-path=" + kDeadly + "exits_in_constructor.so",
                                         "--plugin-path=" + kDeadly + "exits_silently.so",
                                         std::string("--plugin-path=") + HALYARD_TEST_HOST_MEMORY};
  const Outcome outcome = spawn(list, with_plain_signals());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("DRIVER"), HasSubstr("host_memory"),
                    HasSubstr("crashes_in_constructor.so stopped after the stage \"found\": The "
                              "plugin crashed with signal 11 (SIGSEGV) while it was being opened"),
                    HasSubstr("exits_in_constructor.so stopped after the stage \"found\": The "
                              "plugin called exit(3) while it was being opened"),
                    HasSubstr("The plugin called exit(0) while")));

  std::vector<std::string> json_list = list;
  json_list.emplace_back("--json");
  const Outcome json_outcome = spawn(json_list, with_plain_signals());
  const auto json = nlohmann::json::parse(json_outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << json_outcome.out << json_outcome.err;
  EXPECT_EQ(json["candidates"][0]["fatal"], true);
  EXPECT_EQ(json["candidates"][0]["usable"], false);
  EXPECT_EQ(json["candidates"][3]["fatal"], false);
  EXPECT_EQ(json["candidates"][3]["usable"], true);
}

TEST(CliPlugins, ListDriversEndsAPluginThatDoesNotReturn) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "bin");
  SpawnOptions bare = with_plain_signals();
  bare.program = folder / "bin/halyard";
  std::filesystem::copy_file(HALYARD_PROGRAM, bare.program);
  const Outcome outcome = spawn(
      {"list", "drivers", "--timeout=1", "--plugin-path=" + kDeadly + "hangs_in_constructor.so"},
      bare);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("The plugin did not return within 1 s while it was being"));
}

// Config key: plugins.load_timeout
TEST(CliPlugins, AnyOtherCommandEndsIfAPluginDoesNotReturn) {
  const TemporaryFolder folder;
  const std::string config = folder / "limit.yaml";
  write_bytes(config, "plugins: {load_timeout: 500ms}\n");
  const std::string path = kDeadly + "hangs_in_constructor.so";
  const std::vector<std::vector<std::string>> commands = {
      {"list", "devices"}, {"dump", "devices"}, {"targets", "native"}};
  for (std::vector<std::string> words : commands) {
    words.push_back("--config=" + config);
    words.push_back("--plugin-path=" + path);
    const Outcome outcome = spawn(words, with_plain_signals());
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("The plugin (" + path + ") did not return within 0.5 s"));
  }
}

TEST(CliPlugins, AnyOtherCommandNamesThePluginThatEndsIt) {
  const std::string path = kDeadly + "crashes_in_constructor.so";
  const Outcome outcome = spawn({"list", "devices", "--plugin-path=" + path}, with_plain_signals());
  EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("halyard: The process ends with signal 11 (SIGSEGV)"),
                                 HasSubstr("(" + path + ")")));
}

TEST(CliPlugins, ALibraryWhoseEntryPointIsAVariableIsNotCalled) {
  const std::string path = std::string(HALYARD_TEST_BROKEN_PLUGINS) + "/entry_is_data.so";
  const Outcome outcome = spawn({"list", "devices", "--plugin-path=" + path});
  EXPECT_NE(outcome.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(outcome.err, HasSubstr("halyard_plugin is a variable, not a function"));
}

TEST(CliPlugins, FoldersThatEveryUserMayWriteToAreReported) {
  const TemporaryFolder folder;
  const std::string copy = folder / "libhalyard_driver_host_memory.so";
  std::filesystem::copy_file(HALYARD_TEST_HOST_MEMORY, copy);
  const auto outputs = [&] {
    const std::string path = "--plugin-path=" + folder.path();
    return spawn({"list", "drivers", path}).out + spawn({"list", "devices", path}).err +
           spawn({"list", "drivers", "--json", path}).out;
  };
  EXPECT_THAT(outputs(), Not(HasSubstr("every user")));
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  EXPECT_THAT(outputs(),
              AllOf(HasSubstr("\n" + folder.path() + ": warning: every user of this machine can"),
                    HasSubstr("halyard: warning: " + folder.path() + ": every user"),
                    HasSubstr("\"warning\": \"every user of this machine can write to ")));
}

}  // namespace
}  // namespace halyard::testing
