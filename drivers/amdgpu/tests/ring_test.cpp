#include "drivers/amdgpu/ring.h"

#include <gtest/gtest.h>

namespace halyard::amdgpu {
namespace {

TEST(SlotTag, KeepsIndexAndInterruptApart) {
  EXPECT_EQ(tag_index(slot_tag(5, true)), 5u);
  EXPECT_TRUE(tag_interrupts(slot_tag(5, true)));
  EXPECT_EQ(tag_index(slot_tag(5, false)), 5u);
  EXPECT_FALSE(tag_interrupts(slot_tag(5, false)));
}

TEST(SlotTag, AnUnusedSlotIsNoPackets) {
  EXPECT_NE(tag_index(kUnusedTag), 0u);
  EXPECT_GT(tag_index(kUnusedTag), uint64_t{1} << 60);
}

TEST(KernargBlocks, AtLeastOneAndRoundedUp) {
  EXPECT_EQ(kernarg_blocks(0, kKernargBlock), 1u);
  EXPECT_EQ(kernarg_blocks(1, kKernargBlock), 1u);
  EXPECT_EQ(kernarg_blocks(kKernargBlock, kKernargBlock), 1u);
  EXPECT_EQ(kernarg_blocks(kKernargBlock + 1, kKernargBlock), 2u);
  EXPECT_EQ(kernarg_blocks(kMaxKernargBlocks * kKernargBlock, kKernargBlock), kMaxKernargBlocks);
}

TEST(RoomLimit, ASlotIsFreeOnlyWhenItsPacketIsBothTakenAndDone) {
  EXPECT_EQ(room_limit(0, 0, 64), 64u);
  EXPECT_EQ(room_limit(5, 9, 64), 69u);  // taken, and still reading its arguments
  EXPECT_EQ(room_limit(9, 5, 64), 69u);  // done, and the read index lags behind
}

TEST(RingCapacity, DefaultIsUsedForZero) {
  EXPECT_EQ(ring_capacity(0, 16, 131072), kDefaultCapacity);
}

TEST(RingCapacity, RoundsUpToAPowerOfTwoWithinTheLimits) {
  EXPECT_EQ(ring_capacity(1, 16, 131072), kMinCapacity);
  EXPECT_EQ(ring_capacity(65, 16, 131072), 128u);
  EXPECT_EQ(ring_capacity(UINT32_MAX, 16, 131072), kMaxCapacity);
  EXPECT_EQ(ring_capacity(4096, 16, 2048), 2048u);
  EXPECT_EQ(ring_capacity(1, 256, 2048), 256u);
}

TEST(RingCapacity, ARingHoldsTheLongestLaunch) {
  EXPECT_GE(kMinCapacity, kMaxKernargBlocks);
}

}  // namespace
}  // namespace halyard::amdgpu
