// How often the waits of an operation are looked at while it is held back.
#include "plugins/sdk/met_waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace halyard {
namespace {

// An operation that waits for `count` points, which are met in `order`: how many looks that takes,
// one round after each, until all are worth a look.
size_t looks(const std::vector<size_t>& order) {
  const size_t count = order.size();
  std::vector<bool> met(count);
  MetWaits waits;
  size_t looks = 0;
  const auto look = [&](size_t i) {
    ++looks;
    return static_cast<bool>(met[i]);
  };
  EXPECT_TRUE(waits.worth_a_look(count, 0, look)) << "nothing is known at first";
  for (size_t i = 0; i < count; ++i) {
    met[order[i]] = true;
    EXPECT_EQ(waits.worth_a_look(count, 0, look), i + 1 == count);
  }
  return looks;
}

TEST(MetWaits, AreLookedAtAFewTimesEachInAnyOrder) {
  constexpr size_t kCount = 10'000;
  std::vector<size_t> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  EXPECT_LE(looks(order), 2 * kCount);
  std::reverse(order.begin(), order.end());
  EXPECT_LE(looks(order), 2 * kCount);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  EXPECT_LE(looks(order), 2 * kCount);
}

TEST(MetWaits, AreAllWorthALookAfterAFailure) {
  MetWaits waits;
  const auto never = [](size_t) { return false; };
  EXPECT_TRUE(waits.worth_a_look(3, 5, never));
  EXPECT_FALSE(waits.worth_a_look(3, 5, never));
  EXPECT_TRUE(waits.worth_a_look(3, 6, never));
  EXPECT_FALSE(waits.worth_a_look(3, 6, never));
}

TEST(MetWaits, OfNothingAreMet) {
  MetWaits waits;
  const auto never = [](size_t) { return false; };
  EXPECT_TRUE(waits.worth_a_look(0, 0, never));
  EXPECT_TRUE(waits.worth_a_look(0, 0, never));
}

}  // namespace
}  // namespace halyard
