// halyard config, and what configs change for the other commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliConfigTest : public ::testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view text) const {
    write_bytes(folder_ / name, std::string(text));
    return folder_ / name;
  }
  // Without the configs of the person who runs the test.
  SpawnOptions options(std::map<std::string, std::string> more = {}) const {
    SpawnOptions options;
    options.environment = std::move(more);
    options.environment.emplace("XDG_CONFIG_HOME", folder_.path());
    return options;
  }
  std::string good(const std::vector<std::string>& words, const SpawnOptions& with) const {
    const Outcome outcome = spawn(words, with);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }

  TemporaryFolder folder_;
  const std::string host_memory_ = std::string("--plugin-path=") + HALYARD_TEST_HOST_MEMORY;
};

TEST_F(CliConfigTest, ShowSaysWhereEachValueComesFrom) {
  const std::string config =
      file("a.yaml", "logging: {level: warning}\ndrivers:\n  hip:\n    libhip: /opt/a\n");
  const SpawnOptions with = options({{"HALYARD_VALIDATION", "none"}});
  const std::string plain = good({"config", "show", "--config=" + config, "--libhsa=/opt/b"}, with);
  EXPECT_THAT(plain, AllOf(HasSubstr("logging:\n  level: warning\n"),
                           HasSubstr("validation:\n  level: none\n"), Not(HasSubstr("#"))));
  EXPECT_THAT(good({"config", "show", "--origin", "--config=" + config, "--libhsa=/opt/b"}, with),
              AllOf(HasSubstr("# " + config + ":1:18\n"), HasSubstr("# " + config + ":4:13\n"),
                    HasSubstr("# HALYARD_VALIDATION\n"), HasSubstr("# --libhsa\n")));
  // What is shown is a config.
  EXPECT_THAT(good({"config", "check", file("shown.yaml", plain)}, with),
              HasSubstr("shown.yaml: "));
}

TEST_F(CliConfigTest, CheckPrintsEveryMistakeOfAFile) {
  const Outcome outcome =
      spawn({"config", "check", file("bad.yaml", "loging: {}\nvalidation: {level: 7}\n")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("bad.yaml:1:1: The key (loging) is unknown in the file, did you mean "
                              "logging?"),
                    HasSubstr("bad.yaml:2:21: validation.level (7) is unknown; it must be one of: "
                              "full, none.")));
}

TEST_F(CliConfigTest, CheckFindsWhatLoadingWouldRefuseInTheOrderOfLines) {
  const std::string config = file("names.yaml",
                                  "devices:\n"
                                  "  one: two\n"
                                  "  two: one\n"
                                  "vgpu: {profile: gfx90b}\n"
                                  "virtual_gpus:\n"
                                  "  small: {memory_size: 1GiB}\n"
                                  "  mine: {profile: /nowhere/mine.yaml}\n"
                                  "  other: {profile: mine}\n"
                                  "logging: {level: loud}\n");
  const Outcome outcome = spawn({"config", "check", config}, options());
  EXPECT_EQ(outcome.exit_code, 1);
  std::istringstream lines(outcome.err);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  EXPECT_THAT(
      found,
      ElementsAre(HasSubstr("names.yaml:2:8: devices.one (two) names another name"),
                  HasSubstr("names.yaml:3:8: devices.two (one) names another name"),
                  AllOf(HasSubstr("names.yaml:4:17: vgpu.profile (gfx90b) is not a profile"),
                        HasSubstr("Did you mean \"gfx90")),
                  HasSubstr("names.yaml:6:24: The virtual GPU small has no profile"),
                  HasSubstr("names.yaml:7:19: virtual_gpus.mine.profile (/nowhere/mine.yaml) "
                            "is not a file"),
                  HasSubstr("names.yaml:8:20: virtual_gpus.other.profile (mine) is not a "
                            "profile"),
                  HasSubstr("names.yaml:9:18: logging.level (loud) is unknown")));
  const std::string good_config =
      file("good.yaml", "virtual_gpus:\n  mine: {profile: gfx90a}\nvgpu: {profile: mine}\n");
  EXPECT_THAT(good({"config", "check", good_config}, options()), HasSubstr("no mistake"));
}

TEST_F(CliConfigTest, SchemaIsJson) {
  const auto schema = nlohmann::json::parse(good({"config", "schema"}, options()), nullptr, false);
  ASSERT_TRUE(schema.is_object());
  EXPECT_TRUE(schema["properties"].contains("plugins"));
}

TEST_F(CliConfigTest, AMistakeInAConfigStopsACommand) {
  const std::string config = file("a.yaml", "plugin: {}\n");
  const Outcome outcome = spawn({"list", "devices", "--config=" + config}, options());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, StartsWith("halyard: error: " + config + ":1:1: The key (plugin)"));
}

TEST_F(CliConfigTest, ADriverIsTurnedOff) {
  const std::string config = file("a.yaml", "drivers: {host_memory: {enabled: false}}\n");
  const auto json = nlohmann::json::parse(
      good({"list", "drivers", "--json", host_memory_, "--config=" + config}, options()), nullptr,
      false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["candidates"][0]["disabled"], true);
  EXPECT_EQ(json["candidates"][0]["stage"], "found");
}

TEST_F(CliConfigTest, NamedDevicesAreListed) {
  const std::string config = file("a.yaml", "devices: {trainer: [host_memory]}\n");
  const auto list = [&](const std::string& name) {
    return spawn({"list", "devices", name, "--json", host_memory_, "--config=" + config},
                 options());
  };
  const auto json = nlohmann::json::parse(list("trainer").out, nullptr, false);
  ASSERT_EQ(json.size(), 1u) << json.dump();
  EXPECT_EQ(json[0]["uri"], "host_memory:0");
  EXPECT_THAT(list("trianer").err, HasSubstr("Did you mean \"trainer\"?"));
}

TEST_F(CliConfigTest, TheUsersConfigsAreRead) {
  ASSERT_EQ(mkdir((folder_ / "halyard").c_str(), 0755), 0);
  file("halyard/a.yaml", "logging: {level: error}\n");
  EXPECT_THAT(good({"config", "show"}, options()), HasSubstr("level: error"));
}

// The notes say why drivers have no devices.
// Config key: logging.level
TEST_F(CliConfigTest, TheLogLevelSilencesNotes) {
  const std::string broken =
      std::string("--plugin-path=") + HALYARD_TEST_BROKEN_PLUGINS + "/no_devices.so";
  const std::vector<std::string> list = {"list", "devices", host_memory_, broken};
  EXPECT_THAT(spawn(list, options()).err, HasSubstr("halyard: note: "));
  EXPECT_THAT(spawn(list, options({{"HALYARD_LOG_LEVEL", "warning"}})).err,
              Not(HasSubstr("halyard: note: ")));
}

// A copy of the program that runs as another user than the one who starts it: AT_SECURE is set.
class CliSetUserId : public CliConfigTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "Only root makes a set-user-ID program of somebody else.";
    struct statvfs mount = {};
    ASSERT_EQ(statvfs(folder_.path().c_str(), &mount), 0);
    if ((mount.f_flag & ST_NOSUID) != 0) {
      GTEST_SKIP() << "The folder's mount has the option nosuid.";
    }
    constexpr uid_t kNobody = 65534;
    ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
    ASSERT_EQ(mkdir((folder_ / "bin").c_str(), 0755), 0);
    std::filesystem::copy_file(HALYARD_PROGRAM, program_);
    ASSERT_EQ(chown(program_.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(chmod(program_.c_str(), 04755), 0);
  }
  // LeakSanitizer cannot look into a process of another user.
  SpawnOptions secure(std::map<std::string, std::string> environment) const {
    environment["ASAN_OPTIONS"] = "detect_leaks=0";
    SpawnOptions with = options(std::move(environment));
    with.program = program_;
    return with;
  }

  const std::string program_ = folder_ / "bin/halyard";
};

TEST_F(CliSetUserId, IgnoresTheEnvironment) {
  const SpawnOptions with = secure({{"HALYARD_VALIDATION", "none"}});
  EXPECT_THAT(spawn({"config", "show"}, options({{"HALYARD_VALIDATION", "none"}})).out,
              HasSubstr("level: none"));
  const Outcome outcome = spawn({"config", "show"}, with);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("validation:\n  level: full"));

  const std::string config = file("open.yaml", "validation: {level: none}\n");
  ASSERT_EQ(chmod(config.c_str(), 0666), 0);
  EXPECT_THAT(spawn({"config", "show", "--config=" + config}, with).err,
              HasSubstr("This process has more privileges than its caller"));
  EXPECT_THAT(spawn({"config", "show", "--config=" + config}, options()).err,
              HasSubstr("halyard: warning: " + config + ": every user of this machine can write"));
}

// Neither the caller's compilers, nor variables for the system's.
TEST_F(CliSetUserId, RunsTheSystemsCompilers) {
  ASSERT_EQ(mkdir((folder_ / "open").c_str(), 0755), 0);
  ASSERT_EQ(chmod((folder_ / "open").c_str(), 0777), 0);
  for (const char* const name : {"bin/clang-22", "bin/clang", "bin/ld.lld-22", "bin/ld.lld"}) {
    file(name, "#!/bin/sh\nid -u > " + (folder_ / "open/ran") + "\nexit 1\n");
    ASSERT_EQ(chmod((folder_ / name).c_str(), 0755), 0);
  }
  file("open/factor.h", "#error from CPATH\n");
  const std::string source = file("k.c",
                                  "#if __has_include(<factor.h>)\n#include <factor.h>\n#endif\n"
                                  "__attribute__((amdgpu_kernel)) void k(int *p) { *p = 1; }\n");
  const Outcome outcome =
      spawn({"compile", source, "--target=gfx900", "-o", folder_ / "open/k.hsaco"},
            secure({{"PATH", folder_ / "bin"},
                    {"HALYARD_CLANG", folder_ / "bin/clang"},
                    {"HALYARD_LLD", folder_ / "bin/ld.lld"},
                    {"CPATH", folder_ / "open"},
                    {"TMPDIR", folder_ / "open"}}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "open/ran"));
  const size_t missing = outcome.err.find("Install the Debian package");
  if (missing != std::string::npos) GTEST_SKIP() << "Skipped: " << outcome.err.substr(missing);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(CliSetUserId, PutsNoVirtualGpuIntoOtherPrograms) {
  const Outcome outcome = spawn({"vgpu", "exec", "--", "id", "-u"}, secure({}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("runs no program with more privileges than its caller"));
}

}  // namespace
}  // namespace halyard::testing
