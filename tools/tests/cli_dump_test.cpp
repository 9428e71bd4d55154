// halyard dump devices: on every profile and with both drivers, what is checked in.
//
// HALYARD_WRITE_DUMPS=1 in the environment writes the files anew instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kDumps = HALYARD_DUMPS;
constexpr const char* kProfiles[] = {
    "gfx900",        "gfx906", "gfx908", "gfx90a", "two-gfx90a", "mixed",      "gfx900-noexec",
    "gfx906-noexec", "mi25",   "mi50",   "mi100",  "mi210",      "four-mi210", "mixed-instinct"};

std::string read_text(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Without what belongs to the machine that the test runs on.
std::string of_any_machine(std::string text) {
  text = std::regex_replace(
      text, std::regex("- (plugin|library-path|library-version|numa-node): [^\n]*"), "- $1: …");
  return std::regex_replace(text,
                            std::regex("(type=host) size-bytes=[0-9]+ max-allocation-bytes=[0-9]+"),
                            "$1 size-bytes=… max-allocation-bytes=…");
}

// … and without what releases of ROCm say differently. The dumps are those of 5.2.
std::string of_any_release(const std::string& text) {
  return std::regex_replace(text, std::regex("- (max-grid|copy-engines|commit-granule): [^\n]*"),
                            "- $1: …");
}
bool is_of_5_2(const std::string& text) {
  return std::regex_search(text, std::regex("- library-version: (1\\.1 \\(\"1\\.5\\.|5\\.2\\.)"));
}

class DumpTest : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(DumpTest, IsWhatIsCheckedIn) {
  const auto& [driver, profile] = GetParam();
  const Outcome outcome = spawn({"dump", "devices", driver, std::string("--vgpu=") + profile});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const std::string path = kDumps + "/" + driver + "." + profile + ".txt";
  const std::string text = of_any_machine(outcome.out);
  if (std::getenv("HALYARD_WRITE_DUMPS") != nullptr) std::ofstream(path) << text;
  const std::string expected = read_text(path);
  if (is_of_5_2(outcome.out)) {
    EXPECT_EQ(text, expected) << path;
  } else {
    EXPECT_EQ(of_any_release(text), of_any_release(expected)) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, DumpTest,
                         ::testing::Combine(::testing::Values("amdgpu", "hip"),
                                            ::testing::ValuesIn(kProfiles)),
                         [](const auto& info) {
                           std::string name =
                               std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// A profile that is added has an expectation of each driver, or this fails.
// The dumps are those of ROCm 5.2, which does not know the processors of some.
TEST(CliDump, IsCheckedInForEveryProfile) {
  const std::set<std::string> newer = {"gfx942",     "gfx942-noexec", "gfx950", "mi300x",
                                       "mi300x-cpx", "mi300a",        "mi325x", "mi350x"};
  std::set<std::string> wanted;
  for (const auto& entry : std::filesystem::directory_iterator(HALYARD_PROFILES)) {
    if (entry.path().extension() != ".yaml") continue;
    if (newer.contains(entry.path().stem().string())) continue;
    for (const char* const driver : {"amdgpu", "hip"}) {
      wanted.insert(std::string(driver) + "." + entry.path().stem().string() + ".txt");
    }
  }
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(kDumps)) {
    there.insert(entry.path().filename().string());
  }
  EXPECT_EQ(there, wanted);
  EXPECT_EQ(there.size(), 2 * std::size(kProfiles)) << "kProfiles";
}

TEST(CliDump, HasTheShapeThatScriptsLookFor) {
  const std::string text = spawn({"dump", "devices", "amdgpu", "--vgpu=mi210"}).out;
  EXPECT_THAT(
      text,
      AllOf(StartsWith(
                "# ============================================================================"
                "\n# Enumerated devices for driver 'amdgpu'\n# ====="),
            HasSubstr(
                "\n\n# ===----------------------------------------------------------------------"
                "===\n# --device=amdgpu://GPU-48414c5900000210\n#   AMD Instinct MI210\n# ===--"),
            HasSubstr("\n- gpu-arch-name: gfx90a\n")));
}

TEST(CliDump, JsonHasTheSameFacts) {
  const auto json = nlohmann::json::parse(
      spawn({"dump", "devices", "hip:1", "--json", "--vgpu=two-gfx90a"}).out, nullptr, false);
  ASSERT_EQ(json.size(), 1u) << json.dump();
  EXPECT_EQ(json[0]["uri"], "hip:1");
  EXPECT_EQ(json[0]["device"], "hip://GPU-48414c5944390a11");
  EXPECT_EQ(json[0]["gpu_target"], "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(json[0]["wavefront_size"], 64);
  EXPECT_EQ(json[0]["links"][0]["peer"], "hip:0");
  EXPECT_GE(json[0]["heaps"].size(), 2u);
  // Each field is in the documentation.
  const std::string page = read_text(HALYARD_JSON_PAGE);
  for (const auto& [name, value] : json[0].items()) {
    EXPECT_THAT(page, HasSubstr("`" + name + "`"));
  }
}

TEST(CliDump, LimitsOfAProfileReachTheDriver) {
  const auto json = nlohmann::json::parse(spawn({"dump", "devices", "amdgpu", "--json",
                                                 "--vgpu=mi210,memory_size=2GiB,compute_units=8"})
                                              .out,
                                          nullptr, false);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["compute_units"], 8);
  EXPECT_EQ(json[0]["memory_bytes"], uint64_t{2} << 30);
}

TEST(CliDump, AConfigsVirtualGpuIsOne) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.yaml",
              std::string("virtual_gpus: {small: {profile: mi100, compute_units: 4}}\n"
                          "devices: {both: [amdgpu, hip]}\n"));
  const auto json = nlohmann::json::parse(spawn({"dump", "devices", "both", "--json",
                                                 "--vgpu=small", "--config=" + (folder / "a.yaml")})
                                              .out,
                                          nullptr, false);
  ASSERT_EQ(json.size(), 2u) << json.dump();
  for (const auto& device : json) {
    EXPECT_EQ(device["compute_units"], 4);
    EXPECT_EQ(device["gpu_arch_name"], "gfx908");
  }
}

TEST(CliDump, WhatIsNotThereIsAnError) {
  const Outcome outcome = spawn({"dump", "devices", "amdgpu:7", "--vgpu=mi210"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no device with the ordinal (7)"));
}

}  // namespace
}  // namespace halyard::testing
