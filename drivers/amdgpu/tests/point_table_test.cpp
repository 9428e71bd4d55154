#include "drivers/amdgpu/point_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace halyard::amdgpu {
namespace {

constexpr auto kKeep = [](const TimelinePoint&) { return false; };
constexpr auto kRelease = [](const TimelinePoint&) { return true; };

TimelinePoint point(uint64_t value) {
  return {value, {nullptr, value}};
}

std::set<uint64_t> values(PointTable& table) {
  std::set<uint64_t> seen;
  table.visit([&](const TimelinePoint& p) { seen.insert(p.value); });
  return seen;
}

// Adds points with the values `first` to `last`.
void fill(PointTable& table, uint64_t first, uint64_t last) {
  table.grow();
  for (uint64_t value = first; value <= last; ++value)
    ASSERT_TRUE(table.add(point(value), kKeep)) << value;
}

TEST(PointTable, MorePointsThanAreInlineAreAllVisited) {
  PointTable table;
  fill(table, 1, 3 * PointTable::kInline);
  EXPECT_EQ(values(table).size(), 3 * PointTable::kInline);
}

TEST(PointTable, WithoutGrowingThereIsRoomForTheInlineOnesAlone) {
  PointTable table;
  for (uint64_t value = 0; value < PointTable::kInline; ++value)
    ASSERT_TRUE(table.add(point(value), kKeep));
  EXPECT_FALSE(table.add(point(100), kKeep));
}

TEST(PointTable, WhatIsLeftBeyondTheInlineOnesIsFound) {
  PointTable table;
  constexpr uint64_t kLast = 3 * PointTable::kInline;
  fill(table, 1, kLast);
  table.remove_if([](const TimelinePoint& p) { return p.value != kLast; });
  EXPECT_EQ(values(table), std::set<uint64_t>{kLast});
}

TEST(PointTable, APointBeyondTheInlineOnesThatTookAnothersPlaceIsFound) {
  PointTable table;
  fill(table, 1, PointTable::kInline + 1);
  // The inline ones stand, so that only the last one's place is to be had.
  const auto release_last = [](const TimelinePoint& old) {
    return old.value > PointTable::kInline;
  };
  for (uint64_t value = 100; value < 100 + 2 * PointTable::kMore; ++value)
    ASSERT_TRUE(table.add(point(value), release_last));
  const std::set<uint64_t> seen = values(table);
  EXPECT_TRUE(seen.contains(100 + 2 * PointTable::kMore - 1));
  table.remove_if([](const TimelinePoint& p) { return p.value <= PointTable::kInline; });
  EXPECT_EQ(values(table).size(), seen.size() - PointTable::kInline);
}

TEST(PointTable, IsUsableAgainAfterAllWereRemoved) {
  PointTable table;
  fill(table, 1, 100);
  table.remove_if(kRelease);
  EXPECT_TRUE(values(table).empty());
  fill(table, 1, 100);
  EXPECT_EQ(values(table).size(), 100U);
}

// However removals and additions meet, a point that was added is found by whoever looks afterwards.
TEST(PointTable, PointsStayVisibleWhileOthersComeAndGo) {
  PointTable table;
  constexpr uint64_t kStanding = 2 * PointTable::kInline;
  fill(table, 1, kStanding);
  const auto is_passing = [](const TimelinePoint& p) { return p.value > kStanding; };
  std::atomic<bool> stop{false};
  std::thread remover([&] {
    while (!stop.load()) table.remove_if(is_passing);
  });
  for (uint64_t i = 1; i <= 2000; ++i) {
    ASSERT_TRUE(table.add(point(kStanding + i), is_passing));
    if (i % 100 == 0) {
      const std::set<uint64_t> seen = values(table);
      for (uint64_t value = 1; value <= kStanding; ++value) ASSERT_TRUE(seen.contains(value));
    }
  }
  stop.store(true);
  remover.join();
  table.remove_if(is_passing);
  EXPECT_EQ(values(table).size(), kStanding);
}

}  // namespace
}  // namespace halyard::amdgpu
