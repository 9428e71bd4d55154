#include "vgpu/observe/lds_bytes.h"

#include <gtest/gtest.h>

namespace halyard::vgpu::observe {
namespace {

using Order = LdsByte::Order;

// A byte that the work-group has written before the barrier that starts the phase.
class LdsByteTest : public ::testing::Test {
 protected:
  LdsByteTest() { byte.use(0, LdsUse::kWrite, 1, true, 0); }

  Order write(uint32_t wave, bool changes) { return use(wave, LdsUse::kWrite, changes).order; }
  Order read(uint32_t wave) { return use(wave, LdsUse::kRead).order; }
  Order update(uint32_t wave) { return use(wave, LdsUse::kAtomic).order; }
  LdsByte::Verdict use(uint32_t wave, LdsUse use, bool changes = false) {
    return byte.use(wave, use, phase, changes, 0x100 + wave);
  }

  LdsByte byte;
  uint32_t phase = 2;
};

constexpr bool kChanges = true;
constexpr bool kEqual = false;

TEST_F(LdsByteTest, ABarrierOrdersEverything) {
  EXPECT_EQ(write(1, kChanges), Order::kNone);
  ++phase;
  EXPECT_EQ(read(2), Order::kNone);
  ++phase;
  EXPECT_EQ(update(3), Order::kNone);
}

TEST_F(LdsByteTest, AWaveHasNoRaceWithItself) {
  EXPECT_EQ(write(1, kChanges), Order::kNone);
  EXPECT_EQ(read(1), Order::kNone);
  EXPECT_EQ(write(1, kChanges), Order::kNone);
  EXPECT_EQ(update(1), Order::kNone);
}

TEST_F(LdsByteTest, WritesOfTheSameValueNeedNoOrder) {
  EXPECT_EQ(write(1, kChanges), Order::kNone);
  EXPECT_EQ(write(2, kEqual), Order::kEqual);
  EXPECT_EQ(write(3, kEqual), Order::kEqual);
}

TEST_F(LdsByteTest, AWriteOfAnotherValueNeedsOne) {
  EXPECT_EQ(write(1, kChanges), Order::kNone);
  EXPECT_EQ(write(2, kChanges), Order::kMatters);
}

TEST_F(LdsByteTest, EqualToTheLastOfTwoThatDifferIsNotEqual) {
  write(1, kChanges);
  write(2, kChanges);
  EXPECT_EQ(write(3, kEqual), Order::kMatters);
}

TEST_F(LdsByteTest, EachReadsWhatItHasWrittenItself) {
  write(1, kChanges);
  EXPECT_EQ(read(1), Order::kNone);
  EXPECT_EQ(write(2, kEqual), Order::kEqual);
  EXPECT_EQ(read(2), Order::kNone);
  EXPECT_EQ(write(3, kChanges), Order::kMatters);
  EXPECT_EQ(read(1), Order::kMatters);
}

TEST_F(LdsByteTest, AReaderThatHasNotWrittenNeedsAnOrder) {
  write(1, kChanges);
  EXPECT_EQ(read(2), Order::kMatters);
}

TEST_F(LdsByteTest, WhoReadsAndThenWritesHasReadAnotherValue) {
  EXPECT_EQ(read(1), Order::kNone);
  EXPECT_EQ(write(1, kChanges), Order::kNone);
  EXPECT_EQ(write(2, kEqual), Order::kMatters);
}

TEST_F(LdsByteTest, AWriteThatChangesNothingIsNotSeenByReaders) {
  EXPECT_EQ(read(1), Order::kNone);
  EXPECT_EQ(write(2, kEqual), Order::kEqual);
  EXPECT_EQ(read(3), Order::kEqual);
  EXPECT_EQ(write(3, kChanges), Order::kMatters);
}

TEST_F(LdsByteTest, UpdatesNeedNoOrderAmongEachOther) {
  EXPECT_EQ(update(1), Order::kNone);
  EXPECT_EQ(update(2), Order::kNone);
  EXPECT_EQ(read(3), Order::kMatters);
  EXPECT_EQ(write(4, kEqual), Order::kMatters);
  EXPECT_EQ(update(5), Order::kMatters);
}

TEST_F(LdsByteTest, TheFirstWriteOfTheWorkGroupChangesWhateverWasThere) {
  byte = {};
  EXPECT_FALSE(byte.is_written());
  EXPECT_EQ(write(1, kEqual), Order::kNone);
  EXPECT_EQ(read(2), Order::kMatters);
}

TEST_F(LdsByteTest, EachOf32WavesIsKnown) {
  for (uint32_t wave = 0; wave < kMostWaves; ++wave) {
    for (uint32_t other = 0; other < kMostWaves; ++other) {
      if (other == wave) continue;
      ++phase;
      ASSERT_EQ(write(wave, kChanges), Order::kNone);
      ASSERT_EQ(read(wave), Order::kNone);
      const LdsByte::Verdict verdict = use(other, LdsUse::kRead);
      ASSERT_EQ(verdict.order, Order::kMatters) << wave << " " << other;
      ASSERT_EQ(verdict.rivals, WaveMask{1} << wave);
      ASSERT_EQ(verdict.user, wave);
      ASSERT_EQ(verdict.user_pc, 0x100 + wave);
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::observe
