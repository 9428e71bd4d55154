// What packets and copies say to the model: fences, the order of a queue, kernel arguments, code.
#include "vgpu/coherence/packets.h"

#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <sys/mman.h>

#include <deque>
#include <optional>

#include "vgpu/coherence/tests/simulation.h"
#include "vgpu/host_guard.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using AqlPacket = queue::PacketObserver::AqlPacket;

// What the ring holds behind the packet that the queue is at.
class Ahead final : public queue::PacketObserver::Ahead {
 public:
  void publish(const AqlPacket& packet) { packets_.push_back(packet); }
  std::optional<AqlPacket> next() override {
    if (packets_.empty()) return std::nullopt;
    const AqlPacket packet = packets_.front();
    packets_.pop_front();
    return packet;
  }

 private:
  std::deque<AqlPacket> packets_;
};

constexpr uint16_t kBarrierBit = 1 << HSA_PACKET_HEADER_BARRIER;

uint16_t header(int type, int acquire = 2, int release = 2) {
  return static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE |
                               acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                               release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

class PacketsTest : public ::testing::Test {
 protected:
  PacketsTest() {
    install_host_guard();
    descriptor_[2] = 24;
    for (auto& descriptor : others_) descriptor[2] = 24;
  }

  // A packet of queue 1 of GPU 1.
  AqlPacket dispatch(uint64_t index, uint16_t with = header(HSA_PACKET_TYPE_KERNEL_DISPATCH)) {
    AqlPacket packet;
    packet.node = 1;
    packet.queue = 1;
    packet.index = index;
    packet.header = with;
    packet.kernel_object = reinterpret_cast<uint64_t>(descriptor_);
    packet.kernarg = reinterpret_cast<uint64_t>(kernarg);
    return packet;
  }
  AqlPacket barrier(uint64_t index, uint16_t with = header(HSA_PACKET_TYPE_BARRIER_AND)) {
    AqlPacket packet = dispatch(index, with);
    packet.kernel_object = packet.kernarg = 0;
    return packet;
  }

  void begin(const AqlPacket& packet) { packets.begin(packet, ahead); }
  void end(const AqlPacket& packet, uint64_t valid_below = 0) {
    packets.end(packet, valid_below != 0 ? valid_below : packet.index + 1);
  }
  // The dispatch writes, or reads, `data`.
  void write(const AqlPacket& packet, uint64_t valid_below = 0) {
    begin(packet);
    Group(s, Packets::current()).store(data, *data + 1);
    end(packet, valid_below);
  }
  std::vector<std::string> read(const AqlPacket& packet) {
    begin(packet);
    Group(s, Packets::current()).load(data);
    end(packet);
    return s.take();
  }

  Simulation s{{"gfx900", "gfx900"}};
  std::string name = "reader";
  Packets packets{s.model(), [this](uint64_t) { return name; },
                  [](uint32_t, uint64_t address) { return address; }};
  uint32_t* const data = s.allocate(1);
  uint32_t* const kernarg = s.fine();
  Ahead ahead;

  alignas(64) uint32_t others_[4][16] = {};

 private:
  alignas(64) uint32_t descriptor_[16] = {};
};

TEST_F(PacketsTest, FencesAreThoseOfTheHeader) {
  write(dispatch(0, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 2, 0) | kBarrierBit));
  EXPECT_THAT(read(dispatch(1, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 2, 2) | kBarrierBit)),
              one_finding("read of unreleased data in kernel reader",
                          "dispatch 1 (kernel reader, packet 0 of queue 1 on GPU 1)", "has none"));
  write(dispatch(2, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0, 1) | kBarrierBit));
  EXPECT_THAT(read(dispatch(3, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0, 2) | kBarrierBit)),
              one_finding("stale read", "at agent scope", "has none"));
  // 3 is reserved, and more than system is not known.
  write(dispatch(4, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 3, 3) | kBarrierBit));
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(PacketsTest, ABarrierPacketHasFencesToo) {
  write(dispatch(0, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 2, 0) | kBarrierBit));
  begin(barrier(1));
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), SizeIs(1)) << "it has not ended";
  end(barrier(1));
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(PacketsTest, NoDispatchIsCurrentOutsideOfOne) {
  EXPECT_EQ(Packets::current(), 0u);
  begin(dispatch(0));
  EXPECT_NE(Packets::current(), 0u);
  end(dispatch(0));
  EXPECT_EQ(Packets::current(), 0u);
  begin(barrier(1));
  EXPECT_EQ(Packets::current(), 0u);
}

TEST_F(PacketsTest, TheBarrierBitOrdersAllThatIsBeforeIt) {
  write(dispatch(0));
  EXPECT_THAT(read(dispatch(1)), one_finding("unordered packets"));
  EXPECT_THAT(read(dispatch(2, dispatch(2).header | kBarrierBit)), IsEmpty());
  EXPECT_THAT(read(dispatch(3)), IsEmpty());
  write(dispatch(4, dispatch(4).header | kBarrierBit));
  EXPECT_THAT(read(dispatch(5)), one_finding("unordered packets"));
  begin(barrier(6, barrier(6).header | kBarrierBit));
  end(barrier(6, barrier(6).header | kBarrierBit));
  EXPECT_THAT(read(dispatch(7)), IsEmpty());
}

TEST_F(PacketsTest, WhatWasSubmittedAfterACompletionWasToldIsOrdered) {
  AqlPacket first = dispatch(0);
  first.signals = true;
  write(first, 2);  // packet 1 had been written by then
  EXPECT_THAT(read(dispatch(1)), one_finding("unordered packets"));
  EXPECT_THAT(read(dispatch(2)), IsEmpty());
}

TEST_F(PacketsTest, ACompletionOrdersNothingButItsPacket) {
  write(dispatch(0));
  AqlPacket second = dispatch(1);
  second.signals = true;
  begin(second);
  Group(s, Packets::current()).store(data + 64, 1);
  end(second);
  begin(dispatch(2));
  Group group(s, Packets::current());
  group.load(data + 64);
  EXPECT_THAT(s.take(), IsEmpty());
  group.load(data);
  EXPECT_THAT(s.take(), one_finding("unordered packets", "packet 0 of queue 1"));
}

// Whatever its barrier bit. The signals may be those of other queues, which have waited for this
// one.
TEST_F(PacketsTest, ABarrierPacketThatWaitsOrdersWhatHasSignalled) {
  AqlPacket first = dispatch(0);
  first.signals = true;
  write(first, 5);
  AqlPacket packet = barrier(1);
  begin(packet);
  end(packet, 5);
  EXPECT_THAT(read(dispatch(2)), one_finding("unordered packets"));
  packet = barrier(3);
  packet.waits = true;
  begin(packet);
  end(packet, 5);
  EXPECT_THAT(read(dispatch(4)), IsEmpty());
  write(dispatch(5, dispatch(5).header | kBarrierBit));
  packet = barrier(6);
  packet.waits = true;
  begin(packet);
  end(packet, 8);
  EXPECT_THAT(read(dispatch(7)), one_finding("unordered packets")) << "5 signals nobody";
}

TEST_F(PacketsTest, ACompletionTellsOfWhatItsPacketWasBehind) {
  write(dispatch(0));
  AqlPacket second = dispatch(1, dispatch(1).header | kBarrierBit);
  second.signals = true;
  begin(second);
  end(second);
  EXPECT_THAT(read(dispatch(2)), IsEmpty());
}

TEST_F(PacketsTest, ManyCompletionsAreNotKeptOneByOne) {
  AqlPacket packet = dispatch(0);
  packet.signals = true;
  write(packet, 1000);
  for (uint64_t index = 1; index < 1000; ++index) {
    packet.index = index;
    begin(packet);
    end(packet, 1000);
  }
  EXPECT_THAT(read(dispatch(1000)), IsEmpty());
}

TEST_F(PacketsTest, QueuesHaveOrdersOfTheirOwn) {
  write(dispatch(0));
  AqlPacket other = dispatch(1, dispatch(1).header | kBarrierBit);
  other.queue = 2;
  begin(other);
  end(other);
  EXPECT_THAT(read(dispatch(1)), one_finding("unordered packets"));
}

// Arguments.

TEST_F(PacketsTest, ArgumentsMayNotChangeUntilTheDispatchEnds) {
  begin(dispatch(0));
  kernarg[5] = 1;
  end(dispatch(0));
  EXPECT_THAT(s.take(), one_finding("kernel arguments overwritten in kernel reader on gfx900",
                                    "byte 20 of the 24 bytes of arguments at 0x",
                                    "changed while dispatch 1 (kernel reader, packet 0 of queue 1",
                                    "missing: a wait for the dispatch's completion"));
  begin(dispatch(1));
  kernarg[6] = 1;  // beyond what the kernel has
  end(dispatch(1));
  kernarg[0] = 1;
  EXPECT_THAT(s.take(), IsEmpty());
}

// The host hears of the error before the packet processor is done with the packet.
TEST_F(PacketsTest, ArgumentsOfAFailedDispatchMayBeUsedAgain) {
  AqlPacket packet = dispatch(0);
  begin(packet);
  kernarg[5] = 1;
  packet.failed = true;
  end(packet);
  EXPECT_THAT(s.take(), IsEmpty());
  begin(dispatch(1));
  kernarg[5] = 2;
  end(dispatch(1));
  EXPECT_THAT(s.take(), one_finding("kernel arguments overwritten", "dispatch 2"));
}

TEST_F(PacketsTest, ArgumentsMayNotChangeBehindTheirPacketsPublication) {
  const auto changed = [](const char* which) {
    return one_finding("kernel arguments overwritten in kernel reader on gfx900",
                       "byte 4 of the 24 bytes of arguments at 0x", which,
                       "was published and before it started",
                       "missing: a wait for the dispatch's completion");
  };
  // Seen when the packet in front of it begins.
  ahead.publish(dispatch(1));
  begin(dispatch(0));
  kernarg[1] = 1;
  end(dispatch(0));
  s.take();
  begin(dispatch(1));
  end(dispatch(1));
  EXPECT_THAT(s.take(), changed("after the packet of dispatch 2 (kernel reader, packet 1 of"));
}

TEST_F(PacketsTest, APublicationIsSeenWhileThePacketInFrontGoesOn) {
  const auto other = [this](uint64_t index, unsigned kernel) {
    AqlPacket packet = dispatch(index);
    packet.kernel_object = reinterpret_cast<uint64_t>(others_[kernel]);
    packet.kernarg = reinterpret_cast<uint64_t>(kernarg + 64 * (kernel + 1));
    return packet;
  };
  const auto expect_found = [&](uint64_t index, unsigned kernel) {
    kernarg[64 * (kernel + 1)] = 1;
    begin(other(index, kernel));
    end(other(index, kernel));
    EXPECT_THAT(s.take(), one_finding("kernel arguments overwritten", "before it started"));
  };
  begin(barrier(0));
  ahead.publish(other(1, 0));
  packets.look(1, 1);
  end(barrier(0));
  expect_found(1, 0);

  begin(dispatch(2));
  ahead.publish(other(3, 1));
  packets.look_behind(Packets::current());
  end(dispatch(2));
  expect_found(3, 1);

  begin(dispatch(4));
  ahead.publish(other(5, 2));
  end(dispatch(4));
  expect_found(5, 2);

  // Not a queue that is between two packets.
  ahead.publish(other(6, 3));
  packets.look(1, 1);
  kernarg[64 * 4] = 1;
  begin(other(6, 3));
  end(other(6, 3));
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(PacketsTest, ArgumentsThatStayAreRead) {
  for (uint64_t index = 1; index < 4; ++index) ahead.publish(dispatch(index));
  ahead.publish(barrier(4));
  for (uint64_t index = 0; index < 4; ++index) {
    begin(dispatch(index));
    end(dispatch(index));
  }
  begin(barrier(4));
  kernarg[0] = 1;
  end(barrier(4));
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(PacketsTest, ArgumentsThatAreNowhereAreNotLookedAt) {
  AqlPacket packet = dispatch(0);
  for (const uint64_t address : {uint64_t{0}, uint64_t{8}, packet.kernarg + kPageBytes - 8}) {
    packet.kernarg = address;
    begin(packet);
    end(packet);
  }
  packet.kernel_object = 8;
  begin(packet);
  end(packet);
  EXPECT_THAT(s.take(), IsEmpty());
}

// Names and code.

TEST_F(PacketsTest, CodeThatIsLoadedMayHaveOtherNames) {
  begin(dispatch(0));
  end(dispatch(0));
  name = "other";
  begin(dispatch(1));
  EXPECT_EQ(s.model().history().work(Packets::current())->name, "kernel reader");
  end(dispatch(1));
  packets.invalidate_code(1);
  begin(dispatch(2));
  EXPECT_EQ(s.model().history().work(Packets::current())->name, "kernel other");
  end(dispatch(2));
}

TEST_F(PacketsTest, AKernelWithoutANameHasItsAddress) {
  name = "";
  begin(dispatch(0));
  EXPECT_THAT(s.model().history().work(Packets::current())->name,
              ::testing::StartsWith("kernel of unknown name (0x"));
  end(dispatch(0));
}

TEST_F(PacketsTest, AnInvalidationIsForItsGpu) {
  const auto code = reinterpret_cast<uint64_t>(data);
  for (const uint32_t gpu : {0u, 1u})
    EXPECT_FALSE(s.model().fetch_code(gpu, code, memory_at(code)));
  *data = 1;
  packets.invalidate_code(2);
  EXPECT_FALSE(s.model().fetch_code(1, code, memory_at(code)));
  EXPECT_TRUE(s.model().fetch_code(0, code, memory_at(code)));
}

// Copies.

TEST_F(PacketsTest, CopiesAreNamed) {
  uint32_t* const to = s.allocate(1);
  const auto copy = [&](uint64_t from) {
    bool moved = false;
    packets.copy({2, 5, 64, from, reinterpret_cast<uint64_t>(to), 128}, [&] { moved = true; });
    EXPECT_TRUE(moved);
    return s.take();
  };
  EXPECT_THAT(copy(0), IsEmpty());
  write(dispatch(0, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 2, 1)));
  EXPECT_THAT(copy(reinterpret_cast<uint64_t>(data)),
              one_finding("read of unreleased data in a copy by SDMA queue 5 of GPU 2",
                          "the copy of 128 bytes reads the line at 0x"));
  begin(dispatch(1));
  Group(s, Packets::current()).store(to + 16, 1);
  end(dispatch(1));
  begin(dispatch(2, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 2, 1) | kBarrierBit));
  Group(s, Packets::current()).store(to + 16, 2);
  end(dispatch(2));
  s.take();
  EXPECT_THAT(copy(0), one_finding("overwrite of unreleased data in a copy by SDMA queue 5",
                                   "the copy of 128 bytes writes the line at 0x"));
}

TEST_F(PacketsTest, ACopyOfMemoryThatTheHostHasTakenAwayLeavesTheModelUnlocked) {
  uint32_t* const gone = s.behind_window(1);
  const auto address = reinterpret_cast<uint64_t>(gone);
  ASSERT_EQ(mprotect(gone, kPageBytes, PROT_NONE), 0);
  HostFault fault;
  unsigned moves = 0;
  EXPECT_FALSE(guarded(
      [&] {
        packets.copy({1, 5, 0, address, reinterpret_cast<uint64_t>(data), 4}, [&] {
          ++moves;
          *data = *gone;
        });
      },
      fault));
  EXPECT_EQ(fault.address, address);
  EXPECT_EQ(moves, 1U) << "behind the check, for the queue's own guard";
  EXPECT_FALSE(Model::Lock::held());
  ASSERT_EQ(mprotect(gone, kPageBytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_THAT(read(dispatch(0)), IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
