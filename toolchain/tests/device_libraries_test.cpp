#include "toolchain/device_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// What Debian's 5.2.3 has, as far as it matters here.
bool in_5_2_3(const std::string& path) {
  static const std::set<std::string> kMissing = {"/d/oclc_abi_version_600.bc",
                                                 "/d/oclc_isa_version_942.bc",
                                                 "/d/oclc_isa_version_9-generic.bc"};
  return !kMissing.contains(path);
}

std::vector<std::string> files_for(const char* target, uint32_t version, bool opencl = false) {
  return device_library_files("/d", {*parse_target_id(target), version, opencl}, in_5_2_3);
}

TEST(DeviceLibraries, ThoseOfTheProcessor) {
  EXPECT_THAT(files_for("gfx90a:xnack-", 5),
              ElementsAre("/d/hip.bc", "/d/ocml.bc", "/d/ockl.bc", "/d/oclc_daz_opt_off.bc",
                          "/d/oclc_unsafe_math_off.bc", "/d/oclc_finite_only_off.bc",
                          "/d/oclc_correctly_rounded_sqrt_on.bc", "/d/oclc_wavefrontsize64_on.bc",
                          "/d/oclc_isa_version_90a.bc", "/d/oclc_abi_version_500.bc"));
}

TEST(DeviceLibraries, OpenClsComeFirstBecauseTheyCallTheOthers) {
  EXPECT_EQ(files_for("gfx900", 5, true).front(), "/d/opencl.bc");
  EXPECT_THAT(files_for("gfx900", 5), Not(Contains("/d/opencl.bc")));
}

TEST(DeviceLibraries, WavefrontsOf32) {
  EXPECT_THAT(files_for("gfx1030", 5), AllOf(Contains("/d/oclc_wavefrontsize64_off.bc"),
                                             Not(Contains("/d/oclc_wavefrontsize64_on.bc"))));
}

TEST(DeviceLibraries, Version6TakesVersion5sConstantsWhereItHasNone) {
  EXPECT_THAT(files_for("gfx900", 4), Contains("/d/oclc_abi_version_400.bc"));
  EXPECT_THAT(files_for("gfx900", 6), Contains("/d/oclc_abi_version_500.bc"));
  const auto all = [](const std::string&) { return true; };
  EXPECT_THAT(
      device_library_files("/d", {*parse_target_id("gfx900"), 6, false}, all),
      AllOf(Contains("/d/oclc_abi_version_600.bc"), Not(Contains("/d/oclc_abi_version_500.bc"))));
}

TEST(DeviceLibraries, WhatTheReleaseDoesNotHaveIsLeftOut) {
  for (const char* target : {"gfx942", "gfx9-generic"}) {
    EXPECT_THAT(files_for(target, 6), Not(Contains(HasSubstr("isa_version"))));
  }
}

TEST(DeviceLibraries, TheProcessorsConstantIsMadeWhereTheReleaseHasNone) {
  EXPECT_TRUE(has_isa_version(files_for("gfx900", 5)));
  EXPECT_FALSE(has_isa_version(files_for("gfx942", 5)));
  for (const auto& [processor, version] : {std::pair{"gfx900", 9000},
                                           {"gfx90a", 9010},
                                           {"gfx942", 9402},
                                           {"gfx1036", 10306},
                                           {"gfx1201", 12001},
                                           {"gfx9-generic", 9000},
                                           {"gfx9-4-generic", 9400},
                                           {"gfx10-3-generic", 10300},
                                           {"gfx12-generic", 12000}}) {
    EXPECT_THAT(isa_version_ir(processor),
                HasSubstr("constant i32 " + std::to_string(version) + ", "))
        << processor;
  }
}

TEST(DeviceLibraries, UseIsSeenByName) {
  const auto uses = [](std::string_view text) {
    return uses_device_libraries(std::as_bytes(std::span(text)));
  };
  EXPECT_TRUE(uses(std::string_view("\0\x7f__ocml_sin_f32\0", 17)));
  EXPECT_TRUE(uses("__ockl_get_global_id"));
  EXPECT_TRUE(uses("x__oclc_ISA_version"));
  EXPECT_TRUE(uses(std::string_view("\0__atomic_work_item_fence\0", 26)));
  EXPECT_FALSE(uses("sinf"));
  EXPECT_FALSE(uses(""));
}

// ROCm's own, Debian 12's, and Debian 13's, which are beside an LLVM.
TEST(DeviceLibraries, AreWherePackagesPutThem) {
  const TemporaryFolder folder = std::move(TemporaryFolder::create()).value();
  const std::string root = folder / "root";
  EXPECT_EQ(usual_device_libraries(root), "");
  for (const char* const place :
       {"/usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode",
        "/usr/lib/llvm-19/lib/clang/19/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
        "/opt/rocm/amdgcn/bitcode"}) {
    std::filesystem::create_directories(root + place);
    std::ofstream(root + place + "/ocml.bc") << "BC";
    EXPECT_EQ(usual_device_libraries(root), root + place);
  }
}

TEST(DeviceLibraries, AreInTheFolderThatIsNamed) {
  const TemporaryFolder folder = std::move(TemporaryFolder::create()).value();
  const std::string path = (folder / "").substr(0, (folder / "").size() - 1);
  const auto none = find_device_libraries(path, {});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().to_string(),
              AllOf(HasSubstr("--bitcode-dir"), HasSubstr(path), HasSubstr("rocm-device-libs")));
  const auto by_variable = find_device_libraries("", {{}, {{"HALYARD_BITCODE_DIR", path}}});
  ASSERT_FALSE(by_variable.ok());
  EXPECT_THAT(by_variable.status().to_string(), HasSubstr("of HALYARD_BITCODE_DIR"));
  std::ofstream(folder / "ocml.bc") << "BC";
  EXPECT_EQ(*find_device_libraries(path, {}), path);
  // The option comes before the variable.
  EXPECT_EQ(*find_device_libraries(path, {{}, {{"HALYARD_BITCODE_DIR", "/nonexistent"}}}), path);
}

}  // namespace
}  // namespace halyard::toolchain
