// What stops a queue: packets that make no sense, and what its kernels do wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "vgpu/queue/tests/aql_queue_fixture.h"

namespace halyard::vgpu::queue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kDispatch;
using testing::Packet;
using testing::wait_until;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class AqlErrorTest : public testing::AqlQueueTest {};

TEST_F(AqlErrorTest, UnknownPacketTypeIsAFormatError) {
  EXPECT_THAT(fail_with(dispatch_packet(), HSA_PACKET_TYPE_AGENT_DISPATCH, 32),
              AllOf(HasSubstr("queue 7"), HasSubstr("packet 0"), HasSubstr("packet type (4)")));
}

TEST_F(AqlErrorTest, UnknownVendorFormatIsAFormatError) {
  Packet packet;
  std::memset(&packet, 0, sizeof packet);
  packet.words[0] = 9u << 16;
  EXPECT_THAT(fail_with(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 256), HasSubstr("format (9)"));
}

TEST_F(AqlErrorTest, Pm4ThatIsNotUnderstoodIsAFormatError) {
  alignas(64) static uint32_t buffer[2] = {0xc0003700, 0};
  const uint64_t address = reinterpret_cast<uintptr_t>(buffer);
  Packet packet;
  std::memset(&packet, 0, sizeof packet);
  packet.words[0] = 1u << 16;
  packet.words[1] = 0xc0023f00;
  packet.words[2] = static_cast<uint32_t>(address);
  packet.words[3] = static_cast<uint32_t>(address >> 32);
  packet.words[4] = 2;
  EXPECT_THAT(fail_with(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 256),
              AllOf(HasSubstr("the PM4 packet WRITE_DATA (opcode 0x37) at"),
                    HasSubstr("it has 2 dwords, and must have 5")));
}

TEST_F(AqlErrorTest, AVendorPacketsPm4MustBeAnIndirectBuffer) {
  Packet packet;
  std::memset(&packet, 0, sizeof packet);
  packet.words[0] = 1u << 16;
  packet.words[1] = 0xc0021000;
  EXPECT_THAT(fail_with(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 256),
              AllOf(HasSubstr("the PM4 packet NOP (opcode 0x10) at"),
                    HasSubstr("holds an INDIRECT_BUFFER and nothing else")));
}

TEST_F(AqlErrorTest, NoDimensionsIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.setup = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 2), HasSubstr("dimensions"));
}

TEST_F(AqlErrorTest, EmptyGridIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.grid_size_z = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 2), HasSubstr("640x4x0"));
}

TEST_F(AqlErrorTest, OversizedWorkGroupIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.workgroup_size_z = 9;
  EXPECT_THAT(fail_with(packet, kDispatch, 64), HasSubstr("64x2x9"));
}

TEST_F(AqlErrorTest, EmptyWorkGroupIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.workgroup_size_x = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 64), HasSubstr("1 to 1024"));
}

TEST_F(AqlErrorTest, TooMuchLdsIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.group_segment_size = 65537;
  EXPECT_THAT(fail_with(packet, kDispatch, 4), HasSubstr("65537"));
}

TEST_F(AqlErrorTest, NullKernelIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.kernel_object = 0;
  EXPECT_THAT(fail_with(packet, kDispatch, 8), HasSubstr("null"));
}

TEST_F(AqlErrorTest, KernelOutsideTheGpusMemoryIsAnError) {
  Packet packet = dispatch_packet();
  packet.dispatch.kernel_object = testing::FakeMemory::kForbidden + 0x1000;
  EXPECT_THAT(fail_with(packet, kDispatch, 8), HasSubstr("it is forbidden"));
}

TEST_F(AqlErrorTest, KernelWhoseCodeIsElsewhereIsAnError) {
  const int64_t distance = int64_t{1} << 50;
  std::memcpy(kernel_.bytes + 16, &distance, sizeof distance);
  EXPECT_THAT(fail_with(dispatch_packet(), kDispatch, 8), HasSubstr("leads to code"));
}

TEST_F(AqlErrorTest, TooManyRegistersForTheWorkGroupIsAnError) {
  kernel_.set_rsrc1(31);  // 128 VGPRs
  Packet packet = dispatch_packet();
  packet.dispatch.workgroup_size_x = 1024;
  packet.dispatch.workgroup_size_y = 1;
  EXPECT_THAT(fail_with(packet, kDispatch, 128), HasSubstr("128 VGPRs"));
}

struct FaultCase {
  isa::Fault::Kind kind;
  uint32_t code;
};

class AqlFaultTest : public testing::AqlQueueTest,
                     public ::testing::WithParamInterface<FaultCase> {};

TEST_P(AqlFaultTest, DispatchFaultStopsTheQueueWithItsCode) {
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

INSTANTIATE_TEST_SUITE_P(Kinds, AqlFaultTest,
                         ::testing::Values(FaultCase{isa::Fault::Kind::kIllegalInstruction,
                                                     0x40000000},
                                           FaultCase{isa::Fault::Kind::kAperture, 0x20000000},
                                           FaultCase{isa::Fault::Kind::kTrap, 0x80000000},
                                           FaultCase{isa::Fault::Kind::kWatchdog, 0x80000000}));

TEST_F(AqlErrorTest, MemoryFaultGoesToTheMemoryEvent) {
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

TEST_F(AqlErrorTest, MemoryFaultThatNobodyHearsIsAnApertureError) {
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
