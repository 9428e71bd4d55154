#include "hal/types.h"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "hal/ref.h"

namespace halyard {
namespace {

int sum(Span<const int> values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

TEST(Span, TakesWhateverIsContiguous) {
  const int array[] = {1, 2, 3};
  const std::vector<int> vector = {4, 5};
  std::array<int, 2> standard = {6, 7};
  EXPECT_EQ(sum(array), 6);
  EXPECT_EQ(sum(vector), 9);
  EXPECT_EQ(sum(standard), 13);
  EXPECT_EQ(sum({8, 9}), 17);
  EXPECT_EQ(sum({}), 0);
  EXPECT_EQ(sum({array + 1, 2}), 5);
  Span<int> writable(standard);
  writable[0] = 1;
  EXPECT_EQ(standard[0], 1);
}

TEST(StringView, TakesText) {
  const std::string text = "abc";
  EXPECT_EQ(StringView(text).view(), "abc");
  EXPECT_EQ(StringView("de").view(), "de");
  EXPECT_EQ(StringView(std::string_view("fgh").substr(1)).view(), "gh");
  EXPECT_TRUE(StringView().empty());
  EXPECT_NE(StringView().data(), nullptr);
}

TEST(Dim3, CountsInSixtyFourBits) {
  EXPECT_EQ((Dim3{65536, 65536, 2}).volume(), uint64_t{1} << 33);
}

TEST(Deadline, LiesAheadAndSaturates) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t ns = static_cast<uint64_t>(now.tv_sec) * 1000000000u + now.tv_nsec;
  EXPECT_GE(Deadline::after_ns(1000).monotonic_ns, ns + 1000);
  EXPECT_TRUE(Deadline::after_ns(UINT64_MAX).is_infinite());
  EXPECT_TRUE(Deadline::infinite().is_infinite());
  EXPECT_FALSE(Deadline::poll().is_infinite());
}

class Counted {
 public:
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }

  void add_ref() noexcept { ++references_; }
  void release() noexcept {
    if (--references_ > 0) return;
    --alive_;
    delete this;
  }

 private:
  int references_ = 1;
  int& alive_;
};

TEST(Ref, DestroysWithTheLastOne) {
  int alive = 0;
  {
    Ref<Counted> first = Ref<Counted>::adopt(new Counted(alive));
    Ref<Counted> second = first;
    Ref<Counted> third = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    second = nullptr;
    EXPECT_EQ(alive, 1);
    Ref<Counted> fourth = Ref<Counted>::retain(third.get());
    third = fourth;
    Counted* leaked = third.leak();
    fourth = nullptr;
    EXPECT_EQ(alive, 1);
    leaked->release();
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace halyard
