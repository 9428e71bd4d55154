// halyard dump devices: what both drivers say of every profile.
//
// dumps/<profile>.txt has the keys that tell the profile's GPUs apart, and dumps/facts.txt all
// others, a line each, on two profiles. So a new fact of devices is a line of facts.txt, and a new
// profile is a file. HALYARD_WRITE_DUMPS=1 in the environment writes the files anew instead.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

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

struct Fact {
  std::string key;
  std::string value;
};
using DumpedDevice = std::vector<Fact>;

// What belongs to the machine that the test runs on is "…". So is, except with ROCm 5.2, what
// releases say differently: the files are those of 5.2.
std::string value_of_any_machine(const std::string& key, std::string value, bool is_of_5_2) {
  static const std::set<std::string> machines = {"plugin", "library-path", "library-version",
                                                 "numa-node"};
  static const std::set<std::string> releases = {"max-grid", "copy-engines", "commit-granule"};
  if (machines.contains(key) || (!is_of_5_2 && releases.contains(key))) return "…";
  value = std::regex_replace(
      value, std::regex("^(type=host) size-bytes=[0-9]+ max-allocation-bytes=[0-9]+"),
      "$1 size-bytes=… max-allocation-bytes=…");
  return std::regex_replace(value, std::regex("^peer=(amdgpu|hip):"), "peer=");
}

bool of_5_2(const std::string& text) {
  return std::regex_search(text, std::regex("- library-version: (1\\.1 \\(\"1\\.5\\.|5\\.2\\.)"));
}

std::vector<DumpedDevice> dumped_devices(const char* driver, const std::string& profile) {
  const Outcome outcome = spawn({"dump", "devices", driver, "--vgpu=" + profile});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  std::vector<DumpedDevice> devices;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# --device=")) devices.emplace_back();
    if (line.starts_with("#   ")) devices.back().push_back({"name", line.substr(4)});
    const size_t colon = line.find(": ");
    if (!line.starts_with("- ") || colon == std::string::npos || devices.empty()) continue;
    const std::string key = line.substr(2, colon - 2);
    devices.back().push_back(
        {key, value_of_any_machine(key, line.substr(colon + 2), of_5_2(outcome.out))});
  }
  return devices;
}

// Those that differ from profile to profile, or from GPU to GPU of one.
bool is_of_the_profile(const std::string& key) {
  static const std::set<std::string> keys = {
      "name",         "uuid",           "pci-address",       "gpu-arch-name",
      "gpu-target",   "memory-bytes",   "compute-units",     "max-clock-mhz",
      "coherent-map", "l2-cache-bytes", "maps-device-memory"};
  return keys.contains(key) || key.starts_with("heap-") || key.starts_with("link-");
}

std::string value_in(const DumpedDevice& device, const std::string& key) {
  const auto found = std::find_if(device.begin(), device.end(),
                                  [&key](const Fact& fact) { return fact.key == key; });
  return found == device.end() ? "(none)" : found->value;
}

void expect_file(const std::string& name, const std::string& text) {
  const std::string path = kDumps + "/" + name;
  if (std::getenv("HALYARD_WRITE_DUMPS") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, read_text(path)) << path;
}

class DumpTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DumpTest, IsWhatIsCheckedIn) {
  const std::vector<DumpedDevice> amdgpu = dumped_devices("amdgpu", GetParam());
  const std::vector<DumpedDevice> hip = dumped_devices("hip", GetParam());
  ASSERT_EQ(amdgpu.size(), hip.size());
  std::string text;
  for (size_t i = 0; i < hip.size(); ++i) {
    text += fmt::format("{}# GPU {}\n", i == 0 ? "" : "\n", i);
    // hip has a heap more where memory is mapped.
    for (const Fact& fact : hip[i].size() > amdgpu[i].size() ? hip[i] : amdgpu[i]) {
      const std::string& key = fact.key;
      if (!is_of_the_profile(key)) continue;
      const std::string amdgpus = value_in(amdgpu[i], key);
      const std::string other = value_in(hip[i], key);
      text += amdgpus == other
                  ? fmt::format("{}: {}\n", key, other)
                  : fmt::format("{} (amdgpu): {}\n{} (hip): {}\n", key, amdgpus, key, other);
    }
  }
  expect_file(std::string(GetParam()) + ".txt", text);
}

INSTANTIATE_TEST_SUITE_P(Profiles, DumpTest, ::testing::ValuesIn(kProfiles), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(CliDump, FactsAreWhatIsCheckedIn) {
  std::vector<DumpedDevice> columns;
  std::string text = "# fact";
  for (const char* const profile : {"gfx900", "gfx90a"}) {
    for (const char* const driver : {"amdgpu", "hip"}) {
      const std::vector<DumpedDevice> devices = dumped_devices(driver, profile);
      ASSERT_EQ(devices.size(), 1u);
      columns.push_back(devices[0]);
      text += fmt::format(" | {} {}", driver, profile);
    }
  }
  text += "\n";
  for (const Fact& fact : columns[0]) {
    if (is_of_the_profile(fact.key)) continue;
    text += fact.key;
    for (const DumpedDevice& column : columns) text += " | " + value_in(column, fact.key);
    text += "\n";
  }
  expect_file("facts.txt", text);
  for (const DumpedDevice& column : columns) EXPECT_EQ(column.size(), columns[0].size());
}

// A profile that is added has an expectation, or this fails.
// The dumps are those of ROCm 5.2, which does not know the processors of some.
TEST(CliDump, IsCheckedInForEveryProfile) {
  const std::set<std::string> newer = {"gfx942", "gfx942-noexec", "gfx950", "mi300x", "mi300x-cpx",
                                       "mi300a", "mi308x",        "mi325x", "mi350x", "mi355x"};
  std::set<std::string> wanted = {"facts.txt"};
  for (const auto& entry : std::filesystem::directory_iterator(HALYARD_PROFILES)) {
    if (entry.path().extension() != ".yaml") continue;
    if (newer.contains(entry.path().stem().string())) continue;
    wanted.insert(entry.path().stem().string() + ".txt");
  }
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(kDumps)) {
    there.insert(entry.path().filename().string());
  }
  EXPECT_EQ(there, wanted);
  EXPECT_EQ(there.size(), 1 + std::size(kProfiles)) << "kProfiles";
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
