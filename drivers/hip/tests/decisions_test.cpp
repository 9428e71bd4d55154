// The driver's decisions that need no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "drivers/hip/facts.h"
#include "drivers/hip/mark_plan.h"
#include "drivers/hip/profiler.h"
#include "drivers/hip/queue_core.h"
#include "drivers/hip/transfers.h"

namespace halyard::hip {
namespace {

// A stream of which nothing is done until it is full, and then only what somebody has to wait for.
class MarkedStream {
 public:
  explicit MarkedStream(uint64_t capacity) : capacity_(capacity) {}

  void put(uint64_t operations) {
    for (uint64_t i = 0; i < operations; ++i) {
      if (number_ - done_ == capacity_) make_room();
      ++number_;
      if (plan_mark(number_ - last_mark(), number_ - done_, capacity_)) marks_.push_back(number_);
    }
  }
  uint64_t marks() const { return marks_.size(); }
  uint64_t longest_gap() const {
    uint64_t longest = 0;
    uint64_t before = 0;
    for (const uint64_t mark : marks_)
      longest = std::max(longest, mark - std::exchange(before, mark));
    return std::max(longest, number_ - before);
  }
  // What was still there, at least, whenever there was room again.
  uint64_t least_left() const { return least_left_; }

 private:
  uint64_t last_mark() const { return marks_.empty() ? 0 : marks_.back(); }
  void make_room() {
    const auto mark = std::upper_bound(marks_.begin(), marks_.end(), done_);
    done_ = mark == marks_.end() ? number_ : *mark;
    least_left_ = std::min(least_left_, number_ - done_);
  }

  uint64_t capacity_;
  uint64_t number_ = 0;
  uint64_t done_ = 0;
  uint64_t least_left_ = UINT64_MAX;
  std::vector<uint64_t> marks_;
};

TEST(PlanMark, ABurstThatLeavesRoomHasNone) {
  MarkedStream stream(1024);
  stream.put(767);
  EXPECT_EQ(stream.marks(), 0u);
}
TEST(PlanMark, WhoeverFindsTheStreamFullNeedNotWaitForAllOfIt) {
  for (const uint64_t capacity : {64u, 1024u, 2048u, 4096u}) {
    MarkedStream stream(capacity);
    stream.put(20 * capacity);
    EXPECT_GE(stream.least_left(), capacity / 4) << capacity;
    EXPECT_LT(stream.least_left(), capacity) << capacity;
  }
}
TEST(PlanMark, AStreamThatIsNeverFullIsMarkedAllTheSame) {
  constexpr uint64_t kNoBound = 1'000'000;
  MarkedStream stream(kNoBound);
  stream.put(100'000);
  EXPECT_LE(stream.longest_gap(), kMostUnmarked);
}

TEST(PlanMarkKind, AWordThatArrivesIsEnough) {
  const MarkPlan plan = plan_mark_kind({.may_write = true, .writes_arrive = true});
  EXPECT_TRUE(plan.word);
  EXPECT_FALSE(plan.event);
}
TEST(PlanMarkKind, OneThatMayNotArriveHasAnEventBehindIt) {
  const MarkPlan plan = plan_mark_kind({.may_write = true, .writes_arrive = false});
  EXPECT_TRUE(plan.word);
  EXPECT_TRUE(plan.event);
}
TEST(PlanMarkKind, AStreamWaitsForEventsOnly) {
  const MarkPlan plan =
      plan_mark_kind({.may_write = true, .writes_arrive = true, .for_stream = true});
  EXPECT_FALSE(plan.word);
  EXPECT_TRUE(plan.event);
}
TEST(PlanMarkKind, AnEventMakesHipLetGoOfManyCommands) {
  MarkFacts facts = {
      .may_write = true, .writes_arrive = true, .kept = kSomeKept, .all_kept = kMostKept - 1};
  EXPECT_FALSE(plan_mark_kind(facts).event);
  ++facts.all_kept;
  EXPECT_TRUE(plan_mark_kind(facts).event);
  --facts.kept;
  EXPECT_FALSE(plan_mark_kind(facts).event);
}
TEST(PlanMarkKind, WithoutWordsItIsAnEvent) {
  const MarkPlan plan = plan_mark_kind({});
  EXPECT_FALSE(plan.word);
  EXPECT_TRUE(plan.event);
}

uint32_t period(const char* pattern) {
  return shortest_period(reinterpret_cast<const unsigned char*>(pattern),
                         static_cast<uint32_t>(std::strlen(pattern)));
}

TEST(ShortestPeriod, IsThatOfTheBytes) {
  EXPECT_EQ(period("aaaaaaaaaaaaaaaa"), 1u);
  EXPECT_EQ(period("abababab"), 2u);
  EXPECT_EQ(period("abcdabcd"), 4u);
  EXPECT_EQ(period("abcdabce"), 8u);
  EXPECT_EQ(period("abcdefghabcdefgi"), 16u);
  EXPECT_EQ(period("a"), 1u);
  EXPECT_EQ(period("abcabc"), 3u);
  EXPECT_EQ(period("ababab"), 6u) << "a third, and no half";
  EXPECT_EQ(period("abc"), 3u);
}

TEST(UuidText, IsTheDigitsThatHipGives) {
  hipUUID uuid;
  std::memcpy(uuid.bytes, "48414c5944390000", 16);
  EXPECT_EQ(uuid_text(uuid), "GPU-48414c5944390000");
}
TEST(UuidText, IsEmptyForWhatIsNone) {
  EXPECT_EQ(uuid_text(hipUUID{}), "");
  hipUUID zeros;
  std::memset(zeros.bytes, '0', 16);
  EXPECT_EQ(uuid_text(zeros), "");
  hipUUID binary;
  std::memset(binary.bytes, '\x9c', 16);
  EXPECT_EQ(uuid_text(binary), "");
}

TEST(StreamCapacity, IsAPowerOfTwoWithinBounds) {
  EXPECT_EQ(stream_capacity(0), 2048u);
  EXPECT_EQ(stream_capacity(1), 64u);
  EXPECT_EQ(stream_capacity(65), 128u);
  EXPECT_EQ(stream_capacity(128), 128u);
  EXPECT_EQ(stream_capacity(UINT32_MAX), 4096u);
}

TEST(PlaceOnClock, MeasuresFromTheAnchor) {
  const std::vector<MeasuredOperation> operations = {{2.0F, 3.5F, 900'000'000}};
  EXPECT_EQ(settle_anchor(1'000'000'000, operations, 2'000'000'000), 1'000'000'000u);
  const TimeSpan event = place_on_clock(1'000'000'000, operations[0]);
  EXPECT_EQ(event.begin_ns, 1'002'000'000u);
  EXPECT_EQ(event.end_ns, 1'003'500'000u);
}
TEST(PlaceOnClock, NothingBeginsBeforeItIsSubmitted) {
  const std::vector<MeasuredOperation> operations = {{0.5F, 0.75F, 1'600'000},
                                                     {0.75F, 1.0F, 1'650'000}};
  const uint64_t anchor = settle_anchor(1'000'000, operations, 9'000'000);
  const TimeSpan first = place_on_clock(anchor, operations[0]);
  EXPECT_EQ(first.begin_ns, 1'600'000u);
  EXPECT_EQ(first.end_ns, 1'850'000u);
  // What follows moves as well.
  EXPECT_EQ(place_on_clock(anchor, operations[1]).begin_ns, first.end_ns);
}
TEST(PlaceOnClock, NothingEndsAfterNow) {
  const std::vector<MeasuredOperation> operations = {{0.5F, 5.0F, 1'200'000}};
  const uint64_t anchor = settle_anchor(1'000'000, {{0.5F, 5.0F, 100}}, 5'500'000);
  EXPECT_EQ(place_on_clock(anchor, operations[0]).end_ns, 5'500'000u);
}
TEST(PlaceOnClock, NothingToPlaceMovesNothing) {
  EXPECT_EQ(settle_anchor(7, {}, 9), 7u);
}

}  // namespace
}  // namespace halyard::hip
