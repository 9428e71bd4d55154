// What halyard mlir-run does with text: pipelines, expectations, outputs.
#include "toolchain/mlir_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "toolchain/mlir_pipelines.h"

namespace halyard::toolchain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ProgramKindOf, AProgramThatLaunchesIsKnownByItsOperations) {
  EXPECT_EQ(program_kind_of("func.func @main() {\n  gpu.launch blocks(\n"), ProgramKind::kLaunches);
  EXPECT_EQ(program_kind_of("%0 = linalg.matmul // not gpu.launch\n"), ProgramKind::kTensors);
}

TEST(MakePipeline, JoinsLinesAndFillsPlaceholdersIn) {
  const auto pipeline =
      make_pipeline("# a comment with @NOTHING@\na{chip=@CHIP@},\n  b{bare=@BARE@ in=@TOOLKIT@}\n",
                    {.chip = "gfx90a", .bare_pointers = true, .toolkit = "/t"});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  EXPECT_EQ(*pipeline, "builtin.module(a{chip=gfx90a},b{bare=true in=/t})");
}

TEST(MakePipeline, RefusesPlaceholdersThatDoNotExist) {
  EXPECT_THAT(make_pipeline("a{chip=@CHP@}", {}).status().to_string(), HasSubstr("(@CHP@)"));
  EXPECT_THAT(make_pipeline("a{chip=@CHIP}", {}).status().to_string(), HasSubstr("(@CHIP}@)"));
}

TEST(MakePipeline, ThePipelinesOfTheBuildHaveNoOtherPlaceholders) {
  for (const std::string_view text : {kLaunchesPipeline, kTensorsPipeline, kCpuPipeline}) {
    const auto pipeline = make_pipeline(text, {"gfx900", false, "/toolkit"});
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
    EXPECT_THAT(*pipeline, Not(HasSubstr("@")));
    EXPECT_THAT(*pipeline, HasSubstr("reconcile-unrealized-casts"));
  }
}

TEST(MakeCpuPipeline, KeepsTheFunctionAndWhatItCalls) {
  const auto pipeline = make_cpu_pipeline("reference");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  EXPECT_THAT(*pipeline,
              StartsWith("builtin.module(symbol-privatize{exclude=reference},symbol-dce,one-shot"));
}

TEST(HasReference, IsAFunctionOfThatName) {
  EXPECT_TRUE(has_reference("module {\n  func.func @reference() {\n"));
  EXPECT_FALSE(has_reference("// func.func @reference() {\n call @reference() : () -> ()\n"));
  EXPECT_FALSE(has_reference("func.func @reference2() {\n"));
}

TEST(ExpectedTexts, AreInTheOrderOfTheFile) {
  const auto texts = expected_texts("x\n  // EXPECT: [1,  2]\ny // EXPECT: b \n// EXPECTED: c\n");
  EXPECT_THAT(texts, ElementsAre("[1,  2]", "b"));
  EXPECT_TRUE(check_expected(texts, "a [1,  2] b").ok());
  EXPECT_THAT(check_expected(texts, "b [1,  2]").to_string(), HasSubstr("(b)"));
  EXPECT_THAT(check_expected(texts, "[1, 2] b").to_string(), HasSubstr("([1,  2])"));
}

TEST(PrintedNumbers, AreThoseOfTheValues) {
  EXPECT_THAT(printed_numbers("Unranked Memref base@ = 0x12 rank = 1 data = \n[[1.5,  -2e-07], \n"
                              " [3,   inf]]\nx7 7x v1.2.3 +4\n"),
              ElementsAre(1.5, -2e-07, 3, INFINITY, 4));
  EXPECT_THAT(printed_numbers("nothing here-"), IsEmpty());
}

TEST(CompareOutputs, CountsWhatIsEqualWithinTheTolerance) {
  const auto count = compare_outputs("[1.00005, nan, 0.000009]", "[1, nan, 0]", {});
  ASSERT_TRUE(count.ok()) << count.status().to_string();
  EXPECT_EQ(*count, 3U);
}

TEST(CompareOutputs, NamesWhatDiffers) {
  EXPECT_THAT(compare_outputs("[1, 2.001]", "[1, 2]", {}).status().to_string(),
              HasSubstr("Number 2 of 2 is 2.001 on the GPU and 2 on the CPU"));
  EXPECT_THAT(compare_outputs("[nan]", "[1]", {}).status().to_string(), HasSubstr("Number 1 of 1"));
  EXPECT_THAT(compare_outputs("[1]", "[1, 2]", {}).status().to_string(),
              HasSubstr("1 numbers and the CPU's 2"));
  EXPECT_THAT(compare_outputs("", "", {}).status().to_string(), HasSubstr("at least one"));
}

TEST(MlirProgram, CommentsOfFileCheckAreCounted) {
  EXPECT_EQ(count_check_comments("// CHECK: [1]\n  //CHECK-NEXT: 2\nfoo // CHECK-COUNT-2: x\n"
                                 "// CHECK-DAG{LITERAL}: [[\n// CHECK{LITERAL}: [[\n"),
            5u);
  EXPECT_EQ(count_check_comments("// CHECKED: a\n// CHECK the result: b\n// EXPECT: c\nCHECK: d\n"
                                 "// CHECK\n"),
            0u);
}

}  // namespace
}  // namespace halyard::toolchain
