#include "vgpu/queue/core_sharing.h"

#include <gtest/gtest.h>

namespace {

using halyard::vgpu::queue::CoreSharing;
using Next = CoreSharing::Next;

constexpr uint64_t kNow = 1'000'000'000;
constexpr uint64_t kSwitch = 5'000;     // another thread ran, and yielded in its turn
constexpr uint64_t kSlice = 3'000'000;  // another thread ran until it was made to stop

TEST(CoreSharing, AloneYieldsOnlyAfterManyLooks) {
  const CoreSharing sharing;
  EXPECT_EQ(sharing.next(CoreSharing::kPolitePolls, kNow, false), Next::kLook);
  EXPECT_EQ(sharing.next(CoreSharing::kBusyPolls - 1, kNow, false), Next::kLook);
  EXPECT_EQ(sharing.next(CoreSharing::kBusyPolls, kNow, false), Next::kYield);
}

TEST(CoreSharing, CrowdedNapsSoon) {
  const CoreSharing sharing;
  EXPECT_EQ(sharing.next(1, kNow, true), Next::kLook);
  EXPECT_EQ(sharing.next(CoreSharing::kPolitePolls, kNow, true), Next::kNap);
}

TEST(CoreSharing, YieldsSoonToAThreadThatYieldsBack) {
  CoreSharing sharing;
  sharing.yielded(kNow, kNow + kSwitch);
  EXPECT_EQ(sharing.next(CoreSharing::kPolitePolls, kNow + kSwitch, false), Next::kYield);
}

TEST(CoreSharing, AYieldThatNobodyTookEndsTheSharing) {
  CoreSharing sharing;
  sharing.yielded(kNow, kNow + kSwitch);
  sharing.yielded(kNow, kNow + CoreSharing::kAloneNs - 1);
  EXPECT_EQ(sharing.next(CoreSharing::kPolitePolls, kNow + kSwitch, false), Next::kLook);
}

TEST(CoreSharing, NapsForAWhileOnACoreThatAnotherThreadSpinsOn) {
  CoreSharing sharing;
  const uint64_t end = kNow + kSlice;
  sharing.yielded(kNow, end);
  EXPECT_EQ(sharing.next(1, end, false), Next::kLook);
  EXPECT_EQ(sharing.next(CoreSharing::kPolitePolls, end, false), Next::kNap);
  EXPECT_EQ(sharing.next(1000, end + CoreSharing::kMemoryNs - 1, false), Next::kNap);
  EXPECT_EQ(sharing.next(1000, end + CoreSharing::kMemoryNs, false), Next::kYield);
}

TEST(CoreSharing, DoesWithoutNapsAfterOneThatIsVeryLate) {
  CoreSharing sharing;
  EXPECT_TRUE(sharing.naps_end_in_time(kNow));
  sharing.napped(kSwitch, kNow, kNow + 2 * kSwitch);
  EXPECT_TRUE(sharing.naps_end_in_time(kNow));
  sharing.napped(kSwitch, kNow - kSlice, kNow);
  EXPECT_FALSE(sharing.naps_end_in_time(kNow + CoreSharing::kFirstMistrustNs - 1));
  EXPECT_TRUE(sharing.naps_end_in_time(kNow + CoreSharing::kFirstMistrustNs));
}

TEST(CoreSharing, ANapNowAndThenMayBeLate) {
  CoreSharing sharing;
  for (int nap = 0; nap < 100; ++nap) {
    sharing.napped(kSwitch, kNow - 5 * CoreSharing::kLateNs, kNow);
    for (int in_time = 0; in_time < 10; ++in_time) sharing.napped(kSwitch, kNow, kNow + kSwitch);
    EXPECT_TRUE(sharing.naps_end_in_time(kNow));
  }
}

TEST(CoreSharing, DoesWithoutNapsLongerAndLongerWhereAllAreLate) {
  CoreSharing sharing;
  for (int late = 0; late < 20; ++late) sharing.napped(kSwitch, kNow - kSlice, kNow);
  EXPECT_FALSE(sharing.naps_end_in_time(kNow + CoreSharing::kLongestMistrustNs - 1));
  EXPECT_TRUE(sharing.naps_end_in_time(kNow + CoreSharing::kLongestMistrustNs));
  sharing.napped(kSwitch, kNow, kNow + kSwitch);
  sharing.napped(kSwitch, kNow - kSlice, kNow);
  EXPECT_TRUE(sharing.naps_end_in_time(kNow + CoreSharing::kFirstMistrustNs));
}

}  // namespace
