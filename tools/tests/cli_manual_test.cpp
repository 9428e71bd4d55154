// halyard man and halyard completion: they have what --help has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliManual : public CliTest {};

// The first word of each line of --help's list of commands, or the long options.
std::vector<std::string> words_of_help(const std::vector<std::string>& command,
                                       const std::string& pattern) {
  std::vector<std::string> words = command;
  words.emplace_back("--help");
  const std::string help = spawn(words).out;
  std::vector<std::string> found;
  const std::regex regex(pattern);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, regex)) found.push_back(match[1]);
  }
  return found;
}
std::vector<std::string> commands_of_help(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  words.emplace_back("--help");
  const std::string help = spawn(words).out;
  const size_t begin = help.find("Subcommands:");
  if (begin == std::string::npos) return {};
  std::vector<std::string> found;
  std::istringstream lines(help.substr(begin));
  std::string line;
  std::getline(lines, line);
  const std::regex regex("^  ([a-z-]+) ");
  while (std::getline(lines, line) && line.starts_with("  ")) {
    std::smatch match;
    if (std::regex_search(line, match, regex)) found.push_back(match[1]);
  }
  return found;
}

std::string escaped(const std::string& text) {
  return std::regex_replace(text, std::regex("-"), "\\-");
}

TEST_F(CliManual, EachCommandOfTheHelpHasAPageWithItsOptions) {
  const Outcome outcome = spawn({"man", "--output-dir=" + (folder_ / "man1")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> commands = commands_of_help({});
  ASSERT_THAT(commands, ::testing::IsSupersetOf({"run", "doctor", "list", "man", "completion"}));
  const std::string program = read_bytes(folder_ / "man1/halyard.1");
  size_t pages = 1;
  const auto check = [&](const std::vector<std::string>& command) {
    std::string name = "halyard";
    for (const std::string& word : command) name += "-" + word;
    SCOPED_TRACE(name);
    const std::string page = read_bytes(folder_ / ("man1/" + name + ".1"));
    EXPECT_THAT(page, AllOf(StartsWith(".TH HALYARD"), HasSubstr(".SH NAME\n" + escaped(name)),
                            HasSubstr(".SH EXIT STATUS"), ContainsRegex("\nExamples?:\n")));
    const auto options = words_of_help(command, "^  (?:-[a-z],)?(--[a-z-]+)");
    EXPECT_THAT(options, ::testing::Contains("--help"));
    for (const std::string& option : options) EXPECT_THAT(page, HasSubstr(escaped(option)));
    ++pages;
  };
  for (const std::string& command : commands) {
    EXPECT_THAT(program, HasSubstr("halyard\\-" + escaped(command)));
    check({command});
    for (const std::string& below : commands_of_help({command})) check({command, below});
  }
  const auto files = fs::directory_iterator(folder_ / "man1");
  EXPECT_EQ(static_cast<size_t>(std::distance(begin(files), end(files))), pages);
}

TEST_F(CliManual, GroffFindsNothingToComplainAbout) {
  if (!fs::exists("/usr/bin/groff")) GTEST_SKIP() << "Skipped: groff is not installed.";
  ASSERT_EQ(spawn({"man", "--output-dir=" + folder_.path()}).exit_code, 0);
  for (const auto& page : fs::directory_iterator(folder_.path())) {
    SCOPED_TRACE(page.path());
    const Outcome outcome = spawn({"-man", "-Tutf8", "-wmac", "-wreg", "-z", page.path().string()},
                                  {.program = "/usr/bin/groff"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
  }
}

TEST_F(CliManual, OnePageOrAnErrorThatListsThem) {
  const Outcome page = spawn({"man", "list", "devices"});
  EXPECT_THAT(page.out, StartsWith(".TH HALYARD\\-LIST\\-DEVICES 1"));
  const Outcome none = spawn({"man", "lsit"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("(halyard-lsit)"), HasSubstr("halyard-list-devices")));
}

// What bash would offer at the end of a line.
std::vector<std::string> offered(const std::string& script, const std::string& line) {
  const std::string program =
      "source \"$1\"; read -ra COMP_WORDS <<<\"$2\"; "
      "case $2 in *' ') COMP_WORDS+=('') ;; esac; "
      "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _halyard; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const Outcome outcome =
      spawn({"--norc", "-c", program, "bash", script, line}, {.program = "/bin/bash"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> words;
  std::istringstream lines(outcome.out);
  for (std::string word; std::getline(lines, word);) words.push_back(word);
  return words;
}

TEST_F(CliManual, BashCompletesCommandsAndOptions) {
  const std::string script = folder_ / "halyard.bash";
  write_bytes(script, spawn({"completion", "bash"}).out);
  EXPECT_THAT(offered(script, "halyard doc"), ElementsAre("doctor"));
  EXPECT_THAT(offered(script, "halyard list "), ::testing::IsSupersetOf({"drivers", "devices"}));
  EXPECT_THAT(offered(script, "halyard list d"), ElementsAre("drivers", "devices"));
  EXPECT_THAT(offered(script, "halyard list devices --js"), ElementsAre("--json"));
  EXPECT_THAT(offered(script, "halyard run --print-st"), ElementsAre("--print-statistics"));
  // An option of another command is not one here.
  EXPECT_THAT(offered(script, "halyard targets --print-st"), ElementsAre(""));
}

TEST_F(CliManual, BashCompletesNames) {
  const std::string script = folder_ / "halyard.bash";
  write_bytes(script, spawn({"completion", "bash"}).out);
  const std::string halyard = HALYARD_PROGRAM;
  // Bash takes "--vgpu=gfx9" for three words.
  EXPECT_THAT(offered(script, halyard + " run --vgpu = gfx90"),
              ::testing::IsSupersetOf({"gfx900", "gfx906", "gfx908", "gfx90a"}));
  EXPECT_THAT(offered(script, halyard + " run --vgpu=gfx908"), ElementsAre("--vgpu=gfx908"));
  EXPECT_THAT(offered(script, halyard + " vgpu exec --profile mi21"), ElementsAre("mi210"));
  EXPECT_THAT(offered(script, halyard + " compile --target gfx94"), ::testing::Contains("gfx942"));
  EXPECT_THAT(offered(script, halyard + " compile --target = gfx900,mi300"),
              ::testing::Contains("gfx900,mi300x"));
  EXPECT_THAT(offered(script, halyard + " targets cdna"), ::testing::Contains("cdna3"));
  EXPECT_THAT(offered(script, halyard + " run --device = am"), ElementsAre("amdgpu"));
  EXPECT_THAT(offered(script, halyard + " list devices h"), ::testing::Contains("hip"));
}

TEST_F(CliManual, NamesForCompletionsKnowConfigs) {
  std::filesystem::create_directory(folder_ / "halyard");
  write_bytes(folder_ / "halyard/a.yaml",
              "devices: {fast: 'amdgpu:0'}\nvirtual_gpus: {tiny: {profile: gfx900}}\n");
  SpawnOptions with;
  with.environment["XDG_CONFIG_HOME"] = folder_.path();
  EXPECT_THAT(spawn({"complete", "device"}, with).out, HasSubstr("fast\n"));
  EXPECT_THAT(spawn({"complete", "profile"}, with).out, HasSubstr("tiny\n"));
}

TEST_F(CliManual, FishGetsEveryCommandOptionAndName) {
  const Outcome outcome = spawn({"completion", "fish"});
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("complete -c halyard -n '__halyard_at halyard' -f -a 'doctor'"),
            HasSubstr("-l vgpu -f -a '(__halyard_names profile)'"),
            HasSubstr("'__halyard_at halyard list devices' -f -a '(__halyard_names device)'")));
  for (const std::string& command : commands_of_help({})) {
    EXPECT_THAT(outcome.out, HasSubstr("case 'halyard " + command + "'"));
  }
  if (!fs::exists("/usr/bin/fish")) return;
  write_bytes(folder_ / "halyard.fish", outcome.out);
  const std::string line = std::string(HALYARD_PROGRAM) + " run --device=am";
  const Outcome offers =
      spawn({"--no-config", "-c",
             "source " + (folder_ / "halyard.fish") + "; complete -C '" + line + "'"},
            // Where it makes a folder of its own.
            {.program = "/usr/bin/fish", .environment = {{"XDG_CONFIG_HOME", folder_.path()}}});
  EXPECT_THAT(offers.out, HasSubstr("--device=amdgpu")) << offers.err;
}

TEST_F(CliManual, ZshGetsEveryCommandWithItsDescription) {
  const Outcome outcome = spawn({"completion", "zsh"});
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("#compdef halyard\n"), HasSubstr("'doctor:Check the machine"),
                    HasSubstr("'*--repeat=[The number of launches, in order]:COUNT:"),
                    HasSubstr("--libhsa")));
  for (const std::string& command : commands_of_help({})) {
    EXPECT_THAT(outcome.out, HasSubstr("'halyard " + command + "')"));
  }
  if (!fs::exists("/usr/bin/zsh")) return;
  write_bytes(folder_ / "_halyard", outcome.out);
  const Outcome parsed = spawn({"-n", folder_ / "_halyard"}, {.program = "/usr/bin/zsh"});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
}

}  // namespace
}  // namespace halyard::testing
