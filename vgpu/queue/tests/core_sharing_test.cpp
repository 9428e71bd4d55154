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

}  // namespace
