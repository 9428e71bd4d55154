#include "vgpu/races/shadow.h"

#include <gmock/gmock.h>

namespace halyard::vgpu::races::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint64_t kAll = ~uint64_t{0};

class ShadowTest : public ::testing::Test {
 protected:
  // The bytes of each cell that `mask` of the line at `address` touches.
  std::vector<uint64_t> cells(uint64_t address, uint64_t mask) {
    std::vector<uint64_t> found;
    Line* const line = shadow.line(address, mask);
    if (line != nullptr)
      line->for_each_cell(mask, [&](const Cell&, uint64_t bytes) { found.push_back(bytes); });
    return found;
  }

  Budget budget{1 << 20};
  Shadow shadow{budget};
};

TEST_F(ShadowTest, ALineHasAsManyCellsAsItsAccessesNeed) {
  EXPECT_THAT(cells(0x1000, kAll), ElementsAre(kAll));
  EXPECT_THAT(cells(0x1000, 0xf0), ElementsAre(0xf0));
  EXPECT_THAT(cells(0x1000, kAll), SizeIs(16));
  EXPECT_THAT(cells(0x1000, 0x0ff0), ElementsAre(0xf0, 0xf00));
  EXPECT_THAT(cells(0x1000, 0x6), ElementsAre(0x2, 0x4));
  EXPECT_THAT(cells(0x1000, kAll), SizeIs(64));
  EXPECT_THAT(cells(0x1040, 0x80), ElementsAre(0x80));
}

TEST_F(ShadowTest, DividedCellsKeepWhatTheOneHad) {
  const auto nothing = [](Conflict, const Access&) {};
  const Order order{{0, 0}, 1, nullptr};
  Line* line = shadow.line(0x2000, kAll);
  line->for_each_cell(kAll, [&](Cell& cell, uint64_t) {
    cell.write(order, Access({0, 0}, 1, 9, false), {true, 0, 1}, nothing);
  });
  for (const uint64_t mask : {uint64_t{0xf}, uint64_t{1} << 63}) {
    line = shadow.line(0x2000, mask);
    line->for_each_cell(
        mask, [](const Cell& cell, uint64_t) { EXPECT_EQ(cell.last_write().site(), 9U); });
  }
}

TEST_F(ShadowTest, WhatDoesNotFitIsLeftOutAndSaid) {
  Budget little(sizeof(Cell) * 50);
  {
    Shadow small(little);
    EXPECT_FALSE(small.is_cut());
    EXPECT_EQ(small.line(0x1000, kAll), nullptr);
    EXPECT_TRUE(small.is_cut());
    for (uint64_t n = 0; n < 100; ++n) {
      if (small.released(n * 4) == nullptr) break;
      EXPECT_LT(n, 99U);
    }
  }
  EXPECT_TRUE(little.take(little.most()));
}

TEST_F(ShadowTest, ALineThatCannotBeDividedIsNotWatched) {
  while (budget.take(1 << 10)) {
  }
  budget.give(4 << 10);
  ASSERT_NE(shadow.line(0x1000, kAll), nullptr);
  EXPECT_EQ(shadow.line(0x1000, 1), nullptr);
  EXPECT_EQ(shadow.line(0x1000, kAll), nullptr);
  EXPECT_TRUE(shadow.is_cut());
}

}  // namespace
}  // namespace halyard::vgpu::races::testing
