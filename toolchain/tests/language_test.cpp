#include "toolchain/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Language, IsKnownByTheExtension) {
  const std::pair<const char*, Language> known[] = {
      {"a.c", Language::kC},       {"a.cl", Language::kOpenCl}, {"x/a.hip", Language::kHip},
      {"a.ll", Language::kLlvmIr}, {"a.bc", Language::kLlvmIr}, {"a.b.s", Language::kAssembly},
      {"a.mlir", Language::kMlir}, {"A.CL", Language::kOpenCl}, {"a.rs", Language::kRust},
  };
  for (const auto& [path, language] : known) {
    SCOPED_TRACE(path);
    const Result<Language> found = language_of(path);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, language);
    EXPECT_TRUE(is_source(path));
  }
}

TEST(Language, OfAnotherExtensionIsAnErrorThatListsThem) {
  for (const char* path : {"a.hsaco", "a", "c", ".cl/a", "a.hipfb", ""}) {
    SCOPED_TRACE(path);
    EXPECT_FALSE(is_source(path));
    const Result<Language> found = language_of(path);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(found.status().to_string(),
                AllOf(HasSubstr(std::string("(") + path + ")"), HasSubstr(".c, .cl, .hip")));
  }
}

}  // namespace
}  // namespace halyard::toolchain
