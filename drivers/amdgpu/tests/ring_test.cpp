#include "drivers/amdgpu/ring.h"

#include <gtest/gtest.h>

namespace halyard::amdgpu {
namespace {

TEST(Reservation, KeepsIndexAndLoudCountApart) {
  uint64_t state = 0;
  state += reservation(3, 1);
  state += reservation(1, 0);
  state += reservation(2, 1);
  EXPECT_EQ(index_of(state), 6u);
  EXPECT_EQ(loud_of(state), 2u);
}

TEST(Reservation, LoudCountWrapsWithoutTouchingTheIndex) {
  uint64_t state = 0;
  for (int i = 0; i < 65536 + 5; ++i) state += reservation(1, 1);
  EXPECT_EQ(index_of(state), 65541u);
  EXPECT_EQ(loud_of(state), 5u);
}

TEST(FullLoudOrdinal, IsTheNextOneWhenNothingIsInFlight) {
  EXPECT_EQ(full_loud_ordinal(1, 0), 1u);
  EXPECT_EQ(full_loud_ordinal(8, 7), 8u);
}

TEST(FullLoudOrdinal, CrossesTheWrapOfItsLowBits) {
  EXPECT_EQ(full_loud_ordinal(0, 65535), 65536u);
  EXPECT_EQ(full_loud_ordinal(3, 65530), 65539u);
  EXPECT_EQ(full_loud_ordinal(3, 65536 + 2), 65539u);
  EXPECT_EQ(full_loud_ordinal(static_cast<uint16_t>(1'000'000), 999'000), 1'000'000u);
}

TEST(FullLoudOrdinal, HoldsForAllThatCanBeInFlight) {
  for (const uint64_t done : {uint64_t{0}, uint64_t{65535}, uint64_t{123'456'789}}) {
    for (const uint64_t ahead : {1u, 2u, kMaxCapacity, 2 * kMaxCapacity}) {
      EXPECT_EQ(full_loud_ordinal(static_cast<uint16_t>(done + ahead), done), done + ahead);
    }
  }
}

TEST(KernargBlocks, AtLeastOneAndRoundedUp) {
  EXPECT_EQ(kernarg_blocks(0), 1u);
  EXPECT_EQ(kernarg_blocks(1), 1u);
  EXPECT_EQ(kernarg_blocks(kKernargBlock), 1u);
  EXPECT_EQ(kernarg_blocks(kKernargBlock + 1), 2u);
  EXPECT_EQ(kernarg_blocks(kMaxKernargBlocks * kKernargBlock), kMaxKernargBlocks);
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
