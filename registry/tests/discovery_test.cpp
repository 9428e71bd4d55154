#include "registry/discovery.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "registry/installation.h"
#include "temporary_folder.h"

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScopedVariable;
using testing::TemporaryFolder;

std::vector<std::string> paths_of(const LoadReport& report) {
  std::vector<std::string> paths;
  for (const Candidate& candidate : report.candidates) paths.push_back(candidate.path);
  return paths;
}

// Only what a test names, whatever the machine has.
DiscoveryOptions only(std::vector<std::string> paths) {
  return {.plugin_paths = std::move(paths), .use_environment = false, .use_installation = false};
}

TEST(DiscoveryTest, FilesOfAFolderAreSortedByName) {
  const TemporaryFolder folder;
  const std::string b = folder.add_file("b.so");
  const std::string c = folder.add_file("c.so");
  const std::string upper = folder.add_file("Z.so");
  const std::string a = folder.add_file("a.so");
  const LoadReport report = discover(only({folder.path()}));
  EXPECT_THAT(paths_of(report), ElementsAre(upper, a, b, c));
  EXPECT_EQ(report.places[0].candidates, 4u);
  EXPECT_FALSE(report.candidates[0].tried);
  EXPECT_EQ(report.candidates[0].stage, LoadStage::kFound);
}

TEST(DiscoveryTest, WhatIsNoSharedObjectIsIgnoredAndNamed) {
  const TemporaryFolder folder;
  folder.add_file("README");
  folder.add_file("lib.so.1");
  folder.add_file("x.so~");
  folder.add_folder("folder.so");
  const LoadReport report = discover(only({folder.path()}));
  EXPECT_THAT(report.candidates, IsEmpty());
  std::vector<std::string> ignored;
  for (const IgnoredFile& file : report.places[0].ignored) {
    ignored.push_back(file.name + ": " + file.reason);
  }
  EXPECT_THAT(
      ignored,
      ElementsAre("README: its name does not end in .so", "folder.so: it is a folder",
                  "lib.so.1: its name does not end in .so", "x.so~: its name does not end in .so"));
}

TEST(DiscoveryTest, APlaceThatIsNotThereIsReported) {
  const TemporaryFolder folder;
  const LoadReport report = discover(only({folder / "none", folder.path()}));
  ASSERT_EQ(report.places.size(), 2u);
  EXPECT_EQ(report.places[0].path, folder / "none");
  EXPECT_EQ(report.places[0].problem, "there is no such file or folder");
  EXPECT_EQ(report.places[1].problem, "");
}

TEST(DiscoveryTest, APathMayBeASingleFileOfAnyName) {
  const TemporaryFolder folder;
  const std::string file = folder.add_file("my.plugin");
  folder.add_file("other.so");
  const LoadReport report = discover(only({file}));
  EXPECT_THAT(paths_of(report), ElementsAre(file));
}

TEST(DiscoveryTest, OneFileUnderTwoNamesIsOneCandidate) {
  const TemporaryFolder folder;
  const std::string a = folder.add_file("one/a.so", "x");
  folder.add_link("one/b.so", "a.so");
  folder.add_link("two", "one");
  const LoadReport report = discover(only({folder / "one", folder / "two", a}));
  EXPECT_THAT(paths_of(report), ElementsAre(a));
  ASSERT_EQ(report.places.size(), 3u);
  EXPECT_EQ(report.places[0].ignored[0].name, "b.so");
  EXPECT_THAT(report.places[0].ignored[0].reason, HasSubstr("the same file as " + a));
  EXPECT_EQ(report.places[1].ignored.size(), 2u);
  EXPECT_EQ(report.places[2].ignored.size(), 1u);
}

TEST(DiscoveryTest, ADanglingLinkIsACandidateThatWillSayWhy) {
  const TemporaryFolder folder;
  const std::string link = folder.add_link("a.so", "nowhere");
  const LoadReport report = discover(only({folder.path()}));
  EXPECT_THAT(paths_of(report), ElementsAre(link));
  EXPECT_EQ(report.candidates[0].real_path, "");
}

TEST(DiscoveryTest, WhatEveryUserMayWriteToIsReported) {
  const TemporaryFolder folder;
  const std::string tight = folder.add_file("tight/a.so");
  const std::string loose = folder.add_file("tight/b.so");
  folder.add_file("loose/c.so");
  folder.add_file("sticky/d.so");
  folder.add_link("tight/e.so", "../loose/c.so");
  folder.add_link("tight/f.so", "../sticky/d.so");
  ASSERT_EQ(chmod(loose.c_str(), 0666), 0);
  ASSERT_EQ(chmod((folder / "loose").c_str(), 0777), 0);
  ASSERT_EQ(chmod((folder / "sticky").c_str(), 01777), 0);
  const auto warnings = [&](const std::vector<std::string>& paths) {
    const LoadReport report = discover(only(paths));
    std::string text;
    for (const SearchedPlace& place : report.places) text += place.warning + "|";
    for (const Candidate& candidate : report.candidates) {
      text += " " + std::filesystem::path(candidate.path).filename().string() + ":" +
              (candidate.warning.empty() ? "" : candidate.warning.substr(0, 60));
    }
    return text;
  };
  const std::string every = "every user of this machine can write to ";
  const auto cut = [](const std::string& text) { return text.substr(0, 60); };
  EXPECT_EQ(warnings({folder / "tight"}), "| a.so: b.so:" + cut(every + loose) +
                                              " e.so:" + cut(every + folder / "loose") + " f.so:");
  EXPECT_EQ(warnings({tight}), "| a.so:");
  EXPECT_THAT(warnings({folder / "loose"}), AllOf(HasSubstr(every + folder / "loose (mode 0777)"),
                                                  HasSubstr("chmod o-w| c.so:")));
  EXPECT_THAT(warnings({folder / "loose/c.so"}),
              HasSubstr("| c.so:" + cut(every + folder / "loose")));
  // Others can add a file there.
  EXPECT_THAT(warnings({folder / "sticky"}), HasSubstr("(mode 1777)"));
  EXPECT_EQ(warnings({folder / "sticky/d.so"}), "| d.so:");
  EXPECT_THAT(to_text(discover(only({folder / "loose"}))), HasSubstr("\n    warning: every user"));
}

TEST(DiscoveryTest, ExplicitThenEnvironmentThenInstallation) {
  const TemporaryFolder folder;
  const std::string c = folder.add_file("explicit/c.so");
  const std::string b1 = folder.add_file("env1/b.so");
  const std::string b2 = folder.add_file("env2/b.so");
  const std::string a = folder.add_file("prefix/lib/halyard/plugins/a.so");
  const ScopedVariable variable("HALYARD_PLUGIN_PATH",
                                ":" + folder / "env1" + "::" + folder / "env2" + ":");
  DiscoveryOptions options;
  options.plugin_paths = {folder / "explicit"};
  options.installation = folder / "prefix";
  const LoadReport report = discover(options);
  EXPECT_THAT(paths_of(report), ElementsAre(c, b1, b2, a));
  ASSERT_EQ(report.places.size(), 4u);
  EXPECT_EQ(report.places[0].origin, PluginOrigin::kExplicit);
  EXPECT_EQ(report.places[1].origin, PluginOrigin::kEnvironment);
  EXPECT_EQ(report.places[3].origin, PluginOrigin::kInstallation);
  options.use_environment = false;
  options.use_installation = false;
  EXPECT_THAT(paths_of(discover(options)), ElementsAre(c));
}

TEST(DiscoveryTest, ConfiguredPathsComeBehindTheEnvironments) {
  const TemporaryFolder folder;
  const std::string a = folder.add_file("config/a.so");
  const std::string b = folder.add_file("env/b.so");
  const std::string c = folder.add_file("prefix/lib/halyard/plugins/c.so");
  const ScopedVariable variable("HALYARD_PLUGIN_PATH", folder / "env");
  DiscoveryOptions options;
  options.configured_paths = {folder / "config"};
  options.installation = folder / "prefix";
  const LoadReport report = discover(options);
  EXPECT_THAT(paths_of(report), ElementsAre(b, a, c));
  EXPECT_EQ(report.candidates[1].origin, PluginOrigin::kConfig);
}

TEST(DiscoveryTest, APrivilegedProcessTakesNothingThatOthersMayWrite) {
  const TemporaryFolder folder;
  const std::string good = folder.add_file("good/a.so");
  const std::string loose = folder.add_file("good/b.so");
  folder.add_file("loose/c.so");
  folder.add_link("good/d.so", "../loose/c.so");
  folder.add_file("env/e.so");
  ASSERT_EQ(chmod((folder / "good").c_str(), 0755), 0);
  ASSERT_EQ(chmod(good.c_str(), 0644), 0);
  ASSERT_EQ(chmod(loose.c_str(), 0666), 0);
  ASSERT_EQ(chmod((folder / "loose").c_str(), 0777), 0);
  const ScopedVariable variable("HALYARD_PLUGIN_PATH", folder / "env");
  DiscoveryOptions options;
  options.plugin_paths = {folder / "good", folder / "loose"};
  options.use_installation = false;
  EXPECT_EQ(discover(options).candidates.size(), 4u);
  options.privileged = true;
  const LoadReport report = discover(options);
  EXPECT_THAT(paths_of(report), ElementsAre(good));
  ASSERT_EQ(report.places.size(), 2u) << "the environment does not count";
  ASSERT_EQ(report.places[0].ignored.size(), 2u);
  EXPECT_THAT(
      report.places[0].ignored[0].reason,
      HasSubstr("more privileges than its caller, and every user of this machine can write to " +
                loose));
  EXPECT_THAT(report.places[0].ignored[1].reason, HasSubstr(folder / "loose"));
  EXPECT_THAT(report.places[1].problem, HasSubstr("can write to " + folder / "loose"));

  // The group counts too.
  ASSERT_EQ(chmod(good.c_str(), 0664), 0);
  EXPECT_THAT(discover(options).candidates, IsEmpty());
}

// A Debian system has shared libraries one folder deeper, and Python modules deeper still.
TEST(DiscoveryTest, ThePrefixIsAboveTheNearestFolderOfProgramsOrLibraries) {
  EXPECT_EQ(installation_prefix_of("/usr/bin/halyard"), "/usr");
  EXPECT_EQ(installation_prefix_of("/usr/lib/x86_64-linux-gnu/libhalyard.so.0"), "/usr");
  EXPECT_EQ(installation_prefix_of("/usr/lib/python3/dist-packages/halyard/core.so"), "/usr");
  EXPECT_EQ(installation_prefix_of("/opt/halyard/lib64/libhalyard.so.0"), "/opt/halyard");
  EXPECT_EQ(installation_prefix_of("/home/lib/me/halyard/bin/halyard"), "/home/lib/me/halyard");
  EXPECT_EQ(installation_prefix_of("/opt/halyard/programs/halyard"), "/opt/halyard");
  EXPECT_EQ(installation_prefix_of("/bin/halyard"), "/");
  EXPECT_EQ(installation_prefix_of("/halyard"), "");
  EXPECT_EQ(installation_prefix_of("halyard"), "");
}

TEST(DiscoveryTest, TheInstallationIsFoundFromTheRunningProgram) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string prefix = program.parent_path().parent_path().string();
  EXPECT_THAT(installation_prefixes(), ElementsAre(prefix));
  EXPECT_THAT(installation_prefixes("/elsewhere"), ElementsAre("/elsewhere"));
  DiscoveryOptions options;
  options.use_environment = false;
  const LoadReport report = discover(options);
  ASSERT_EQ(report.places.size(), 1u);
  EXPECT_EQ(report.places[0].path, prefix + "/lib/halyard/plugins");
}

TEST(DiscoveryTest, FileNamesPromiseDrivers) {
  EXPECT_EQ(driver_of_file_name("/x/libhalyard_driver_amdgpu.so"), "amdgpu");
  EXPECT_EQ(driver_of_file_name("libhalyard_driver_a_1.so"), "a_1");
  EXPECT_EQ(driver_of_file_name("/x/libmine.so"), "");
  EXPECT_EQ(driver_of_file_name("libhalyard_driver_.so"), "");
  EXPECT_EQ(driver_of_file_name("libhalyard_driver_amdgpu-old.so"), "");
  EXPECT_EQ(driver_of_file_name("libhalyard_driver_so"), "");
  EXPECT_EQ(driver_of_file_name("libhalyard_driver_x/y.so"), "");
  EXPECT_EQ(driver_of_file_name(""), "");
}

TEST(DiscoveryTest, DriverNames) {
  EXPECT_TRUE(is_driver_name("a"));
  EXPECT_TRUE(is_driver_name("amd_gpu2"));
  EXPECT_TRUE(is_driver_name(std::string(64, 'a')));
  for (const std::string& bad :
       {std::string(), std::string("1a"), std::string("_a"), std::string("A"), std::string("a-b"),
        std::string("a:"), std::string("ä"), std::string(65, 'a')}) {
    EXPECT_FALSE(is_driver_name(bad)) << bad;
  }
}

TEST(ReportTextTest, NothingAtAllSaysWhatToDo) {
  EXPECT_THAT(to_text(LoadReport()), HasSubstr("--plugin-path"));
}

TEST(ReportTextTest, EveryPlaceCandidateStageAndReasonIsThere) {
  LoadReport report;
  report.places = {
      {PluginOrigin::kExplicit, "/none", "there is no such file or folder", "", 0, {}},
      {PluginOrigin::kInstallation, "/lib", "", "", 2, {{"README\x1b[31m", "it is no library"}}}};
  Candidate good;
  good.path = "/lib/a.so";
  good.tried = true;
  good.stage = LoadStage::kEnumerated;
  good.driver = "a";
  good.version = "1.5";
  good.abi_major = 1;
  good.device_count = 1;
  good.library_name = "liba.so.1";
  good.library_path = "/usr/lib/liba.so.1.0";
  good.library_version = "5.2";
  Candidate broken;
  broken.path = "/lib/b.so";
  broken.tried = true;
  broken.stage = LoadStage::kOpened;
  broken.reason = "undefined symbol: x\nand more";
  Candidate later;
  later.path = "/lib/c.so";
  report.candidates = {good, broken, later};
  EXPECT_EQ(to_text(report),
            "Places searched for driver plugins:\n"
            "  /none (plugin path): there is no such file or folder\n"
            "  /lib (installation): 2 candidates\n"
            "    ignored README\\x1b[31m: it is no library\n"
            "Plugins:\n"
            "  /lib/a.so\n"
            "    driver a 1.5, ABI 1.0\n"
            "    on liba.so.1 5.2 (/usr/lib/liba.so.1.0)\n"
            "    enumerated: 1 device\n"
            "  /lib/b.so\n"
            "    opened, then stopped: undefined symbol: x\n"
            "      and more\n"
            "  /lib/c.so\n"
            "    found; not opened, as nothing has needed it\n");
}

}  // namespace
}  // namespace halyard
