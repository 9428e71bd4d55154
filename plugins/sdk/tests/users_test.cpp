#include "plugins/sdk/users.h"

#include <gtest/gtest.h>

#include <bit>
#include <thread>
#include <vector>

namespace halyard {
namespace {

TEST(UserBits, AreOneForEachOf64Queues) {
  uint64_t all = 0;
  for (int i = 0; i < 64; ++i) {
    const uint64_t bit = next_user_bit();
    EXPECT_EQ(std::popcount(bit), 1);
    EXPECT_EQ(all & bit, 0u) << i;
    all |= bit;
  }
  EXPECT_EQ(all, UINT64_MAX);
  EXPECT_EQ(std::popcount(next_user_bit()), 1);
}

TEST(Users, AreKeptForGood) {
  Users users;
  EXPECT_EQ(users.bits(), 0u);
  users.add(4);
  users.add(1);
  users.add(4);
  EXPECT_EQ(users.bits(), 5u);
  // Those of a view go to its buffer all at once.
  users.add(6);
  EXPECT_EQ(users.bits(), 7u);
}

TEST(Users, OfSeveralThreadsAreAllThere) {
  for (int round = 0; round < 100; ++round) {
    Users users;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&users, t] {
        for (int i = t; i < 64; i += 4) users.add(uint64_t{1} << i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(users.bits(), UINT64_MAX);
  }
}

}  // namespace
}  // namespace halyard
