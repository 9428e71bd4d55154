#include "toolchain/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TemporaryFiles : public ::testing::Test {
 protected:
  ~TemporaryFiles() override { unsetenv("TMPDIR"); }
};

TEST_F(TemporaryFiles, AreInTmpdir) {
  const TemporaryFolder outer = std::move(TemporaryFolder::create()).value();
  std::filesystem::create_directory(outer / "own");
  setenv("TMPDIR", (outer / "own").c_str(), 1);
  std::string path;
  {
    const TemporaryFolder inner = std::move(TemporaryFolder::create()).value();
    path = inner / "";
    EXPECT_THAT(path, StartsWith(outer / "own/"));
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TemporaryFiles, WithoutAFolderTheRemedyIsSaid) {
  setenv("TMPDIR", "/nonexistent/folder", 1);
  const auto folder = TemporaryFolder::create();
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.status().to_string(),
              AllOf(HasSubstr("(TMPDIR is /nonexistent/folder)"), HasSubstr("Set TMPDIR to")));
  setenv("TMPDIR", "/proc", 1);
  const auto full = TemporaryFolder::create();
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.status().to_string(), HasSubstr("Set TMPDIR to"));
}

}  // namespace
}  // namespace halyard::toolchain
