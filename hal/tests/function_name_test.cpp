// Functions by the names that people give them.
#include "function_name.h"

#include <gmock/gmock.h>

namespace halyard::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string_view> kSymbols = {
    "plain",
    "_Z5applyIfEvPKT_PS0_4Linej",   // void apply<float>(float const*, float*, Line, unsigned int)
    "_Z5applyIiEvPKT_PS0_4Linej",   // void apply<int>(int const*, int*, Line, unsigned int)
    "_Z5scalePfi",                  // scale(float*, int)
    "_ZN5space5scaleEPdi",          // space::scale(double*, int)
    "_ZN12_GLOBAL__N_16hiddenEPf",  // (anonymous namespace)::hidden(float*)
    "_Z3twoPf",                     // two(float*)
    "_Z3twoPd",                     // two(double*)
    "_Znonsense",
};

size_t index_of(std::string_view name) {
  const Result<size_t> found = find_function_name(name, kSymbols, "function", "executable");
  EXPECT_TRUE(found.ok()) << name << ": " << found.status().to_string();
  return found.ok() ? *found : 99;
}

Status failure_of(std::string_view name) {
  return find_function_name(name, kSymbols, "function", "executable").status();
}

TEST(FunctionName, TheSymbolIsAlwaysGood) {
  for (size_t i = 0; i < kSymbols.size(); ++i) EXPECT_EQ(index_of(kSymbols[i]), i);
}

TEST(FunctionName, WhatTheSourceCallsItIsGoodToo) {
  EXPECT_EQ(index_of("void apply<float>(float const*, float*, Line, unsigned int)"), 1u);
  EXPECT_EQ(index_of("apply<float>(float const*,float*,Line,unsigned int)"), 1u);
  EXPECT_EQ(index_of("apply<int>"), 2u);
  EXPECT_EQ(index_of("scale(float*, int)"), 3u);
  EXPECT_EQ(index_of("scale"), 3u);
  EXPECT_EQ(index_of("space::scale"), 4u);
  EXPECT_EQ(index_of("(anonymous namespace)::hidden"), 5u);
  EXPECT_EQ(index_of("(anonymous namespace)::hidden(float*)"), 5u);
  EXPECT_EQ(index_of("two(double*)"), 7u);
}

TEST(FunctionName, ANameForSeveralIsRefusedWithAllOfThem) {
  const Status status = failure_of("apply");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("\"apply\" may mean 2 functions in the executable"),
                    HasSubstr("apply<float>(float const*, float*, Line, unsigned int) "
                              "(_Z5applyIfEvPKT_PS0_4Linej)"),
                    HasSubstr("_Z5applyIiEvPKT_PS0_4Linej"), Not(HasSubstr("scale"))));
  EXPECT_EQ(failure_of("two").code(), StatusCode::kInvalidArgument);
}

TEST(FunctionName, AGuessIsInTheSourcesWords) {
  const Status status = failure_of("aply<float>");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("There is no function \"aply<float>\" in the executable."),
                    HasSubstr("Did you mean \"apply<float>\"?"), HasSubstr("It has 9: plain, void"),
                    HasSubstr("scale(float*, int)"), HasSubstr("_Znonsense")));
  EXPECT_THAT(failure_of("plane").to_string(), HasSubstr("Did you mean \"plain\"?"));
  EXPECT_THAT(failure_of("spac::scale").to_string(), HasSubstr("Did you mean \"space::scale\"?"));
}

TEST(FunctionName, NamesThatNobodyWritesOutAreLeftAlone) {
  EXPECT_EQ(demangled("plain"), "");
  EXPECT_EQ(demangled("_Znonsense"), "");
  EXPECT_EQ(demangled("_Z4gemm" + std::string(100000, 'I') + "EvPf"), "");
  EXPECT_EQ(demangled("_Z5scalePfi"), "scale(float*, int)");
}

}  // namespace
}  // namespace halyard::internal
