// `halyard vgpu exec`: other programs on the virtual GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> exec_command(const std::vector<std::string>& options,
                                      const std::vector<std::string>& program) {
  std::vector<std::string> words = {"vgpu", "exec"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

// What the program that was started sees as its GPU. `halyard` itself is such a program.
std::string target_under(const std::vector<std::string>& options,
                         const SpawnOptions& spawn_options = {}) {
  const Outcome outcome =
      spawn(exec_command(options, {HALYARD_PROGRAM, "list", "devices", "--json"}), spawn_options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto devices = nlohmann::json::parse(outcome.out, nullptr, false);
  return devices.is_array() && !devices.empty() ? devices[0]["target"].get<std::string>() : "";
}

TEST(CliVgpuExec, AProgramSeesTheProfilesGpu) {
  EXPECT_THAT(target_under({}), HasSubstr("gfx900"));
  EXPECT_THAT(target_under({"--profile", "gfx906"}), HasSubstr("gfx906"));
  EXPECT_THAT(target_under({"--profile=gfx90a"}), HasSubstr("gfx90a"));
}

TEST(CliVgpuExec, TheProfileMayComeFromTheEnvironmentOrAFile) {
  SpawnOptions environment;
  environment.environment["HALYARD_VGPU_PROFILE"] = "gfx908";
  EXPECT_THAT(target_under({}, environment), HasSubstr("gfx908"));
  EXPECT_THAT(target_under({"--profile=gfx906"}, environment), HasSubstr("gfx906"));

  const TemporaryFolder folder;
  write_bytes(folder / "mine.yaml", "extends: gfx90a\ngpu:\n  memory_size: 1GiB\n");
  EXPECT_THAT(target_under({"--profile", folder / "mine.yaml"}), HasSubstr("gfx90a"));
}

TEST(CliVgpuExec, AFileIsFoundFromAnotherFolder) {
  const TemporaryFolder folder;
  write_bytes(folder / "mine.yaml", "extends: gfx906\n");
  const std::string inner = "cd / && exec \"$0\" list devices --json";
  const std::string outer =
      "cd \"$1\" && exec \"$0\" vgpu exec --profile ./mine.yaml -- sh -c '" + inner + "' \"$0\"";
  SpawnOptions options;
  options.program = "/bin/sh";
  const Outcome outcome = spawn({"-c", outer, HALYARD_PROGRAM, folder.path()}, options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gfx906"));
}

TEST(CliVgpuExec, TheProgramKeepsItsArgumentsAndItsExitCode) {
  const Outcome outcome = spawn(
      exec_command({}, {"sh", "-c", "printf '%s|' \"$@\"; exit 7", "sh", "--profile", "a b"}));
  EXPECT_EQ(outcome.out, "--profile|a b|");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(spawn(exec_command({}, {"sh", "-c", "kill -9 $$"})).exit_code, 128 + 9);
}

TEST(CliVgpuExec, TheProgramsOwnPreloadedLibrariesStay) {
  SpawnOptions options;
  options.environment["LD_PRELOAD"] = "libm.so.6";
  const Outcome outcome = spawn(exec_command({}, {"printenv", "LD_PRELOAD"}), options);
  EXPECT_THAT(outcome.out, HasSubstr("/libhalyard-kfd-preload.so.0:libm.so.6\n"));
}

TEST(CliVgpuExec, RocminfoPrintsTheGpusOfTheKernelDriver) {
  const Outcome outcome = spawn(exec_command({"--profile=mixed"}, {"rocminfo"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* isa : {"amdgcn-amd-amdhsa--gfx900:xnack-", "amdgcn-amd-amdhsa--gfx90a:"})
    EXPECT_THAT(outcome.out, HasSubstr(isa));
  EXPECT_THAT(outcome.out, HasSubstr("Halyard virtual GPU (Aldebaran)"));
}

TEST(CliVgpuExec, TheEnumeratorPrintsTheProcessorOfEachGpu) {
  const Outcome outcome = spawn(exec_command({"--profile=mixed"}, {"rocm_agent_enumerator"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, EndsWith("gfx900\ngfx906\ngfx908\ngfx90a\n"));
}

// Whether a command of this name is installed.
bool has_command(const std::string& name) {
  SpawnOptions options;
  options.program = "/bin/sh";
  return spawn({"-c", "command -v " + name}, options).exit_code == 0;
}

size_t count_of(const std::string& text, const std::string& words) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
}

TEST(CliVgpuExec, RocmSmiListsTheGpusAndTheirMemory) {
  if (!has_command("rocm-smi")) GTEST_SKIP() << "rocm-smi is not installed (Debian: rocm-smi).";
  const auto run = [](const std::string& profile, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"rocm-smi"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Outcome outcome = spawn(exec_command({"--profile=" + profile}, words));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return outcome.out;
  };
  // Its exit code says, in 5.2.3, that a virtual GPU has no sensors.
  EXPECT_THAT(spawn(exec_command({"--profile=gfx900"}, {"rocm-smi"})).out,
              AllOf(HasSubstr("Concise Info"), HasSubstr("VRAM%"), HasSubstr("\n0  ")));
  EXPECT_THAT(run("gfx900", {"--showid"}), HasSubstr("0x687f"));
  EXPECT_EQ(count_of(run("two-gfx90a", {"--showid"}), "0x740f"), 2u);
  EXPECT_THAT(run("two-gfx90a", {"--showbus"}),
              AllOf(HasSubstr("0000:43:00.0"), HasSubstr("0000:46:00.0")));
  EXPECT_THAT(run("two-gfx90a", {"--showuniqueid"}),
              AllOf(HasSubstr("48414c5944390a10"), HasSubstr("48414c5944390a11")));
  EXPECT_EQ(count_of(run("two-gfx90a", {"--showtopo"}), "XGMI"), 2u);
  EXPECT_THAT(run("mixed", {"--showmeminfo", "vram"}),
              AllOf(HasSubstr("VRAM Total Memory (B): 8589934592\n"),
                    HasSubstr("VRAM Total Memory (B): 17179869184\n"),
                    HasSubstr("VRAM Total Used Memory (B): ")));
}

TEST(CliVgpuExec, AmdSmiListsTheGpus) {
  if (!has_command("amd-smi")) GTEST_SKIP() << "amd-smi is not installed (Debian 13: amd-smi).";
  const Outcome outcome = spawn(exec_command({"--profile=two-gfx90a"}, {"amd-smi", "list"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("0000:43:00.0"), HasSubstr("0000:46:00.0")));
}

TEST(CliVgpuExec, TheHostsPciDevicesStayVisible) {
  const auto list = [](const std::vector<std::string>& before) {
    std::vector<std::string> words = before;
    words.insert(words.end(),
                 {"/bin/sh", "-c",
                  "for d in /sys/bus/pci/devices/*; do "
                  "readlink $d; realpath $d; cat $d/vendor $d/../$(basename $d)/class; "
                  "done"});
    SpawnOptions options;
    options.program = words[0];
    words.erase(words.begin());
    return spawn(words, options).out;
  };
  const std::string host = list({});
  const std::string both = list({HALYARD_PROGRAM, "vgpu", "exec", "--"});
  const std::string gpu =
      "../../../devices/virtual/pci/0000:03:00.0\n"
      "/sys/devices/virtual/pci/0000:03:00.0\n0x1002\n0x038000\n";
  const size_t at = both.find(gpu);
  ASSERT_NE(at, std::string::npos) << both;
  if (host.find("/0000:03:00.0\n") == std::string::npos && host.find('*') == std::string::npos) {
    EXPECT_EQ(both.substr(0, at) + both.substr(at + gpu.size()), host);
  }
}

TEST(CliVgpuExec, TheKernelDriversFilesLookLikeADriversToOtherPrograms) {
  const auto run = [](const std::string& command) {
    const Outcome outcome = spawn(exec_command({}, {"sh", "-c", command}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(run("stat -c '%F' /dev/kfd /dev/dri/renderD128"),
            "character special file\ncharacter special file\n");
  EXPECT_EQ(run("cat /sys/class/kfd/kfd/topology/nodes/0/gpu_id"), "0\n");
  EXPECT_EQ(run("readlink -f /sys/class/kfd/kfd"), "/sys/devices/virtual/kfd/kfd\n");
  EXPECT_EQ(run("cat /sys/module//amdgpu/./initstate"), "live\n");
  // Everything else is as it is.
  EXPECT_EQ(run("stat -c '%F' /dev/null; cat /proc/sys/kernel/ostype"),
            "character special file\nLinux\n");
}

TEST(CliVgpuExec, FilesGoWhereTmpdirSays) {
  const TemporaryFolder folder;
  SpawnOptions options;
  options.environment = {{"XDG_RUNTIME_DIR", ""}, {"TMPDIR", folder.path()}};
  const Outcome good = spawn(exec_command({}, {"printenv", "HALYARD_VGPU_ROOT"}), options);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr(folder / "halyard-vgpu-"));
  options.environment["TMPDIR"] = "/nonexistent/tmp";
  const Outcome bad =
      spawn(exec_command({"--counts=" + (folder / "counts")}, {"echo", "started"}), options);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.err, HasSubstr("Set TMPDIR to a folder that this user can write to"));
}

TEST(CliVgpuExec, ReportsReplaceNothingThatIsRead) {
  const TemporaryFolder folder;
  write_bytes(folder / "program", "#!/bin/sh\necho started\n");
  std::filesystem::permissions(folder / "program", std::filesystem::perms::owner_all);
  write_bytes(folder / "mine.yaml", "extends: gfx906\n");
  write_bytes(folder / "data", "numbers\n");
  std::filesystem::create_symlink("program", folder / "link");
  for (const char* const name : {"program", "link", "mine.yaml", "data"}) {
    const Outcome outcome =
        spawn(exec_command({"--profile=" + (folder / "mine.yaml"), "--counts=" + (folder / name)},
                           {folder / "program", folder / "data"}));
    EXPECT_EQ(outcome.exit_code, 1) << name;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("is a file that the command reads ("));
    EXPECT_NE(read_bytes(folder / name), "");
  }
  const std::string one = folder / "report";
  const Outcome both =
      spawn(exec_command({"--trace=" + one, "--counts=" + (folder / "./report")}, {"true"}));
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.err, HasSubstr("--trace and --counts name one file ("));
  EXPECT_EQ(spawn(exec_command({"--trace=/dev/null", "--counts=/dev/null"}, {"true"})).exit_code,
            0);
  // A folder among the arguments is no harm, and a report is written again.
  write_bytes(one, "old\n");
  EXPECT_EQ(spawn(exec_command({"--counts=" + one}, {"ls", folder.path()})).exit_code, 0);
}

TEST(CliVgpuExec, MistakesStopTheProgramBeforeItStarts) {
  const Outcome profile = spawn(exec_command({"--profile=gfx90"}, {"echo", "started"}));
  EXPECT_EQ(profile.exit_code, 1);
  EXPECT_EQ(profile.out, "");
  EXPECT_THAT(profile.err, HasSubstr("did you mean gfx900?"));

  const Outcome program = spawn(exec_command({}, {"/nonexistent/program"}));
  EXPECT_EQ(program.exit_code, 1);
  EXPECT_THAT(program.err, HasSubstr("The program (/nonexistent/program) cannot be run: No such"));

  const Outcome option = spawn({"vgpu", "exec", "ls", "-l"});
  EXPECT_EQ(option.exit_code, 1);
  EXPECT_THAT(option.err, HasSubstr("halyard vgpu exec has no option (-l)"));
  EXPECT_THAT(spawn({"vgpu", "exec"}).err, HasSubstr("program is required"));

  // Neither a file of the name "--" nor one of an option's.
  for (const char* const forgetful : {"--trace", "--counts", "--profile"}) {
    const Outcome value = spawn({"vgpu", "exec", forgetful, "--", "echo", "started"});
    EXPECT_EQ(value.exit_code, 1);
    EXPECT_EQ(value.out, "");
    EXPECT_THAT(value.err, HasSubstr(std::string(forgetful) + ": its value (--) is missing"));
  }
}

}  // namespace
}  // namespace halyard::testing
