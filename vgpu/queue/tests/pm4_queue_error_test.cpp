// What stops a PM4 queue, and what is said of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vgpu/queue/tests/pm4_queue_fixture.h"

namespace halyard::vgpu::queue {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using ::testing::AllOf;
using ::testing::HasSubstr;

// Each case has a queue of its own.
class Pm4QueueErrors : public Pm4QueueTest {
 protected:
  std::string of(const Words& words) {
    begin(gpu_.device());
    gpu_.interrupts.forget_faults();
    return stopped_by(words);
  }
  MemoryFault fault() { return gpu_.interrupts.faults().at(0); }
};

TEST_F(Pm4QueueErrors, APacketIsNamedWithItsAddress) {
  const std::string text = of(Words{0x80000000} + packet(0x39, {0, 0, 0}));
  EXPECT_THAT(text, AllOf(HasSubstr("PM4 queue 3 stopped at MEM_SEMAPHORE (opcode 0x39) at 0x"),
                          HasSubstr("not one that this GPU's compute queues implement")));
  EXPECT_THAT(text, HasSubstr(fmt::format("{:#x}", number(ring_ + 1))));
  EXPECT_TRUE(fault().is_hang);
  EXPECT_EQ(read_index(), 1u);
  EXPECT_THAT(of(packet(0xee, {0})), HasSubstr("stopped at opcode 0xee at"));
  EXPECT_THAT(of({0x00010000, 0, 0}), HasSubstr("a packet of type 0 at"));
  EXPECT_THAT(of({0x40000000}), HasSubstr("a packet of type 1 at"));
}

TEST_F(Pm4QueueErrors, LengthsAreChecked) {
  EXPECT_THAT(of(packet(0x15, {1, 1, 1})), HasSubstr("it has 4 dwords, and must have 5"));
  EXPECT_THAT(of(packet(0x58, Words(7))), HasSubstr("it has 8 dwords, and must have 7"));
  EXPECT_THAT(of(packet(0x37, {5 << 8, 0, 0})), HasSubstr("and must have 5 to"));
  // Larger than the ring: it can never be there.
  EXPECT_THAT(of({0xc0003700 | kRingWords << 16}), HasSubstr("more than its ring"));
  EXPECT_THAT(of({0xc0001000 | kRingWords << 16}), HasSubstr("more than its ring"));
}

TEST_F(Pm4QueueErrors, BuffersMustBeThereAndHoldTheirPackets) {
  alignas(16) uint32_t buffer[8] = {0xc0033700, 5 << 8, 0, 0, 1};
  EXPECT_THAT(of(indirect_buffer(buffer, 4)),
              AllOf(HasSubstr("WRITE_DATA (opcode 0x37) at"),
                    HasSubstr("it has 5 dwords, 1 more than its indirect buffer")));
  EXPECT_THAT(of(indirect_buffer(reinterpret_cast<void*>(FakeMemory::kForbidden), 4)),
              AllOf(HasSubstr("INDIRECT_BUFFER (opcode 0x3f)"),
                    HasSubstr("its 4 dwords at 0x1000000000000 are not memory of the GPU; it is "
                              "forbidden")));
  EXPECT_THAT(of(indirect_buffer(buffer, 4, 1u << 20)), HasSubstr("(CHAIN)"));
  alignas(16) uint32_t deep[3][4] = {};
  for (int n = 0; n < 3; ++n) {
    const Words jump = indirect_buffer(deep[n < 2 ? n + 1 : 2], 4);
    std::copy(jump.begin(), jump.end(), deep[n]);
  }
  EXPECT_THAT(of(indirect_buffer(deep[0], 4)), HasSubstr("it lies 2 indirect buffers deep"));
}

TEST_F(Pm4QueueErrors, AccessesAreMemoryFaults) {
  const auto* const nowhere = reinterpret_cast<void*>(FakeMemory::kForbidden + 0x40);
  EXPECT_THAT(of(write_data(nowhere, {1, 2})),
              AllOf(HasSubstr("it may not write 8 bytes at 0x1000000000040; it is forbidden")));
  EXPECT_FALSE(fault().is_hang);
  EXPECT_TRUE(fault().is_write);
  EXPECT_EQ(fault().address, FakeMemory::kForbidden + 0x40);
  EXPECT_THAT(of(packet(0x3c, {3 | 1 << 4, 0, 1u << 16, 1, ~0u, 4})), HasSubstr("it may not read"));
  EXPECT_FALSE(fault().is_write);
  EXPECT_THAT(of(release_mem(nowhere, 1)), HasSubstr("RELEASE_MEM"));
  EXPECT_THAT(of(packet(0x50, {0, 0, 1u << 16, 0, 1u << 16, 16})), HasSubstr("it may not read"));
  EXPECT_THAT(of(packet(0x50, {2u << 29, 0, 0, 0, 1u << 16, 16})), HasSubstr("it may not write"));
  EXPECT_THAT(of(packet(0x1e, {0x0f, 0, 1u << 16, 1, 0, 0, 0, 0})), HasSubstr("it may not write"));
  EXPECT_THAT(of(packet(0x16, {0, 1u << 16, 5})), HasSubstr("it may not read 12 bytes"));
  EXPECT_THAT(of(packet(0x22, {0, 1u << 16, 0, 0})), HasSubstr("it may not read 4 bytes"));
}

TEST_F(Pm4QueueErrors, WhatIsNotImplementedIsRefused) {
  EXPECT_THAT(of(write_data(memory_, {1}, 3)), HasSubstr("its destination (3)"));
  EXPECT_THAT(of(packet(0x40, {3 | 5 << 8, 0, 0, 0, 0})), HasSubstr("its source (3)"));
  EXPECT_THAT(of(packet(0x40, {5 | 3 << 8, 0, 0, 0, 0})), HasSubstr("its destination (3)"));
  EXPECT_THAT(of(packet(0x50, {1u << 29, 0, 0, 0, 0, 4})), HasSubstr("ask for GDS"));
  EXPECT_THAT(of(packet(0x50, {0, 0, 0, 0, 0, 4 | 1u << 26})), HasSubstr("ask for GDS"));
  EXPECT_THAT(of(packet(0x1e, {0x02, low(number(memory_)), high(number(memory_)), 0, 0, 0, 0, 0})),
              HasSubstr("its operation (0x2)"));
  EXPECT_THAT(
      of(packet(0x1e, {0x0f | 1 << 8, low(number(memory_)), high(number(memory_)), 0, 0, 0, 0, 0})),
      HasSubstr("its command (1)"));
  EXPECT_THAT(
      of(packet(0x1e, {0x2f, low(number(memory_ + 1)), high(number(memory_)), 0, 0, 0, 0, 0})),
      HasSubstr("must be a multiple of 8"));
  EXPECT_THAT(of(packet(0x49, {0x14 | 4 << 8, 0, 0, 0, 0, 0, 0})),
              HasSubstr("its event index (4)"));
  EXPECT_THAT(of(packet(0x49, {0x14 | 5 << 8, 5u << 29, 0, 0, 0, 0, 0})), HasSubstr("or data (5)"));
  EXPECT_THAT(of(packet(0x49, {0x14 | 5 << 8, 6u << 24, 0, 0, 0, 0, 0})),
              HasSubstr("interrupt (6)"));
  EXPECT_THAT(of(packet(0x3c, {7 | 1 << 4, 0, 0, 0, 0, 0})), HasSubstr("its function (7)"));
  EXPECT_THAT(of(packet(0x3c, {3 | 1 << 4 | 1 << 6, 0, 0, 0, 0, 0})), HasSubstr("do not go"));
  EXPECT_THAT(of(packet(0x3c, {3, 0x1234, 0, 0, 0, 0})), HasSubstr("the register 0x1234"));
  EXPECT_THAT(of(packet(0x3c, {3 | 1 << 6, 0x1234, 0xe27, 0, 0, 0})), HasSubstr("the HDP flush"));
  EXPECT_THAT(of(packet(0x3c, {3, 0x2e40, 0, 7, ~0u, 0})), HasSubstr("for ever"));
}

TEST_F(Pm4QueueErrors, RegistersMustBeThoseOfComputeQueues) {
  EXPECT_THAT(of(set_sh(0x2c0c, {1})),
              AllOf(HasSubstr("SET_SH_REG (opcode 0x76)"), HasSubstr("the register 0x2c0c")));
  EXPECT_THAT(of(set_sh(0x2e7f, {1, 2})), HasSubstr("the register 0x2e80"));
  EXPECT_THAT(of(packet(0x79, {0x100, 1})), HasSubstr("the register 0xc100"));
  EXPECT_THAT(of(packet(0x76, {0x240 | 1u << 28, 1})), HasSubstr("its index (1) must be 0"));
  EXPECT_THAT(of(packet(0x37, {0, 0x1234, 0, 1})), HasSubstr("the register 0x1234"));
}

TEST_F(Pm4QueueErrors, NothingBehindItIsExecuted) {
  of(packet(0x39, {0, 0, 0}) + write_data(memory_, {1}));
  EXPECT_EQ(memory_[0], 0u);
}

}  // namespace
}  // namespace halyard::vgpu::queue
