#include "toolchain/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Tools : public ::testing::Test {
 protected:
  // An executable file, unless `mode` says otherwise.
  std::string make(const std::string& name, mode_t mode = 0755) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n";
    EXPECT_EQ(chmod((folder_ / name).c_str(), mode), 0);
    return folder_ / name;
  }
  std::string folder() { return (folder_ / ".").substr(0, (folder_ / "").size() - 1); }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create()).value();
};

TEST_F(Tools, TheVersionThatIsKnownToWorkComesBeforeThePlainName) {
  const std::string plain = make("mlir-opt");
  SearchContext context{{"/nonexistent", folder()}, {}};
  EXPECT_EQ(*find_tool(Tool::kMlirOpt, context), plain);
  const std::string version = make("mlir-opt-22");
  EXPECT_EQ(*find_tool(Tool::kMlirOpt, context), version);
}

TEST_F(Tools, WhatIsNoProgramIsPassedOver) {
  make("mlir-opt-22", 0644);
  const std::string plain = make("mlir-opt");
  EXPECT_EQ(*find_tool(Tool::kMlirOpt, {{folder()}, {}}), plain);
}

TEST_F(Tools, AMissingOneIsNamedWithItsPackageAndItsVariable) {
  const std::pair<Tool, const char*> packages[] = {{Tool::kHipcc, "hipcc"},
                                                   {Tool::kMlirOpt, "mlir-22-tools"},
                                                   {Tool::kMlirRunner, "mlir-22-tools"}};
  for (const auto& [tool, package] : packages) {
    const Result<std::string> found = find_tool(tool, {{folder()}, {}});
    ASSERT_FALSE(found.ok()) << *found;
    EXPECT_EQ(found.status().code(), StatusCode::kNotFound);
    EXPECT_THAT(found.status().to_string(),
                AllOf(HasSubstr(std::string("The tool ") + to_string(tool)),
                      HasSubstr(std::string("Debian package ") + package + ","),
                      HasSubstr(variable_of(tool))));
  }
}

TEST_F(Tools, AVariableDecides) {
  make("clang-22");
  const std::string mine = make("my-clang");
  EXPECT_EQ(*find_tool(Tool::kClang, {{folder()}, {{"HALYARD_CLANG", mine}}}), mine);
  // Also a name in PATH.
  EXPECT_EQ(*find_tool(Tool::kClang, {{folder()}, {{"HALYARD_CLANG", "my-clang"}}}), mine);
  // And nothing stands in for it.
  const auto wrong = find_tool(Tool::kClang, {{folder()}, {{"HALYARD_CLANG", "/nonexistent/c"}}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.status().to_string(),
              HasSubstr("HALYARD_CLANG names no program (/nonexistent/c)"));
}

TEST(SearchContext, IsThisProcesssEnvironment) {
  ASSERT_EQ(setenv("HALYARD_TOOLS_TEST", "a=b", 1), 0);
  const SearchContext context = SearchContext::of_process();
  EXPECT_EQ(context.variable("HALYARD_TOOLS_TEST"), "a=b");
  EXPECT_EQ(context.variable("HALYARD_TOOLS_TEST_UNSET"), "");
  EXPECT_THAT(context.folders, ::testing::Contains("/usr/bin"));
}

}  // namespace
}  // namespace halyard::toolchain
