// The signals of packets and of the queue, their mailboxes, and those that are no memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "vgpu/queue/signal_waits.h"
#include "vgpu/queue/tests/aql_queue_fixture.h"

namespace halyard::vgpu::queue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kDispatch;
using testing::kPackets;
using testing::Packet;
using testing::wait_until;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class AqlSignalTest : public testing::AqlQueueTest {};

TEST_F(AqlSignalTest, CompletionWritesTimesMailboxAndEvent) {
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

TEST_F(AqlSignalTest, CompletionWakesAQueueThatWaitsForIt) {
  amd_signal_t* done = make_signal(1);
  const uint64_t signal = handle(done).handle;
  Idle other(IdlePolicy{});
  SignalWait wait(other, &signal, 1);
  ASSERT_TRUE(wait.arm());
  start();
  submit(dispatch_packet(done), kDispatch);
  wait_until([&] { return other.wakes() == 1; });
  EXPECT_EQ(value(done), 0);
}

TEST_F(AqlSignalTest, SlotIsFreeBeforeTheSignalTells) {
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

TEST_F(AqlSignalTest, SignalThatIsNoneIsAMemoryFault) {
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

TEST_F(AqlSignalTest, MailboxThatIsNotMemoryIsAMemoryFault) {
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

TEST_F(AqlSignalTest, MailboxThatIsNotAlignedIsNotWritten) {
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

TEST_F(AqlSignalTest, ErrorSignalWithABadMailboxStillTellsByItsValue) {
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

TEST_F(AqlSignalTest, SignalThatIsGoneWhenItsKernelEndsIsAMemoryFault) {
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

TEST_F(AqlSignalTest, SignalsAreFoundByTheGpusAddressOfRegisteredMemory) {
  start();
  amd_signal_t* gate = make_signal(0);
  amd_signal_t* done = make_signal(1, 9);
  Packet packet = barrier_packet({gate}, done);
  packet.barrier.dep_signal[0].handle |= testing::kRegistered;
  packet.barrier.completion_signal.handle |= testing::kRegistered;
  submit(packet, HSA_PACKET_TYPE_BARRIER_AND);
  wait_until([&] { return processor_->failed() || value(done) == 0; });
  processor_->stop();
  EXPECT_EQ(value(done), 0);
  EXPECT_EQ(*mailboxes_.back(), 9u);
}

}  // namespace
}  // namespace halyard::vgpu::queue
