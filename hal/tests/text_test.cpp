#include "hal/text.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

using Names = std::vector<std::string_view>;

TEST(DidYouMean, FindsTheClosest) {
  const Names names = {"vector_add", "saxpy", "matmul"};
  EXPECT_EQ(did_you_mean("vector_ad", names), "vector_add");
  EXPECT_EQ(did_you_mean("vectoradd", names), "vector_add");
  EXPECT_EQ(did_you_mean("sapxy", names), "saxpy");  // a swap is one mistake
  EXPECT_EQ(did_you_mean("MATMUL", names), "matmul");
}

TEST(DidYouMean, IsSilentWhereNothingIsClose) {
  EXPECT_EQ(did_you_mean("histogram", {"vector_add", "saxpy"}), "");
  EXPECT_EQ(did_you_mean("", {"a"}), "");
  EXPECT_EQ(did_you_mean("x", {"a", "b"}), "");
  EXPECT_EQ(did_you_mean("main", {}), "");
  EXPECT_EQ(did_you_mean(std::string(10000, 'a'), {"a"}), "");
}

TEST(DidYouMean, MakesAClause) {
  EXPECT_EQ(did_you_mean_clause("saxpi", {"saxpy"}), " Did you mean \"saxpy\"?");
  EXPECT_EQ(did_you_mean_clause("histogram", {"saxpy"}), "");
}

TEST(ListOf, ReadsWell) {
  EXPECT_EQ(list_of({}), "none");
  EXPECT_EQ(list_of({"a"}), "a");
  EXPECT_EQ(list_of({"a", "b"}), "a and b");
  EXPECT_EQ(list_of({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(list_of({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

}  // namespace
}  // namespace halyard
