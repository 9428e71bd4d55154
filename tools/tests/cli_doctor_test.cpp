// halyard doctor on virtual GPUs, and on drivers that do not survive their devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDeadly = std::string(HALYARD_TEST_BROKEN_PLUGINS) + "/deadly/";

// A sanitizer's handlers would make exit codes of signals.
SpawnOptions with_plain_signals() {
  SpawnOptions options;
  for (const char* const name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const char* const before = std::getenv(name);
    options.environment[name] = std::string(before == nullptr ? "" : before) + ":handle_segv=0";
  }
  return options;
}

TEST(CliDoctor, AVirtualGpuIsWellOnBothDrivers) {
  const Outcome outcome = spawn({"doctor", "--vgpu=mixed"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("WRONG")));
  EXPECT_THAT(outcome.out, ContainsRegex("note +host_memory:0 .*not an AMD GPU"));
  for (const char* driver : {"amdgpu", "hip"}) {
    EXPECT_THAT(outcome.out, ContainsRegex(std::string("OK +driver ") + driver + " .*lib"));
    for (const char* ordinal : {":0", ":1"}) {
      EXPECT_THAT(outcome.out,
                  ContainsRegex(std::string("OK +") + driver + ordinal +
                                " .*gfx90.* runs a kernel, and takes code object versions 4, 5"));
    }
  }
}

TEST(CliDoctor, AKernelWithAWrongResultIsFound) {
  const Outcome outcome = spawn({"doctor", "--vgpu=gfx900-noexec", "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, ContainsRegex("2 of [0-9]+ checks found something wrong"));
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_array()) << outcome.out;
  size_t wrong = 0;
  for (const auto& finding : json) {
    const std::string check = finding["check"];
    if (finding["state"] != "wrong") continue;
    ++wrong;
    EXPECT_THAT(check, ::testing::AnyOf("amdgpu:0", "hip:0"));
    EXPECT_THAT(finding["text"].get<std::string>(), HasSubstr("adds 1.5 and 2"));
    EXPECT_THAT(finding["see"].get<std::string>(), HasSubstr("#the-kernel-computes-a-wrong"));
  }
  EXPECT_EQ(wrong, 2U);
}

TEST(CliDoctor, ADriverThatDoesNotSurviveADeviceIsAFinding) {
  const Outcome outcome = spawn(
      {"doctor", "--vgpu=gfx900", "--timeout=20", "--plugin-path=" + kDeadly + "crashes_in_open.so",
       "--plugin-path=" + kDeadly + "hangs_in_open.so"},
      with_plain_signals());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      AllOf(ContainsRegex("WRONG +crashes_in_open:0 +The process that tried it has crashed: Segm"),
            ContainsRegex("WRONG +hangs_in_open:0 +It did not finish within 20 s"),
            HasSubstr("see: docs/errors/doctor.md#a-check-crashes-or-does-not-finish"),
            // The devices and drivers behind them are tried all the same.
            ContainsRegex("WRONG +crashes_in_open:1 "), ContainsRegex("WRONG +hangs_in_open:1 "),
            ContainsRegex("OK +amdgpu:0 "), ContainsRegex("OK +hip:0 ")));
}

TEST(CliDoctor, ALibraryThatIsNotThereHasAFix) {
  const Outcome outcome = spawn({"doctor", "--vgpu=gfx900"},
                                {.environment = {{"HALYARD_LIBHSA_PATH", "/nonexistent/libhsa"},
                                                 {"ROCR_VISIBLE_DEVICES", "0"}}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(ContainsRegex("WRONG +driver amdgpu .*/nonexistent/libhsa"),
                    HasSubstr("fix: unset HALYARD_LIBHSA_PATH"), HasSubstr("see: docs/errors.md"),
                    ContainsRegex("note +environment"),
                    HasSubstr("fix: unset ROCR_VISIBLE_DEVICES"), ContainsRegex("OK +hip:0 ")));
}

}  // namespace
}  // namespace halyard::testing
