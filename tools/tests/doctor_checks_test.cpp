#include "tools/halyard/doctor_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tools/tests/support.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using State = Finding::State;

// A machine in a folder, seen by a user who owns nothing in it.
class DoctorChecks : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.root = folder_.path();
    machine_.user = getuid() + 4321;
    machine_.user_name = "ada";
    fs::create_directories(folder_ / "sys/module/amdgpu");
    fs::create_directories(folder_ / "dev/dri");
    make("dev/kfd", 0660);
    make("dev/dri/renderD128", 0660);
  }
  void make(const std::string& name, mode_t mode) {
    testing::write_bytes(folder_ / name, "");
    ASSERT_EQ(chmod((folder_ / name).c_str(), mode), 0);
  }
  std::vector<State> states() const {
    std::vector<State> states;
    for (const Finding& finding : check_kernel_driver(machine_)) states.push_back(finding.state);
    return states;
  }

  testing::TemporaryFolder folder_;
  MachineView machine_;
};

TEST_F(DoctorChecks, AMemberOfTheGroupMayUseTheDeviceFiles) {
  machine_.groups = {getgid()};
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kOk, State::kOk));
  machine_.groups = {getgid() + 1};
  const std::vector<Finding> findings = check_kernel_driver(machine_);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[1].check, "/dev/kfd");
  EXPECT_EQ(findings[1].state, State::kWrong);
  EXPECT_THAT(findings[1].text, HasSubstr("members of the group"));
  EXPECT_THAT(findings[1].fix, AllOf(HasSubstr("usermod -aG"), HasSubstr("ada")));
  EXPECT_EQ(findings[2].check, "/dev/dri/renderD128");
  EXPECT_EQ(findings[2].state, State::kWrong);
}

TEST_F(DoctorChecks, TheOwnerAndTheRestOfTheWorldHaveTheirOwnBits) {
  machine_.groups = {getgid() + 1};
  make("dev/kfd", 0666);
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kOk, State::kWrong));
  make("dev/kfd", 0600);
  const std::vector<Finding> findings = check_kernel_driver(machine_);
  EXPECT_THAT(findings[1].text, HasSubstr("(600)"));
  EXPECT_THAT(findings[1].fix, HasSubstr("chmod g+rw /dev/kfd"));
  machine_.user = getuid();
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kOk, State::kOk));
  // The owner's bits count for the owner, even if the group's are more.
  if (getuid() == 0) return;
  make("dev/kfd", 0060);
  machine_.groups = {getgid()};
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kWrong, State::kOk));
}

TEST_F(DoctorChecks, AFindingNamesTheEntryThatExplainsIt) {
  machine_.environment["ROCR_VISIBLE_DEVICES"] = "0";
  const Finding hidden = check_environment(machine_);
  const std::string entry = "docs/errors/doctor.md#variables-hide-gpus";
  // What comes from below the doctor has the page that says how to find its entry.
  const Finding other{"driver mine", State::kWrong, "It is broken.", ""};
  const Finding fine{"kernel driver", State::kOk, "It is loaded.", ""};
  EXPECT_THAT(to_text({hidden}), HasSubstr("see: " + entry + "\n"));
  EXPECT_THAT(to_text({other}), HasSubstr("see: docs/errors.md\n"));
  EXPECT_THAT(to_text({fine}), Not(HasSubstr("see:")));
  const Json json = to_json({hidden, other, fine});
  EXPECT_EQ(json[0]["see"], entry);
  EXPECT_EQ(json[1]["see"], "docs/errors.md");
  EXPECT_EQ(json[2]["see"], "");
}

TEST_F(DoctorChecks, RootMayAll) {
  machine_.user = 0;
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kOk, State::kOk));
}

TEST_F(DoctorChecks, WhatIsMissingHasItsCommand) {
  machine_.user = 0;
  fs::remove(folder_ / "dev/dri/renderD128");
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kOk, State::kWrong));
  fs::remove(folder_ / "dev/kfd");
  EXPECT_THAT(states(), ElementsAre(State::kOk, State::kWrong, State::kWrong));
  fs::remove(folder_ / "sys/module/amdgpu");
  const std::vector<Finding> findings = check_kernel_driver(machine_);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].state, State::kWrong);
  EXPECT_EQ(findings[0].fix, "sudo modprobe amdgpu");
}

TEST(DoctorEnvironment, NamesWhatHidesGpus) {
  MachineView machine;
  machine.environment = {{"PATH", "/bin"}};
  EXPECT_EQ(check_environment(machine).state, State::kOk);
  machine.environment["ROCR_VISIBLE_DEVICES"] = "1";
  machine.environment["HSA_OVERRIDE_GFX_VERSION"] = "9.0.0";
  const Finding finding = check_environment(machine);
  EXPECT_EQ(finding.state, State::kNote);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("ROCR_VISIBLE_DEVICES=1"),
                                  HasSubstr("HSA_OVERRIDE_GFX_VERSION=9.0.0")));
  EXPECT_EQ(finding.fix, "unset ROCR_VISIBLE_DEVICES HSA_OVERRIDE_GFX_VERSION");
}

Candidate amdgpu() {
  Candidate candidate;
  candidate.path = "/p/libhalyard_driver_amdgpu.so";
  candidate.driver = "amdgpu";
  candidate.stage = LoadStage::kNegotiated;
  return candidate;
}

TEST(DoctorPlugins, AMissingLibraryHasItsPackageOrItsVariable) {
  Candidate candidate = amdgpu();
  candidate.reason = "No library.";
  candidate.code = StatusCode::kNotFound;
  MachineView machine;
  const auto fix = [&] { return check_plugins({{}, {candidate}}, machine, true)[0].fix; };
  EXPECT_EQ(fix(), "sudo apt-get install libhsa-runtime64-1");
  machine.environment["HALYARD_LIBHSA_PATH"] = "/x";
  EXPECT_EQ(fix(), "unset HALYARD_LIBHSA_PATH");
  // The other driver's variable.
  candidate.driver = "hip";
  EXPECT_EQ(fix(), "sudo apt-get install libamdhip64-5");
  // A crash is nothing that a package cures.
  candidate.fatal = true;
  EXPECT_EQ(fix(), "");
}

TEST(DoctorPlugins, DevicesAndWarnings) {
  Candidate candidate = amdgpu();
  candidate.stage = LoadStage::kEnumerated;
  candidate.library_name = "libhsa-runtime64.so.1";
  candidate.library_version = "1.1";
  candidate.device_count = 2;
  candidate.warning = "Others may write to it.";
  std::vector<Finding> findings = check_plugins({{}, {candidate}}, {}, false);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].state, State::kWrong);
  EXPECT_EQ(findings[0].fix, "chmod go-w /p/libhalyard_driver_amdgpu.so");
  EXPECT_EQ(findings[1].state, State::kOk);
  EXPECT_THAT(findings[1].text, AllOf(HasSubstr("2 devices"), HasSubstr("1.1")));

  candidate.warning.clear();
  candidate.device_count = 0;
  findings = check_plugins({{}, {candidate}}, {}, false);
  EXPECT_EQ(findings[0].state, State::kWrong);
  EXPECT_THAT(findings[0].fix, HasSubstr("--vgpu"));
  EXPECT_EQ(check_plugins({{}, {candidate}}, {}, true)[0].fix, "");

  candidate.disabled = true;
  candidate.reason = "drivers.amdgpu.enabled says so.";
  EXPECT_EQ(check_plugins({{}, {candidate}}, {}, false)[0].state, State::kNote);
  EXPECT_EQ(check_plugins({}, {}, false)[0].state, State::kWrong);
}

TEST(DoctorText, PutsTheFixAndTheEntryBelow) {
  const std::vector<Finding> findings = {{"a", State::kOk, "Fine.", ""},
                                         {"long name", State::kWrong, "Bad.", "do this"}};
  EXPECT_EQ(to_text(findings),
            "OK     a          Fine.\n"
            "WRONG  long name  Bad.\n"
            "                  fix: do this\n"
            "                  see: docs/errors.md\n");
  EXPECT_THAT(to_text(findings, true), AllOf(HasSubstr("\x1b[1;32mOK   \x1b[0m  a "),
                                             HasSubstr("\x1b[1;31mWRONG\x1b[0m  long name")));
  EXPECT_EQ(to_json(findings)[1]["state"], "wrong");
  EXPECT_EQ(to_json(findings)[1]["fix"], "do this");
}

TEST(InstalledEntry, IsWhereTheDocumentsAre) {
  const testing::TemporaryFolder folder;
  const std::string& prefix = folder.path();
  const std::string entry = "docs/errors/doctor.md#variables-hide-gpus";
  EXPECT_EQ(installed_entry(entry, {prefix}), entry) << "nothing is installed there";
  fs::create_directories(folder / "share/doc/halyard/docs/errors");
  testing::write_bytes(folder / "share/doc/halyard/docs/errors/doctor.md", "");
  EXPECT_EQ(installed_entry(entry, {"/nowhere", prefix}), prefix + "/share/doc/halyard/" + entry);
  EXPECT_EQ(installed_entry("docs/errors.md", {prefix}), "docs/errors.md");
}

}  // namespace
}  // namespace halyard::cli
