// The AQL packet processor against a fake engine: order, barriers, completion, and every error.
#include "vgpu/queue/aql_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "vgpu/queue/signal.h"
#include "vgpu/queue/tests/fake_device.h"

namespace halyard::vgpu::queue {
namespace {

using ::testing::AllOf;
using testing::FakeGpu;
using ::testing::HasSubstr;
using testing::wait_until;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

constexpr uint16_t kDispatch = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                               2 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                               2 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
constexpr uint64_t kPackets = 16;

union Packet {
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;
  uint32_t words[16];
};

// A kernel object whose code follows it, as both forms of it have. On a page of its own: a fault's
// report searches the page for a code object's header.
struct alignas(4096) KernelObject {
  KernelObject() {
    const int64_t distance = 256;
    std::memcpy(bytes + 16, &distance, sizeof distance);
  }
  void set_rsrc1(uint32_t value) { std::memcpy(bytes + 48, &value, sizeof value); }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(this); }
  unsigned char bytes[4096] = {};
};

class AqlQueueTest : public ::testing::Test {
 protected:
  AqlQueueTest() {
    std::memset(&queue_, 0, sizeof queue_);
    inactive_ = make_signal(0, 3);
    queue_.queue_inactive_signal.handle = reinterpret_cast<uintptr_t>(inactive_);
    queue_.group_segment_aperture_base_hi = 0x10000;
    queue_.private_segment_aperture_base_hi = 0x20000;
    for (Packet& packet : ring_) {
      std::memset(&packet, 0xcd, sizeof packet);
      packet.dispatch.header = HSA_PACKET_TYPE_INVALID;
    }
  }
  ~AqlQueueTest() override {
    if (processor_) processor_->stop();
  }

  void start(bool execute = true) {
    AqlRing ring;
    ring.base = ring_;
    ring.size = kPackets;
    ring.queue = &queue_;
    processor_ = std::make_unique<AqlQueue>(gpu_.device(execute), 7, ring);
    ASSERT_TRUE(processor_->start());
  }

  amd_signal_t* make_signal(int64_t value, uint32_t event = 0) {
    signals_.push_back(std::make_unique<amd_signal_t>());
    amd_signal_t* signal = signals_.back().get();
    std::memset(signal, 0, sizeof *signal);
    signal->value = value;
    if (event != 0) {
      mailboxes_.push_back(std::make_unique<uint64_t>(0));
      signal->event_id = event;
      signal->event_mailbox_ptr = reinterpret_cast<uintptr_t>(mailboxes_.back().get());
    }
    return signal;
  }
  static hsa_signal_t handle(const amd_signal_t* signal) {
    return {reinterpret_cast<uintptr_t>(signal)};
  }
  static int64_t value(const amd_signal_t* signal) {
    return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
  }

  Packet dispatch_packet(amd_signal_t* completion = nullptr) {
    Packet packet;
    std::memset(&packet, 0, sizeof packet);
    packet.dispatch.setup = 3;
    packet.dispatch.workgroup_size_x = 64;
    packet.dispatch.workgroup_size_y = 2;
    packet.dispatch.workgroup_size_z = 1;
    packet.dispatch.grid_size_x = 640;
    packet.dispatch.grid_size_y = 4;
    packet.dispatch.grid_size_z = 5;
    packet.dispatch.private_segment_size = 48;
    packet.dispatch.group_segment_size = 1024;
    packet.dispatch.kernel_object = kernel_.address();
    packet.dispatch.kernarg_address = &kernarg_;
    if (completion != nullptr) packet.dispatch.completion_signal = handle(completion);
    return packet;
  }
  Packet barrier_packet(std::vector<amd_signal_t*> signals, amd_signal_t* completion) {
    Packet packet;
    std::memset(&packet, 0, sizeof packet);
    for (size_t i = 0; i < signals.size(); ++i) packet.barrier.dep_signal[i] = handle(signals[i]);
    packet.barrier.completion_signal = handle(completion);
    return packet;
  }

  // Fills the next slot as a producer does: reserve, wait for room, body, header.
  uint64_t submit(const Packet& packet, uint16_t header) {
    const uint64_t index = __atomic_fetch_add(&queue_.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
    wait_until([&] { return index - read_index() < kPackets; });
    fill(index, packet, header);
    return index;
  }
  void fill(uint64_t index, const Packet& packet, uint16_t header) {
    Packet& slot = ring_[index % kPackets];
    std::memcpy(reinterpret_cast<char*>(&slot) + 4, reinterpret_cast<const char*>(&packet) + 4, 60);
    const uint32_t first = (packet.words[0] & 0xffff0000) | header;
    __atomic_store_n(&slot.words[0], first, __ATOMIC_RELEASE);
  }
  uint64_t read_index() const {
    return __atomic_load_n(&queue_.read_dispatch_id, __ATOMIC_ACQUIRE);
  }

  // Submits a packet that must stop the queue, and returns what stderr got.
  std::string fail_with(const Packet& packet, uint16_t header, uint32_t code) {
    CaptureStderr();
    start();
    submit(packet, header);
    wait_until([&] { return value(inactive_) != 0; });
    processor_->stop();
    EXPECT_EQ(value(inactive_), static_cast<int64_t>(code));
    EXPECT_EQ(gpu_.interrupts.raised(3), 1);
    EXPECT_TRUE(processor_->failed());
    return GetCapturedStderr();
  }

  FakeGpu gpu_;
  amd_queue_t queue_;
  alignas(64) Packet ring_[kPackets];
  KernelObject kernel_;
  uint64_t kernarg_ = 0;
  std::vector<std::unique_ptr<amd_signal_t>> signals_;
  std::vector<std::unique_ptr<uint64_t>> mailboxes_;
  amd_signal_t* inactive_ = nullptr;
  std::unique_ptr<AqlQueue> processor_;
};

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

TEST_F(AqlQueueTest, CompletionWritesTimesMailboxAndEvent) {
  start();
  amd_signal_t* done = make_signal(5, 9);
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return value(done) == 4 && gpu_.interrupts.raised(9) == 1; });
  EXPECT_EQ(*mailboxes_.back(), 9u);
  EXPECT_NE(done->start_ts, 0u);
  EXPECT_GE(done->end_ts, done->start_ts);
  EXPECT_EQ(read_index(), 1u);
  EXPECT_EQ(ring_[0].dispatch.header, HSA_PACKET_TYPE_INVALID);
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

TEST_F(AqlQueueTest, SlotIsFreeBeforeTheSignalTells) {
  // A producer that goes by completion signals writes into the slot as soon as it sees one.
  start(false);
  amd_signal_t* done = make_signal(0);
  for (int i = 0; i < 2000; ++i) {
    __atomic_store_n(&done->value, 1, __ATOMIC_RELEASE);
    const uint64_t index = __atomic_fetch_add(&queue_.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
    fill(index, dispatch_packet(done), kDispatch);
    wait_until([&] { return value(done) == 0; });
    ASSERT_EQ(ring_[index % kPackets].dispatch.header, HSA_PACKET_TYPE_INVALID);
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
  start();
  amd_signal_t* a = make_signal(1);
  amd_signal_t* b = make_signal(1);
  amd_signal_t* done = make_signal(1);
  amd_signal_t* after = make_signal(1);
  submit(barrier_packet({a, b}, done), HSA_PACKET_TYPE_BARRIER_AND);
  submit(dispatch_packet(after), kDispatch);
  __atomic_store_n(&a->value, 0, __ATOMIC_RELEASE);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
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

TEST_F(AqlQueueTest, UnknownPacketTypeIsAFormatError) {
  EXPECT_THAT(fail_with(dispatch_packet(), HSA_PACKET_TYPE_AGENT_DISPATCH, 32),
              AllOf(HasSubstr("queue 7"), HasSubstr("packet 0"), HasSubstr("packet type (4)")));
}

TEST_F(AqlQueueTest, UnknownVendorFormatIsAFormatError) {
  Packet packet;
  std::memset(&packet, 0, sizeof packet);
  packet.words[0] = 9u << 16;
  EXPECT_THAT(fail_with(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 256), HasSubstr("format (9)"));
}

TEST_F(AqlQueueTest, Pm4ThatIsNotUnderstoodIsAFormatError) {
  alignas(64) static uint32_t buffer[2] = {0xc0003700, 0};
  const uint64_t address = reinterpret_cast<uintptr_t>(buffer);
  Packet packet;
  std::memset(&packet, 0, sizeof packet);
  packet.words[0] = 1u << 16;
  packet.words[1] = 0xc0023f00;
  packet.words[2] = static_cast<uint32_t>(address);
  packet.words[3] = static_cast<uint32_t>(address >> 32);
  packet.words[4] = 2;
  EXPECT_THAT(fail_with(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 256), HasSubstr("0xc0003700"));
}

TEST_F(AqlQueueTest, NoDimensionsIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.setup = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 2), HasSubstr("dimensions"));
}

TEST_F(AqlQueueTest, EmptyGridIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.grid_size_z = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 2), HasSubstr("640x4x0"));
}

TEST_F(AqlQueueTest, OversizedWorkGroupIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.workgroup_size_z = 9;
  EXPECT_THAT(fail_with(packet, kDispatch, 64), HasSubstr("64x2x9"));
}

TEST_F(AqlQueueTest, EmptyWorkGroupIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.workgroup_size_x = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 64), HasSubstr("1 to 1024"));
}

TEST_F(AqlQueueTest, TooMuchLdsIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.group_segment_size = 65537;
  EXPECT_THAT(fail_with(packet, kDispatch, 4), HasSubstr("65537"));
}

TEST_F(AqlQueueTest, NullKernelIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.kernel_object = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 8), HasSubstr("null"));
}

TEST_F(AqlQueueTest, KernelOutsideTheGpusMemoryIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.kernel_object = testing::FakeMemory::kForbidden + 0x1000;
  EXPECT_THAT(fail_with(packet, kDispatch, 8), HasSubstr("it is forbidden"));
}

TEST_F(AqlQueueTest, KernelWhoseCodeIsElsewhereIsAnError) {
  const int64_t distance = int64_t{1} << 50;
  std::memcpy(kernel_.bytes + 16, &distance, sizeof distance);
  EXPECT_THAT(fail_with(dispatch_packet(), kDispatch, 8), HasSubstr("leads to code"));
}

TEST_F(AqlQueueTest, TooManyRegistersForTheWorkGroupIsAnError) {
  kernel_.set_rsrc1(31);  // 128 VGPRs
  Packet packet = dispatch_packet();
  packet.dispatch.workgroup_size_x = 1024;
  packet.dispatch.workgroup_size_y = 1;
  EXPECT_THAT(fail_with(packet, kDispatch, 128), HasSubstr("128 VGPRs"));
}

TEST_F(AqlQueueTest, SignalThatIsNoneIsAMemoryFault) {
  CaptureStderr();
  start();
  Packet packet = dispatch_packet();
  packet.dispatch.completion_signal.handle = testing::FakeMemory::kForbidden + 64;
  submit(packet, kDispatch);
  wait_until([&] { return processor_->failed(); });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("completion signal"));
  ASSERT_EQ(gpu_.interrupts.faults().size(), 1u);
  EXPECT_EQ(gpu_.interrupts.faults()[0].address, testing::FakeMemory::kForbidden + 64);
  EXPECT_TRUE(gpu_.engine.dispatches().empty());
}

TEST_F(AqlQueueTest, MailboxThatIsNotMemoryIsAMemoryFault) {
  for (const bool execute : {true, false}) {
    for (const uint64_t mailbox : {testing::FakeMemory::kForbidden + 64, uint64_t{8}}) {
      SCOPED_TRACE(mailbox);
      CaptureStderr();
      start(execute);
      amd_signal_t* done = make_signal(1, 9);
      done->event_mailbox_ptr = mailbox;
      amd_signal_t* never = make_signal(1);
      submit(dispatch_packet(done), kDispatch);
      submit(barrier_packet({}, never), HSA_PACKET_TYPE_BARRIER_AND);
      wait_until([&] { return processor_->failed() || value(never) == 0; });
      processor_->stop();
      EXPECT_THAT(GetCapturedStderr(), AllOf(HasSubstr("mailbox"), HasSubstr("it is forbidden")));
      ASSERT_FALSE(gpu_.interrupts.faults().empty());
      EXPECT_EQ(gpu_.interrupts.faults().back().address, mailbox);
      EXPECT_TRUE(gpu_.interrupts.faults().back().is_write);
      EXPECT_EQ(value(done), 1);
      EXPECT_EQ(value(never), 1) << "no packet runs after an error";
      EXPECT_EQ(gpu_.interrupts.raised(9), 0);
      queue_.write_dispatch_id = 0;
      queue_.read_dispatch_id = 0;
      for (Packet& packet : ring_) packet.dispatch.header = HSA_PACKET_TYPE_INVALID;
    }
  }
}

TEST_F(AqlQueueTest, MailboxThatIsNotAlignedIsNotWritten) {
  CaptureStderr();
  start();
  amd_signal_t* done = make_signal(1, 9);
  done->event_mailbox_ptr += 4;
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return processor_->failed() || value(done) == 0; });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("mailbox"));
  EXPECT_EQ(*mailboxes_.back(), 0u);
}

TEST_F(AqlQueueTest, ErrorSignalWithABadMailboxStillTellsByItsValue) {
  inactive_->event_mailbox_ptr = testing::FakeMemory::kForbidden + 64;
  Packet packet = dispatch_packet();
  packet.dispatch.setup = 0;
  CaptureStderr();
  start();
  submit(packet, kDispatch);
  wait_until([&] { return value(inactive_) != 0; });
  processor_->stop();
  EXPECT_EQ(value(inactive_), 2);
  EXPECT_EQ(gpu_.interrupts.raised(3), 0);
  EXPECT_THAT(GetCapturedStderr(), AllOf(HasSubstr("dimensions"), HasSubstr("mailbox")));
}

TEST_F(AqlQueueTest, SignalThatIsGoneWhenItsKernelEndsIsAMemoryFault) {
  CaptureStderr();
  amd_signal_t* done = make_signal(1, 9);
  const uint64_t address = handle(done).handle;
  gpu_.engine.behaviour = [&](const isa::Dispatch&, const volatile bool&) {
    gpu_.memory.take_away(address);
    return isa::DispatchResult{};
  };
  start();
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return processor_->failed() || value(done) == 0; });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("completion signal"));
  ASSERT_EQ(gpu_.interrupts.faults().size(), 1u);
  EXPECT_EQ(gpu_.interrupts.faults()[0].address, address);
  EXPECT_EQ(value(done), 1);
}

TEST_F(AqlQueueTest, SignalsAreFoundByTheGpusAddressOfRegisteredMemory) {
  start();
  amd_signal_t* gate = make_signal(0);
  amd_signal_t* done = make_signal(1, 9);
  Packet packet = barrier_packet({gate}, done);
  packet.barrier.dep_signal[0].handle |= isa::kRegistered;
  packet.barrier.completion_signal.handle |= isa::kRegistered;
  submit(packet, HSA_PACKET_TYPE_BARRIER_AND);
  wait_until([&] { return processor_->failed() || value(done) == 0; });
  processor_->stop();
  EXPECT_EQ(value(done), 0);
  EXPECT_EQ(*mailboxes_.back(), 9u);
}

struct FaultCase {
  isa::Fault::Kind kind;
  uint32_t code;
};

class AqlQueueFaultTest : public AqlQueueTest, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(AqlQueueFaultTest, DispatchFaultStopsTheQueueWithItsCode) {
  gpu_.engine.behaviour = [](const isa::Dispatch&, const volatile bool&) {
    isa::DispatchResult result;
    result.fault.kind = GetParam().kind;
    result.fault.message = "the message of the fault";
    result.report = "the message of the fault and the report of the engine";
    return result;
  };
  amd_signal_t* done = make_signal(1);
  const std::string text = fail_with(dispatch_packet(done), kDispatch, GetParam().code);
  EXPECT_THAT(text, AllOf(HasSubstr("the message of the fault"),
                          HasSubstr("the report of the engine"), HasSubstr("packet 0")));
  EXPECT_EQ(value(done), 1);
  EXPECT_EQ(read_index(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AqlQueueFaultTest,
                         ::testing::Values(FaultCase{isa::Fault::Kind::kIllegalInstruction,
                                                     0x40000000},
                                           FaultCase{isa::Fault::Kind::kAperture, 0x20000000},
                                           FaultCase{isa::Fault::Kind::kTrap, 0x80000000},
                                           FaultCase{isa::Fault::Kind::kWatchdog, 0x80000000}));

TEST_F(AqlQueueTest, MemoryFaultGoesToTheMemoryEvent) {
  CaptureStderr();
  gpu_.engine.behaviour = [](const isa::Dispatch&, const volatile bool&) {
    isa::DispatchResult result;
    result.fault.kind = isa::Fault::Kind::kMemory;
    result.fault.address = 0xabc123;
    result.fault.is_write = true;
    return result;
  };
  start();
  submit(dispatch_packet(), kDispatch);
  amd_signal_t* never = make_signal(1);
  submit(dispatch_packet(never), kDispatch);
  wait_until([&] { return !gpu_.interrupts.faults().empty(); });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("0xabc123"));
  EXPECT_EQ(gpu_.interrupts.faults()[0].address, 0xabc123u);
  EXPECT_TRUE(gpu_.interrupts.faults()[0].is_write);
  EXPECT_EQ(value(inactive_), 0);
  EXPECT_EQ(value(never), 1) << "no packet runs after an error";
  EXPECT_EQ(gpu_.engine.dispatches().size(), 1u);
}

TEST_F(AqlQueueTest, MemoryFaultThatNobodyHearsIsAnApertureError) {
  gpu_.interrupts.listening = false;
  gpu_.engine.behaviour = [](const isa::Dispatch&, const volatile bool&) {
    isa::DispatchResult result;
    result.fault.kind = isa::Fault::Kind::kMemory;
    return result;
  };
  fail_with(dispatch_packet(), kDispatch, 0x20000000);
}

}  // namespace
}  // namespace halyard::vgpu::queue
