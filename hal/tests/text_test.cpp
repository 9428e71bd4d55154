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

TEST(ListOf, ShortensLongNames) {
  const std::string name(100000, 'k');
  EXPECT_LT(list_of({name, name}).size(), 500u);
}

TEST(Printable, EscapesAndCutsBetweenLetters) {
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("abcdef", 4), "abcd…");
  EXPECT_EQ(printable("abcä", 4), "abcä");
  EXPECT_EQ(printable("abcäx", 4), "abcä…");
}

TEST(ShortName, KeepsBothEnds) {
  EXPECT_EQ(short_name("saxpy"), "saxpy");
  EXPECT_EQ(short_name("abcdefghi", 9), "abcdefghi");
  EXPECT_EQ(short_name("abcdefghij", 9), "abcdef…hij");
  EXPECT_EQ(short_name("a\tb"), "a\\x09b");
  // "ä" has two bytes: it is kept whole or not at all.
  EXPECT_EQ(short_name("abcdeäfghi", 9), "abcde…ghi");
  EXPECT_EQ(short_name("abcdefgäi", 9), "abcdef…äi");
  EXPECT_EQ(short_name("abcdefghäi", 9), "abcdef…äi");
  EXPECT_EQ(short_name("abcdefghiä", 9), "abcdef…iä");
  const std::string mangled = "_Z4gemm" + std::string(1000000, 'I') + "EvPf";
  const std::string text = short_name(mangled);
  EXPECT_LT(text.size(), 210u);
  EXPECT_TRUE(text.starts_with("_Z4gemmII"));
  EXPECT_TRUE(text.ends_with("IIEvPf"));
}

}  // namespace
}  // namespace halyard
