// The AQL packet processor against a fake engine: order, barriers, completion and stopping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/queue/tests/aql_queue_fixture.h"

namespace halyard::vgpu::queue {
namespace {

using testing::AqlQueueTest;
using testing::kDispatch;
using testing::kPackets;
using testing::Packet;
using testing::wait_until;

TEST_F(AqlQueueTest, DispatchReachesTheEngineWithAllItsFacts) {
  start();
  amd_signal_t* done = make_signal(1, 9);
  const uint64_t index = submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 0; });
  const auto dispatches = gpu_.engine.dispatches();
  ASSERT_EQ(dispatches.size(), 1u);
  const isa::Dispatch& d = dispatches[0];
  EXPECT_EQ(d.packet_address, reinterpret_cast<uintptr_t>(&ring_[0]));
  EXPECT_EQ(d.queue_address, reinterpret_cast<uintptr_t>(&queue_));
  EXPECT_EQ(d.kernel_object, kernel_.address());
  EXPECT_EQ(d.kernarg_address, reinterpret_cast<uintptr_t>(&kernarg_));
  EXPECT_EQ(d.dispatch_id, index);
  EXPECT_EQ(d.grid[0], 640u);
  EXPECT_EQ(d.grid[1], 4u);
  EXPECT_EQ(d.grid[2], 5u);
  EXPECT_EQ(d.group[0], 64u);
  EXPECT_EQ(d.group[1], 2u);
  EXPECT_EQ(d.private_segment_size, 48u);
  EXPECT_EQ(d.group_segment_size, 1024u);
  EXPECT_EQ(d.shared_aperture_hi, 0x10000u);
  EXPECT_EQ(d.private_aperture_hi, 0x20000u);
}

TEST_F(AqlQueueTest, DispatchesHaveTheQueuesPriority) {
  start();
  amd_signal_t* done = make_signal(2);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 1; });
  processor_->set_priority(3);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 0; });
  EXPECT_EQ(gpu_.engine.dispatches()[0].priority, 0);
  EXPECT_EQ(gpu_.engine.dispatches()[1].priority, 3);
}

TEST_F(AqlQueueTest, SizesBeyondTheDimensionsAreNotLookedAt) {
  start();
  amd_signal_t* done = make_signal(1);
  Packet packet = dispatch_packet(done);
  packet.dispatch.setup = 1;
  packet.dispatch.grid_size_y = 0;
  packet.dispatch.workgroup_size_z = 0;
  submit(packet, kDispatch);
  wait_until([&] { return value(done) == 0; });
  EXPECT_EQ(gpu_.engine.dispatches()[0].grid[1], 1u);
  EXPECT_EQ(gpu_.engine.dispatches()[0].group[2], 1u);
}

TEST_F(AqlQueueTest, ManyPacketsGoAroundTheRingInOrder) {
  for (const bool execute : {true, false}) {
    start(execute);
    constexpr int kCount = 1000;
    amd_signal_t* done = make_signal(kCount);
    for (int i = 0; i < kCount; ++i) submit(dispatch_packet(done), kDispatch);
    wait_until([&] { return value(done) == 0; });
    processor_->stop();
    if (execute) {
      const auto dispatches = gpu_.engine.dispatches();
      ASSERT_EQ(dispatches.size(), static_cast<size_t>(kCount));
      for (size_t i = 0; i < dispatches.size(); ++i) EXPECT_EQ(dispatches[i].dispatch_id, i);
    }
    EXPECT_EQ(read_index(), queue_.write_dispatch_id);
  }
}

TEST_F(AqlQueueTest, WithoutExecutionNothingRunsAndEverythingCompletes) {
  start(false);
  amd_signal_t* first = make_signal(2, 4);
  amd_signal_t* second = make_signal(1, 5);
  submit(dispatch_packet(first), kDispatch);
  submit(dispatch_packet(first), kDispatch);
  submit(dispatch_packet(second), kDispatch);
  wait_until([&] { return value(second) == 0; });
  processor_->stop();
  EXPECT_EQ(value(first), 0);
  EXPECT_GE(gpu_.interrupts.raised(4), 1);
  EXPECT_TRUE(gpu_.engine.dispatches().empty());
}

TEST_F(AqlQueueTest, ReservedSlotIsWaitedFor) {
  start();
  amd_signal_t* first = make_signal(1);
  amd_signal_t* second = make_signal(1);
  __atomic_store_n(&queue_.write_dispatch_id, 2, __ATOMIC_RELEASE);
  fill(1, dispatch_packet(second), kDispatch);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(value(second), 1) << "the first slot has not been written yet";
  fill(0, dispatch_packet(first), kDispatch);
  wait_until([&] { return value(second) == 0; });
  EXPECT_EQ(value(first), 0);
}

TEST_F(AqlQueueTest, BarrierAndWaitsForEverySignal) {
  start(false);
  amd_signal_t* a = make_signal(0);
  amd_signal_t* b = make_signal(1);
  amd_signal_t* done = make_signal(1);
  amd_signal_t* after = make_signal(1);
  submit(dispatch_packet(make_signal(1)), kDispatch);
  submit(barrier_packet({a, b}, done), HSA_PACKET_TYPE_BARRIER_AND);
  submit(dispatch_packet(after), kDispatch);
  // What is before the barrier is published once it has looked at its signals.
  wait_until([&] { return read_index() == 1; });
  EXPECT_EQ(value(done), 1);
  // A signal that was seen at 0 counts, whatever becomes of it.
  __atomic_store_n(&a->value, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&b->value, 0, __ATOMIC_RELEASE);
  wait_until([&] { return value(after) == 0; });
  EXPECT_EQ(value(done), 0);
}

TEST_F(AqlQueueTest, BarrierOrWaitsForOneSignal) {
  start();
  amd_signal_t* a = make_signal(1);
  amd_signal_t* b = make_signal(2);
  amd_signal_t* done = make_signal(1);
  submit(barrier_packet({a, b}, done), HSA_PACKET_TYPE_BARRIER_OR);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(value(done), 1);
  __atomic_store_n(&b->value, 0, __ATOMIC_RELEASE);
  wait_until([&] { return value(done) == 0; });
}

TEST_F(AqlQueueTest, BarriersWithoutSignalsPass) {
  start();
  amd_signal_t* done = make_signal(2);
  submit(barrier_packet({}, done), HSA_PACKET_TYPE_BARRIER_AND);
  submit(barrier_packet({}, done), HSA_PACKET_TYPE_BARRIER_OR);
  wait_until([&] { return value(done) == 0; });
}

TEST_F(AqlQueueTest, BarrierTellsOfEarlierPacketsBeforeItWaits) {
  // Another queue may wait for what was finished here, and this barrier for that queue.
  start(false);
  amd_signal_t* earlier = make_signal(1);
  amd_signal_t* gate = make_signal(1);
  amd_signal_t* done = make_signal(1);
  submit(dispatch_packet(earlier), kDispatch);
  submit(barrier_packet({gate}, done), HSA_PACKET_TYPE_BARRIER_AND);
  wait_until([&] { return value(earlier) == 0 && read_index() == 1; });
  __atomic_store_n(&gate->value, 0, __ATOMIC_RELEASE);
  wait_until([&] { return value(done) == 0; });
}

TEST_F(AqlQueueTest, BarrierValueComparesUnderAMask) {
  start();
  amd_signal_t* gate = make_signal(0x70);
  struct Case {
    uint32_t condition;
    int64_t reference, mask, before, after;
  };
  const Case cases[] = {
      {HSA_SIGNAL_CONDITION_EQ, 0x5, 0xf, 0x70, 0xa5},
      {HSA_SIGNAL_CONDITION_NE, 0, -1, 0, -3},
      {HSA_SIGNAL_CONDITION_LT, 10, -1, 10, 9},
      {HSA_SIGNAL_CONDITION_GTE, 10, -1, -11, 10},
  };
  for (const Case& c : cases) {
    __atomic_store_n(&gate->value, c.before, __ATOMIC_RELEASE);
    amd_signal_t* done = make_signal(1);
    Packet packet;
    std::memset(&packet, 0, sizeof packet);
    packet.words[0] = 2u << 16;  // AMD format 2: barrier value
    const uint64_t signal = handle(gate).handle;
    const uint64_t completion = handle(done).handle;
    std::memcpy(&packet.words[2], &signal, 8);
    std::memcpy(&packet.words[4], &c.reference, 8);
    std::memcpy(&packet.words[6], &c.mask, 8);
    packet.words[8] = c.condition;
    std::memcpy(&packet.words[14], &completion, 8);
    submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(value(done), 1) << c.condition;
    __atomic_store_n(&gate->value, c.after, __ATOMIC_RELEASE);
    wait_until([&] { return value(done) == 0; });
  }
}

TEST_F(AqlQueueTest, Pm4InvalidateDropsDecodedCode) {
  start();
  // ACQUIRE_MEM of 7 dwords with SH_ICACHE_ACTION_ENA, as ROCR sends it after loading code.
  alignas(4096) static uint32_t buffer[7] = {0xc0055800, 1u << 29, 0xffffffff, 0xff, 0, 0, 0};
  const uint64_t address = reinterpret_cast<uintptr_t>(buffer);
  Packet packet;
  std::memset(&packet, 0, sizeof packet);
  packet.words[0] = 1u << 16;  // AMD format 1: PM4 indirect buffer
  packet.words[1] = 0xc0023f00;
  packet.words[2] = static_cast<uint32_t>(address);
  packet.words[3] = static_cast<uint32_t>(address >> 32);
  packet.words[4] = 7 | 1u << 23;
  submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  wait_until([&] { return read_index() == 1; });
  EXPECT_EQ(gpu_.engine.invalidations(), 1);
}

TEST_F(AqlQueueTest, PausedQueueTakesNoPacket) {
  start();
  processor_->set_paused(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  amd_signal_t* done = make_signal(1);
  submit(dispatch_packet(done), kDispatch);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(value(done), 1);
  processor_->set_paused(false);
  wait_until([&] { return value(done) == 0; });
}

TEST_F(AqlQueueTest, StopCancelsARunningDispatch) {
  std::atomic<bool> running{false};
  gpu_.engine.behaviour = [&](const isa::Dispatch&, const volatile bool& cancel) {
    running = true;
    while (!__atomic_load_n(&cancel, __ATOMIC_ACQUIRE)) std::this_thread::yield();
    return isa::DispatchResult{};
  };
  start();
  amd_signal_t* done = make_signal(1);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return running.load(); });
  processor_->stop();
  EXPECT_EQ(value(done), 1) << "a dispatch that was cut short has not completed";
}

TEST_F(AqlQueueTest, StopEndsAWaitingBarrier) {
  start();
  submit(barrier_packet({make_signal(1)}, make_signal(1)), HSA_PACKET_TYPE_BARRIER_AND);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  processor_->stop();
  EXPECT_EQ(read_index(), 0u);
}

TEST_F(AqlQueueTest, DispatchesRunOnTheQueuesComputeUnits) {
  std::vector<std::vector<uint32_t>> seen;
  gpu_.engine.behaviour = [&](const isa::Dispatch& dispatch, const volatile bool&) {
    seen.push_back(dispatch.units != nullptr ? *dispatch.units : std::vector<uint32_t>{});
    return isa::DispatchResult{};
  };
  start();
  amd_signal_t* done = make_signal(2);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 1; });
  processor_->set_units({2, 5});
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 0; });
  EXPECT_THAT(seen, ::testing::ElementsAre(::testing::IsEmpty(), ::testing::ElementsAre(2, 5)));
}

TEST_F(AqlQueueTest, AQueueWithoutComputeUnitsRunsNoDispatch) {
  ::testing::internal::CaptureStderr();
  start();
  processor_->set_units({});
  submit(dispatch_packet(make_signal(1)), kDispatch);
  wait_until([&] { return value(inactive_) != 0; });
  processor_->stop();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("mask of compute units has none"),
            std::string::npos);
  EXPECT_TRUE(gpu_.engine.dispatches().empty());
}

// Hardware unmaps the queue, and maps it again with the other ring. The indices go on.
TEST_F(AqlQueueTest, TheRingCanBecomeAnotherOne) {
  start();
  amd_signal_t* done = make_signal(2);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 1; });
  std::vector<Packet> other(kPackets * 2);
  for (Packet& packet : other) packet.dispatch.header = HSA_PACKET_TYPE_INVALID;
  other[1] = dispatch_packet(done);
  other[1].dispatch.header = kDispatch;
  processor_->set_ring(nullptr, 0);
  __atomic_store_n(&queue_.write_dispatch_id, 2, __ATOMIC_RELEASE);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(value(done), 1);
  processor_->set_ring(other.data(), other.size() * sizeof(Packet));
  wait_until([&] { return value(done) == 0; });
  EXPECT_EQ(other[1].dispatch.header, HSA_PACKET_TYPE_INVALID);
  processor_->stop();
}

// The program may free the ring while a kernel runs.
TEST_F(AqlQueueTest, ADispatchThatEndsDoesNotTouchTheRingThatItCameFrom) {
  std::atomic<bool> running{false};
  std::atomic<bool> ends{false};
  gpu_.engine.behaviour = [&](const isa::Dispatch&, const volatile bool&) {
    running = true;
    while (!ends) std::this_thread::yield();
    return isa::DispatchResult{};
  };
  start();
  amd_signal_t* done = make_signal(1);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return running.load(); });
  std::vector<Packet> other(kPackets);
  for (Packet& packet : other) packet.dispatch.header = HSA_PACKET_TYPE_INVALID;
  processor_->set_ring(other.data(), other.size() * sizeof(Packet));
  std::memset(ring_, 0x33, sizeof ring_);
  ends = true;
  wait_until([&] { return value(done) == 0 && read_index() == 1; });
  processor_->stop();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(ring_);
  EXPECT_TRUE(std::all_of(bytes, bytes + sizeof ring_, [](unsigned char b) { return b == 0x33; }));
}

// Programs need not have an amd_queue_t: indices may be anywhere.
TEST_F(AqlQueueTest, WithoutAQueuesMemoryKernelsGetTheMachinesApertures) {
  alignas(64) uint64_t indices[16] = {};
  const Ring ring = {ring_, sizeof ring_, &indices[8], &indices[0]};
  processor_ = std::make_unique<AqlQueue>(gpu_.device(), 7, ring, AqlQueueMemory{nullptr, 0x1234});
  ASSERT_TRUE(processor_->start());
  amd_signal_t* done = make_signal(1);
  fill(0, dispatch_packet(done), kDispatch);
  __atomic_store_n(&indices[8], 1, __ATOMIC_RELEASE);
  wait_until([&] { return value(done) == 0; });
  wait_until([&] { return __atomic_load_n(&indices[0], __ATOMIC_ACQUIRE) == 1; });
  const isa::Dispatch dispatch = gpu_.engine.dispatches().at(0);
  EXPECT_EQ(dispatch.queue_address, 0x1234u);
  EXPECT_EQ(dispatch.shared_aperture_hi, kSharedApertureHi);
  EXPECT_EQ(dispatch.private_aperture_hi, kPrivateApertureHi);
}

TEST_F(AqlQueueTest, WithoutAQueuesMemoryAnErrorIsAMemoryEvent) {
  alignas(64) uint64_t indices[16] = {};
  const Ring ring = {ring_, sizeof ring_, &indices[8], &indices[0]};
  processor_ = std::make_unique<AqlQueue>(gpu_.device(), 7, ring, AqlQueueMemory{});
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(processor_->start());
  Packet packet = dispatch_packet();
  packet.dispatch.kernel_object = 0;
  fill(0, packet, kDispatch);
  __atomic_store_n(&indices[8], 1, __ATOMIC_RELEASE);
  wait_until([&] { return !gpu_.interrupts.faults().empty(); });
  processor_->stop();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("kernel object is null"),
            std::string::npos);
  EXPECT_TRUE(gpu_.interrupts.faults()[0].is_hang);
}

TEST_F(AqlQueueTest, NothingIsWrittenAfterStop) {
  start();
  processor_->stop();
  amd_signal_t* done = make_signal(1);
  __atomic_store_n(&queue_.write_dispatch_id, 1, __ATOMIC_RELEASE);
  fill(0, dispatch_packet(done), kDispatch);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(value(done), 1);
  EXPECT_EQ(read_index(), 0u);
}

}  // namespace
}  // namespace halyard::vgpu::queue
