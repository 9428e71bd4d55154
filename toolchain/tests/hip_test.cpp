#include "toolchain/hip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

using ::testing::HasSubstr;

// Programs that do as hipcc and clang do.
class Hip : public ::testing::Test {
 protected:
  std::string program(const std::string& name, const std::string& script) {
    const std::string path = folder_ / ("bin/" + name);
    std::filesystem::create_directories(folder_ / "bin");
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void headers() {
    std::filesystem::create_directories(folder_ / "include/hip");
    std::ofstream(folder_ / "include/hip/hip_runtime.h") << "\n";
  }
  SearchContext context() { return {{folder_ / "bin"}, {{"HALYARD_CLANG", clang_}}}; }

  const TemporaryFolder folder_ = std::move(TemporaryFolder::create()).value();
  std::string clang_ = program("clang", "exit 0");
};

constexpr const char* kKnowsGfx900 =
    "case $1 in *gfx900) ;; *gfx1100) echo 'clang: error: no library for gfx1100' >&2;; *) echo "
    "\"clang: error: invalid target ID '$1'\" >&2; exit 1;; esac";

TEST_F(Hip, HipccCompilesWhatItKnows) {
  const std::string hipcc = program("hipcc", kKnowsGfx900);
  headers();
  const auto compiler = find_hip_compiler(*parse_target_id("gfx900"), context(), folder_);
  ASSERT_TRUE(compiler.ok()) << compiler.status().to_string();
  EXPECT_EQ(compiler->path, hipcc);
  EXPECT_EQ(compiler->headers, "");
}

TEST_F(Hip, ClangCompilesTheRestWithTheHeadersBesideHipcc) {
  program("hipcc", kKnowsGfx900);
  headers();
  for (const char* const target : {"gfx1100", "gfx1201"}) {
    const auto compiler = find_hip_compiler(*parse_target_id(target), context(), folder_);
    ASSERT_TRUE(compiler.ok()) << compiler.status().to_string();
    EXPECT_EQ(compiler->path, clang_);
    EXPECT_EQ(compiler->headers, folder_ / "include");
  }
}

TEST_F(Hip, WithoutHeadersOrForAnotherFailureItIsHipcc) {
  const std::string hipcc = program("hipcc", kKnowsGfx900);
  const auto without = find_hip_compiler(*parse_target_id("gfx1201"), context(), folder_);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->path, hipcc);
  headers();
  program("hipcc", "echo 'perl: not found' >&2; exit 127");
  const auto broken = find_hip_compiler(*parse_target_id("gfx1201"), context(), folder_);
  ASSERT_TRUE(broken.ok());
  EXPECT_EQ(broken->path, hipcc);
}

TEST_F(Hip, ThePreludeSaysTheWaveSize) {
  const auto prelude = [](const char* target, const std::vector<std::string>& options = {}) {
    return hip_prelude(*parse_target_id(target), options);
  };
  EXPECT_THAT(prelude("gfx942"), HasSubstr("#define __AMDGCN_WAVEFRONT_SIZE 64\n"));
  EXPECT_THAT(prelude("gfx1201"), HasSubstr("#define __AMDGCN_WAVEFRONT_SIZE 32\n"));
  EXPECT_THAT(prelude("gfx1201", {"-mwavefrontsize64"}),
              HasSubstr("#define __AMDGCN_WAVEFRONT_SIZE 64\n"));
}

}  // namespace
}  // namespace halyard::toolchain
