// What outlives its owner: it is tried again until it is gone.
#include "plugins/sdk/remains.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace halyard {
namespace {

template <typename Condition>
bool becomes_true(const Condition& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

TEST(Remains, AreBuriedAsSoonAsTheyCanBe) {
  std::atomic<bool> in_use{true};
  std::atomic<int> attempts{0};
  std::atomic<int> buried{0};
  for (int i = 0; i < 3; ++i) {
    Remains::instance().keep([&] {
      ++attempts;
      if (in_use) return false;
      ++buried;
      return true;
    });
  }
  EXPECT_TRUE(becomes_true([&] { return attempts >= 6; })) << "each is tried again";
  EXPECT_EQ(buried, 0);
  in_use = false;
  EXPECT_TRUE(becomes_true([&] { return buried == 3; }));
  // Its thread has ended, or does; what comes now is served all the same.
  in_use = true;
  Remains::instance().keep([&] {
    if (in_use) return false;
    ++buried;
    return true;
  });
  in_use = false;
  EXPECT_TRUE(becomes_true([&] { return buried == 4; }));
}

TEST(Remains, OfTheBuriedNothingStays) {
  auto body = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = body;
  Remains::instance().keep([body = std::move(body)] { return *body == 1; });
  EXPECT_TRUE(becomes_true([&] { return seen.expired(); }));
}

TEST(Release, EndsWithTheWork) {
  int looks = 0;
  EXPECT_TRUE(wait_for_release([&] { return ++looks == 200; }));
  EXPECT_EQ(looks, 200);
}

TEST(Release, WaitsForNothingThatNeverEnds) {
  EXPECT_FALSE(wait_for_release([] { return false; }));
}

}  // namespace
}  // namespace halyard
