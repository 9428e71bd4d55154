// What PM4 packets say to the model: caches, the order of dispatches, copies through the L2.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/coherence/packets.h"
#include "vgpu/coherence/tests/simulation.h"
#include "vgpu/host_guard.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::IsEmpty;
using Observer = queue::PacketObserver;

class Pm4PacketsTest : public ::testing::Test {
 protected:
  Pm4PacketsTest() { install_host_guard(); }

  // A dispatch of queue 1 of GPU 1, at `position` of the ring.
  Observer::Pm4Dispatch dispatch(uint64_t position, bool is_ordered = false) {
    return {1, 1, {++index_, position, position + 10}, 0x1000, is_ordered};
  }
  void write(const Observer::Pm4Dispatch& facts) {
    packets.begin(facts);
    Group(s, Packets::current()).store(data, *data + 1);
    packets.end(facts);
  }
  std::vector<std::string> read(const Observer::Pm4Dispatch& facts) {
    packets.begin(facts);
    Group(s, Packets::current()).load(data);
    packets.end(facts);
    return s.take();
  }
  static Observer::Caches acquire_all() { return {true, true, true, false, true}; }
  static Observer::Caches write_back() { return {false, false, false, false, true}; }
  // RELEASE_MEM at `position`, when packets below `written` have been written.
  void release(uint64_t position, uint64_t written, const Observer::Caches& caches) {
    packets.release(1, 1, {++index_, position, written}, caches, true);
  }

  Simulation s{{"gfx900"}};
  Packets packets{s.model(), [](uint64_t) { return std::string("reader"); },
                  [](uint32_t, uint64_t address) { return address; }};
  uint32_t* const data = s.allocate(1);
  uint64_t index_ = 0;
};

TEST_F(Pm4PacketsTest, ADispatchAcquiresNothingByItself) {
  EXPECT_THAT(read(dispatch(0)), IsEmpty());
  s.copy_in(1, data, 5);
  EXPECT_THAT(read(dispatch(10, true)),
              one_finding("stale read in kernel reader", "missing: an ACQUIRE_MEM that invalidates",
                          "the L1s (TCL1_ACTION_ENA)", "before dispatch 2",
                          "packet 2 of PM4 queue 1 on GPU 1"));
}

TEST_F(Pm4PacketsTest, AcquireMemInvalidatesWhatItNames) {
  EXPECT_THAT(read(dispatch(0)), IsEmpty());
  s.copy_in(1, data, 5);
  packets.acquire(1, 1, acquire_all());
  EXPECT_THAT(read(dispatch(10, true)), IsEmpty());
  s.copy_in(1, data, 6);
  packets.acquire(1, 1, {true, true, false, false, false});  // not the L2
  EXPECT_THAT(read(dispatch(20, true)), one_finding("stale read", "the L2 of GPU 1"));
}

TEST_F(Pm4PacketsTest, ReleaseMemWritesBackIfItSaysSo) {
  write(dispatch(0));
  release(1, 2, {});
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), one_finding("read of unreleased data",
                                    "a RELEASE_MEM that writes the L2 back (TC_WB_ACTION_EN) "
                                    "behind dispatch 1"));
  release(3, 4, write_back());
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(Pm4PacketsTest, DispatchesOverlapUntilOneWaits) {
  write(dispatch(0));
  EXPECT_THAT(
      read(dispatch(1)),
      one_finding("unordered packets", "no packet between waits for it",
                  "an EVENT_WRITE of CS_PARTIAL_FLUSH, or a RELEASE_MEM and a WAIT_REG_MEM, "
                  "before dispatch 2"));
}

TEST_F(Pm4PacketsTest, APartialFlushOrders) {
  write(dispatch(0));
  packets.flush_work(1);
  packets.acquire(1, 1, acquire_all());
  EXPECT_THAT(read(dispatch(1, true)), IsEmpty());
}

TEST_F(Pm4PacketsTest, AReleaseOrdersWhatWaitsForIt) {
  write(dispatch(0));
  release(1, 100, write_back());
  packets.acquire(1, 1, acquire_all());
  // It had been written before the release.
  EXPECT_THAT(read(dispatch(50)), one_finding("unordered packets"));
}

TEST_F(Pm4PacketsTest, AReleaseAndAWaitOrder) {
  write(dispatch(0));
  release(1, 100, write_back());
  packets.waited(1, 1);
  packets.acquire(1, 1, acquire_all());
  EXPECT_THAT(read(dispatch(50)), IsEmpty());
}

TEST_F(Pm4PacketsTest, WhatIsWrittenBehindAReleaseIsOrdered) {
  write(dispatch(0));
  release(1, 2, write_back());
  packets.acquire(1, 1, acquire_all());
  EXPECT_THAT(read(dispatch(2)), IsEmpty());
}

TEST_F(Pm4PacketsTest, CopiesGoThroughTheL2IfTheySaySo) {
  const auto address = reinterpret_cast<uint64_t>(data);
  const auto copy = [&](bool through_l2, uint32_t value) {
    packets.copy({1, 1, ++index_, 0, address, 4, true, false, through_l2}, [&] { *data = value; });
  };
  EXPECT_THAT(read(dispatch(0)), IsEmpty());
  copy(true, 5);
  EXPECT_THAT(s.take(), IsEmpty());
  packets.acquire(1, 1, {true, true, false, false, false});
  EXPECT_THAT(read(dispatch(1, true)), IsEmpty());
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), one_finding("read of unreleased data", "copy 1 (PM4 queue 1 of GPU 1)"));
  release(2, 3, write_back());
  copy(false, 6);
  packets.acquire(1, 1, {true, true, false, false, false});
  EXPECT_THAT(read(dispatch(3, true)), one_finding("stale read", "the L2 of GPU 1"));
  // Nothing is written.
  packets.copy({1, 1, ++index_, address, 0, 4, true, true, false}, [] {});
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(Pm4PacketsTest, ADispatchMayLieInABufferOfAnAqlPacket) {
  class NoneAhead final : public Observer::Ahead {
   public:
    std::optional<Observer::AqlPacket> next() override { return std::nullopt; }
  } ahead;
  Observer::AqlPacket vendor;
  vendor.node = vendor.queue = 1;
  vendor.index = 3;
  vendor.signals = true;
  packets.begin(vendor, ahead);
  EXPECT_EQ(Packets::current(), 0u);
  const Observer::Pm4Dispatch facts{1, 1, {3, 3, 4}, 0x1000, true};
  packets.begin(facts);
  EXPECT_NE(Packets::current(), 0u);
  packets.end(facts);
  EXPECT_EQ(Packets::current(), 0u);
  packets.end(vendor, 4);
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
