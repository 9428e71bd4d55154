#include "vgpu/queue/core_sharing.h"

#include <gtest/gtest.h>

namespace {

using halyard::vgpu::queue::CoreSharing;

constexpr uint64_t kNow = 1'000'000'000;
constexpr uint64_t kSwitch = 5'000;     // another thread ran, and yielded in its turn
constexpr uint64_t kSlice = 3'000'000;  // another thread ran until it was made to stop

TEST(CoreSharing, AloneYieldsOnlyAfterManyLooks) {
  const CoreSharing sharing;
  EXPECT_FALSE(sharing.should_yield(CoreSharing::kPolitePolls, kNow, false));
  EXPECT_FALSE(sharing.should_yield(CoreSharing::kBusyPolls - 1, kNow, false));
  EXPECT_TRUE(sharing.should_yield(CoreSharing::kBusyPolls, kNow, false));
}

TEST(CoreSharing, CrowdedYieldsSoon) {
  const CoreSharing sharing;
  EXPECT_FALSE(sharing.should_yield(1, kNow, true));
  EXPECT_TRUE(sharing.should_yield(CoreSharing::kPolitePolls, kNow, true));
}

TEST(CoreSharing, YieldsSoonToAThreadThatYieldsBackAndStaysWithIt) {
  CoreSharing sharing;
  EXPECT_FALSE(sharing.yielded(kNow, kNow + kSwitch));
  EXPECT_TRUE(sharing.should_yield(CoreSharing::kPolitePolls, kNow + kSwitch, false));
}

TEST(CoreSharing, AYieldThatNobodyTookEndsTheSharing) {
  CoreSharing sharing;
  sharing.yielded(kNow, kNow + kSwitch);
  sharing.yielded(kNow, kNow + CoreSharing::kAloneNs - 1);
  EXPECT_FALSE(sharing.should_yield(CoreSharing::kPolitePolls, kNow + kSwitch, false));
}

TEST(CoreSharing, LeavesACoreThatAnotherThreadSpinsOn) {
  CoreSharing sharing;
  EXPECT_TRUE(sharing.yielded(kNow, kNow + kSlice));
}

TEST(CoreSharing, KeepsTheCoreForAsLongAsTheOtherHadIt) {
  CoreSharing sharing;
  const uint64_t end = kNow + kSlice;
  sharing.yielded(kNow, end);
  EXPECT_FALSE(sharing.should_yield(1000, end + kSlice - 1, true));
  EXPECT_TRUE(sharing.should_yield(1000, end + kSlice, true));
}

TEST(CoreSharing, PatienceHasABound) {
  CoreSharing sharing;
  const uint64_t end = kNow + 3'600'000'000'000;  // the machine has slept
  sharing.yielded(kNow, end);
  EXPECT_TRUE(sharing.should_yield(1000, end + CoreSharing::kLongestPatienceNs, true));
}

TEST(CoreSharing, MovesNowAndThenOnly) {
  CoreSharing sharing;
  constexpr uint64_t kTook = 2 * CoreSharing::kHoggedNs;
  const uint64_t end = kNow + kTook;
  EXPECT_TRUE(sharing.yielded(kNow, end));
  EXPECT_FALSE(sharing.yielded(end, end + kTook));
  const uint64_t later = end + CoreSharing::kMoveIntervalNs;
  EXPECT_TRUE(sharing.yielded(later - kTook, later));
}

}  // namespace
