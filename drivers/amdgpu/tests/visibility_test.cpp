#include "drivers/amdgpu/visibility.h"

#include <gtest/gtest.h>

namespace halyard::amdgpu {
namespace {

constexpr PacketKind kKinds[] = {PacketKind::kDispatch, PacketKind::kBarrier,
                                 PacketKind::kBarrierValue};

TEST(Origins, OnlyADevicesOwnMemoryIsNotForeign) {
  EXPECT_FALSE(is_foreign(Origin::kOwn));
  EXPECT_TRUE(is_foreign(Origin::kHost));
  EXPECT_TRUE(is_foreign(Origin::kPeer));
  EXPECT_TRUE(is_foreign(Origin::kImported));
}

TEST(Origins, OwnMemoryIsAnotherDevicesPeerMemory) {
  EXPECT_EQ(seen_from(Origin::kOwn, true), Origin::kOwn);
  EXPECT_EQ(seen_from(Origin::kOwn, false), Origin::kPeer);
  for (const Origin origin : {Origin::kHost, Origin::kPeer, Origin::kImported}) {
    for (const bool same_device : {true, false}) EXPECT_EQ(seen_from(origin, same_device), origin);
  }
}

TEST(FenceScopes, WorkAmongOneQueueStaysInTheDevice) {
  const FenceScopes scopes = fence_scopes({.kind = PacketKind::kDispatch});
  EXPECT_EQ(scopes.acquire, Scope::kAgent);
  EXPECT_EQ(scopes.release, Scope::kAgent);
}

TEST(FenceScopes, WhatIsLookedAtIsReleasedToTheSystem) {
  for (const PacketKind kind : kKinds) {
    EXPECT_EQ(fence_scopes({.kind = kind, .observed = true}).release, Scope::kSystem);
  }
}

TEST(FenceScopes, WhatOthersWroteIsAcquiredFromTheSystem) {
  EXPECT_EQ(fence_scopes({.kind = PacketKind::kDispatch, .reads_foreign = true}).acquire,
            Scope::kSystem);
}

TEST(FenceScopes, BarriersAlwaysAcquireFromTheSystem) {
  EXPECT_EQ(fence_scopes({.kind = PacketKind::kBarrier}).acquire, Scope::kSystem);
  EXPECT_EQ(fence_scopes({.kind = PacketKind::kBarrierValue}).acquire, Scope::kSystem);
}

TEST(FenceScopes, NoPacketGoesWithoutFences) {
  for (const PacketKind kind : kKinds) {
    for (const bool observed : {false, true}) {
      for (const bool foreign : {false, true}) {
        const FenceScopes scopes =
            fence_scopes({.kind = kind, .observed = observed, .reads_foreign = foreign});
        EXPECT_NE(scopes.acquire, Scope::kNone);
        EXPECT_NE(scopes.release, Scope::kNone);
      }
    }
  }
}

TEST(RecordedScopes, TheFirstAcquiresForAll) {
  for (const bool barrier : {false, true}) {
    EXPECT_EQ(recorded_scopes({.first = true, .barrier = barrier}),
              (FenceScopes{Scope::kSystem, Scope::kAgent}));
  }
  EXPECT_EQ(recorded_scopes({.barrier = true}), (FenceScopes{Scope::kAgent, Scope::kAgent}));
  EXPECT_EQ(recorded_scopes({}), (FenceScopes{Scope::kNone, Scope::kAgent}));
}

TEST(CountingScopes, AcquireWhereNoOtherPacketHas) {
  for (const bool observed : {false, true}) {
    const Scope release = observed ? Scope::kSystem : Scope::kAgent;
    EXPECT_EQ(counting_scopes({.observed = observed}), (FenceScopes{Scope::kNone, release}));
    EXPECT_EQ(counting_scopes({.observed = observed, .alone = true}),
              (FenceScopes{Scope::kSystem, release}));
  }
}

TEST(HostTurns, NeedAPacketUnlessTheLastOneWasObserved) {
  EXPECT_FALSE(needs_packet_before_host({.idle = true, .released = true}));
  EXPECT_TRUE(needs_packet_before_host({.idle = true, .released = false}));
  EXPECT_TRUE(needs_packet_before_host({.idle = false, .released = true}));
  EXPECT_TRUE(needs_packet_before_host({.idle = false, .released = false}));
}

TEST(AcquireStates, FirstPacketsAndObservationsAcquire) {
  const std::atomic<uint32_t> unheard{0};
  AcquireState state(unheard);
  EXPECT_TRUE(state.acquires_foreign(0));
  EXPECT_FALSE(state.acquires_foreign(1));
  state.host_observed();
  EXPECT_TRUE(state.acquires_foreign(5));
  // An earlier packet that is written later has no fence before it.
  EXPECT_TRUE(state.acquires_foreign(4));
  EXPECT_FALSE(state.acquires_foreign(6));
}

TEST(AcquireStates, AllAcquireWhileThereIsUnheardMemory) {
  std::atomic<uint32_t> unheard{0};
  AcquireState state(unheard);
  EXPECT_TRUE(state.acquires_foreign(0));
  EXPECT_FALSE(state.acquires_foreign(1));
  unheard = 1;
  state.host_observed();
  EXPECT_TRUE(state.acquires_foreign(2));
  EXPECT_TRUE(state.acquires_foreign(3));
  unheard = 0;
  // What was written last.
  EXPECT_TRUE(state.acquires_foreign(4));
  EXPECT_FALSE(state.acquires_foreign(5));
}

}  // namespace
}  // namespace halyard::amdgpu
