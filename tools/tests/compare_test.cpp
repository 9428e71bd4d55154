#include "tools/values/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tools/tests/support.h"
#include "tools/values/value.h"

namespace halyard::values {
namespace {

using ::testing::HasSubstr;

Tensor tensor(std::string_view text) {
  const auto value = parse_value(text);
  EXPECT_TRUE(value.ok()) << text;
  return value->to_tensor();
}

std::string difference(std::string_view actual, std::string_view expected, Tolerance tolerance) {
  return describe_difference(tensor(actual), tensor(expected), tolerance).value_or("");
}

TEST(Compare, IntegersAreExactByDefault) {
  const Tolerance exact = default_tolerance(ElementType::kU64);
  EXPECT_EQ(difference("2xu64=1 2", "2xu64=1 2", exact), "");
  // 2^64 - 1 and 2^64 - 2 are the same double.
  EXPECT_THAT(difference("1xu64=18446744073709551615", "1xu64=18446744073709551614", exact),
              HasSubstr("[0] is 18446744073709551615, expected 18446744073709551614"));
  EXPECT_EQ(difference("2xi32=1 -2", "2xi32=2 -3", {1, 0}), "");
}

TEST(Compare, FloatsHaveATolerance) {
  const Tolerance tolerance = default_tolerance(ElementType::kF32);
  EXPECT_EQ(difference("2xf32=1 1000000", "2xf32=1.000005 1000005", tolerance), "");
  EXPECT_NE(difference("1xf32=1", "1xf32=1.0001", tolerance), "");
  EXPECT_EQ(difference("1xf32=0", "1xf32=1e-7", tolerance), "");
  EXPECT_NE(difference("1xf32=0", "1xf32=1e-7", {0, 0}), "");
  EXPECT_EQ(difference("1xf16=1", "1xf16=1.001", default_tolerance(ElementType::kF16)), "");
}

TEST(Compare, NanAndInfinityAgreeWithThemselvesOnly) {
  const Tolerance wide{1e30, 1e30};
  EXPECT_EQ(difference("3xf32=nan inf -inf", "3xf32=nan inf -inf", wide), "");
  EXPECT_NE(difference("1xf32=nan", "1xf32=0", wide), "");
  EXPECT_NE(difference("1xf32=0", "1xf32=nan", wide), "");
  EXPECT_NE(difference("1xf32=inf", "1xf32=-inf", wide), "");
  EXPECT_NE(difference("1xf32=1", "1xf32=inf", wide), "");
  EXPECT_EQ(difference("1xf32=-0", "1xf32=0", {0, 0}), "");
}

TEST(Compare, SaysWhatDiffers) {
  const std::string text = difference("2x2xf32=[[1 2][3 4]]", "2x2xf32=[[1 2.5][3 40]]", {0.25, 0});
  EXPECT_THAT(text, HasSubstr("differs in 2 of 4 elements"));
  EXPECT_THAT(text, HasSubstr("the first: [0][1] is 2, expected 2.5"));
  EXPECT_THAT(text, HasSubstr("the worst: [1][1] is 4, expected 40"));
  EXPECT_THAT(text, HasSubstr("(atol 0.25, rtol 0)"));
  EXPECT_EQ(difference("2xf32=1 2", "2xf32=1 3", {0, 0}),
            "differs in 1 of 2 elements; the first: [1] is 2, expected 3 (atol 0, rtol 0)");
}

TEST(Compare, ANanIsWorstOfAll) {
  const Comparison result = compare(tensor("3xf32=9 nan 1"), tensor("3xf32=1 1 90000"), {0, 0});
  EXPECT_EQ(result.mismatches, 3U);
  EXPECT_EQ(result.first, 0U);
  EXPECT_EQ(result.worst, 1U);
  EXPECT_TRUE(std::isnan(result.worst_difference));
}

TEST(Compare, AnotherTypeIsADifference) {
  EXPECT_EQ(difference("2xf32=1 2", "1x2xf32=1 2", {9, 9}), "is 2xf32, expected 1x2xf32");
  EXPECT_EQ(difference("2xf32=1 2", "2xi32=1 2", {9, 9}), "is 2xf32, expected 2xi32");
}

}  // namespace
}  // namespace halyard::values
