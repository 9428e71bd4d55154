// Kernels that PM4 packets start: what becomes of the registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "vgpu/queue/tests/pm4_queue_fixture.h"

namespace halyard::vgpu::queue {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Pm4Dispatches : public Pm4QueueTest {
 protected:
  void SetUp() override {
    gpu_.engine.behaviour = [this](const isa::Dispatch& dispatch, const volatile bool&) {
      kernel_ = *dispatch.registers;
      dispatch_ = dispatch;
      return result_;
    };
    Pm4QueueTest::SetUp();
  }

  // A kernel at memory_, which need not hold any.
  Words registers(uint32_t x = 64, uint32_t rsrc2 = 4 << 1) {
    const uint64_t code = number(code_) >> 8;
    return set_sh(0x2e04, {0, 0, 0, x, 1, 1}) + set_sh(0x2e0c, {low(code), high(code)}) +
           set_sh(0x2e12, {0x00ac0041, rsrc2}) + set_sh(0x2e18, {0}) +
           set_sh(0x2e40, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25});
  }
  std::string refused(const Words& words) {
    begin(gpu_.device());
    gpu_.interrupts.forget_faults();
    return stopped_by(words);
  }

  isa::KernelRegisters kernel_;
  isa::Dispatch dispatch_;
  isa::DispatchResult result_;
  alignas(256) uint32_t code_[64] = {};
};

TEST_F(Pm4Dispatches, RegistersDescribeTheKernel) {
  run(registers(64, 4 << 1 | 3 << 15) + set_sh(0x2e2d, {9}) + dispatch_direct(3, 2, 1));
  ASSERT_EQ(gpu_.engine.dispatches().size(), 1u);
  EXPECT_EQ(kernel_.entry, number(code_));
  EXPECT_EQ(dispatch_.kernel_object, number(code_));
  EXPECT_EQ(kernel_.rsrc1, 0x00ac0041u);
  EXPECT_EQ(kernel_.rsrc2, 4u << 1 | 3u << 15);
  EXPECT_EQ(kernel_.rsrc3, 9u);
  EXPECT_EQ(kernel_.user_data[0], 10u);
  EXPECT_EQ(kernel_.user_data[15], 25u);
  EXPECT_EQ(kernel_.scratch_wave_bytes, 0u);
  EXPECT_EQ(dispatch_.group_segment_size, 3u * 512);
  EXPECT_THAT(dispatch_.grid, ElementsAre(192, 2, 1));
  EXPECT_THAT(dispatch_.group, ElementsAre(64, 1, 1));
  EXPECT_THAT(dispatch_.first_group, ElementsAre(0, 0, 0));
  EXPECT_EQ(dispatch_.shared_aperture_hi, kSharedApertureHi);
  EXPECT_EQ(dispatch_.private_aperture_hi, kPrivateApertureHi);
  // They stay for the next one.
  run(set_sh(0x2e41, {99}) + dispatch_direct(1, 1, 1));
  EXPECT_EQ(kernel_.user_data[0], 10u);
  EXPECT_EQ(kernel_.user_data[1], 99u);
}

TEST_F(Pm4Dispatches, DimensionsCountGroupsOrItems) {
  // USE_THREAD_DIMENSIONS.
  run(registers() + dispatch_direct(100, 1, 1, 0x21));
  EXPECT_THAT(dispatch_.grid, ElementsAre(100, 1, 1));
  // PARTIAL_TG_EN: the last group has the rest.
  run(set_sh(0x2e07, {64 | 36 << 16, 1 | 1 << 16, 1 | 1 << 16}) + dispatch_direct(2, 1, 1, 3));
  EXPECT_THAT(dispatch_.grid, ElementsAre(100, 1, 1));
  // START: the dimensions are the grid's end.
  run(set_sh(0x2e04, {1, 2, 3, 64, 1, 1}) + dispatch_direct(3, 3, 4, 1));
  EXPECT_THAT(dispatch_.grid, ElementsAre(128, 1, 1));
  EXPECT_THAT(dispatch_.first_group, ElementsAre(1, 2, 3));
  run(dispatch_direct(3, 3, 4, 5));  // FORCE_START_AT_000
  EXPECT_THAT(dispatch_.grid, ElementsAre(192, 3, 4));
  EXPECT_THAT(dispatch_.first_group, ElementsAre(0, 0, 0));
  EXPECT_EQ(gpu_.engine.dispatches().size(), 4u);
  // Nothing to do.
  run(dispatch_direct(1, 3, 4, 1) + dispatch_direct(0, 1, 1, 5) + dispatch_direct(0, 1, 1, 0x25));
  EXPECT_EQ(gpu_.engine.dispatches().size(), 4u);
}

TEST_F(Pm4Dispatches, DimensionsCanBeInMemory) {
  memory_[0] = 5;
  memory_[1] = 6;
  memory_[2] = 7;
  run(registers() + packet(0x16, {low(number(memory_)), high(number(memory_)), 5}));
  EXPECT_THAT(dispatch_.grid, ElementsAre(320, 6, 7));
  EXPECT_THAT(refused(packet(0x16, {low(number(memory_)) + 2, high(number(memory_)), 5})),
              HasSubstr("multiple of 4"));
}

TEST_F(Pm4Dispatches, PrivateMemoryIsTheProgramsIfTheKernelHasSome) {
  const uint32_t ring = 8 | 3 << 12;
  run(registers(128, 6 << 1 | 1) + set_sh(0x2e18, {ring}) + dispatch_direct(1, 1, 1));
  EXPECT_EQ(kernel_.scratch_waves, 8u);
  EXPECT_EQ(kernel_.scratch_wave_bytes, 3072u);
  EXPECT_EQ(dispatch_.private_segment_size, 0u);
  run(registers(128, 6 << 1) + set_sh(0x2e18, {ring}) + dispatch_direct(1, 1, 1));
  EXPECT_EQ(kernel_.scratch_wave_bytes, 0u);
  EXPECT_THAT(refused(registers(128, 6 << 1 | 1) + set_sh(0x2e18, {1 | 3 << 12}) +
                      dispatch_direct(1, 1, 1)),
              HasSubstr("private memory for 1 waves, and a work-group has 2"));
}

TEST_F(Pm4Dispatches, ThreadManagementChoosesComputeUnits) {
  // Two engines with an array of 16 units and a 17th one.
  std::vector<uint32_t> places;
  for (uint32_t unit = 0; unit < 34; ++unit)
    places.push_back((unit / 2 % 16) << 8 | unit / 32 << 12 | unit % 2 << 13);
  Device device = gpu_.device();
  device.unit_places = &places;
  std::vector<uint32_t> used;
  processor_->stop();
  gpu_.engine.behaviour = [&](const isa::Dispatch& dispatch, const volatile bool&) {
    used = dispatch.units != nullptr ? *dispatch.units : std::vector<uint32_t>{99};
    return isa::DispatchResult{};
  };
  begin(device);
  run(registers() + dispatch_direct(1, 1, 1));
  EXPECT_THAT(used, ElementsAre(99));
  run(set_sh(0x2e16, {1u << 16 | 1u << 3, 1u << 2}) + dispatch_direct(1, 1, 1));
  EXPECT_THAT(used, ElementsAre(5, 6, 32));
  processor_->set_units({6, 7});
  run(dispatch_direct(1, 1, 1));
  EXPECT_THAT(used, ElementsAre(6));
  processor_->set_units({7});
  EXPECT_THAT(stopped_by(dispatch_direct(1, 1, 1)), HasSubstr("mask of compute units"));
  gpu_.interrupts.forget_faults();
  begin(device);
  EXPECT_THAT(stopped_by(registers() + set_sh(0x2e16, {0, 0}) + dispatch_direct(1, 1, 1)),
              HasSubstr("COMPUTE_STATIC_THREAD_MGMT leaves none"));
}

// Each die has registers of its own, which PRED_EXEC selects: as many dwords as it says, also those
// of buffers that packets among them lead to.
TEST_F(Pm4Dispatches, EachDieHasItsRegisters) {
  Device device = gpu_.device();
  device.limits.xccs = 2;
  begin(device);
  const auto base = [](uint32_t value) { return set_sh(0x2e10, {value, 0}); };
  const auto predicate = [](uint32_t dies, uint32_t words) {
    return packet(0x23, {dies << 24 | words});
  };
  const auto words = static_cast<uint32_t>(base(0).size());
  Words nested = base(0x300);
  run(registers(64, 4 << 1 | 1) + set_sh(0x2e18, {8 | 3 << 12}) + base(0x100) +
      predicate(2, words) + base(0x200) + dispatch_direct(1, 1, 1));
  EXPECT_EQ(kernel_.scratch_base[0], 0x10000u);
  EXPECT_EQ(kernel_.scratch_base[1], 0x20000u);
  run(predicate(1, 4) + indirect_buffer(nested.data(), words) + dispatch_direct(1, 1, 1));
  EXPECT_EQ(kernel_.scratch_base[0], 0x30000u);
  EXPECT_EQ(kernel_.scratch_base[1], 0x20000u);
  run(predicate(4, words) + base(0x400) + dispatch_direct(1, 1, 1));
  EXPECT_EQ(kernel_.scratch_base[0], 0x30000u);
  EXPECT_THAT(stopped_by(predicate(1, 5) + dispatch_direct(1, 1, 1)),
              HasSubstr("PRED_EXEC selects some of the 2 dies (mask 0x1)"));
}

// Every die that executes ATOMIC_MEM does so.
TEST_F(Pm4Dispatches, EachDieDoesItsAtomics) {
  Device device = gpu_.device();
  device.limits.xccs = 4;
  begin(device);
  const uint64_t to = number(memory_);
  const Words add = packet(0x1e, {0x0f, low(to), high(to), 1, 0, 0, 0, 0});
  run(add);
  EXPECT_EQ(memory_[0], 4u);
  run(packet(0x23, {5u << 24 | static_cast<uint32_t>(add.size())}) + add);
  EXPECT_EQ(memory_[0], 6u);
}

TEST_F(Pm4Dispatches, WhatCannotRunIsRefused) {
  EXPECT_THAT(refused(registers() + dispatch_direct(1, 1, 1, 4)), HasSubstr("COMPUTE_SHADER_EN"));
  EXPECT_THAT(refused(registers() + dispatch_direct(1, 1, 1, 1 | 8)), HasSubstr("ORDERED_APPEND"));
  EXPECT_THAT(refused(registers() + dispatch_direct(1, 1, 1, 1 | 1 << 14)), HasSubstr("RESTORE"));
  EXPECT_THAT(refused(registers(0) + dispatch_direct(1, 1, 1)),
              HasSubstr("COMPUTE_NUM_THREAD_X (0x0)"));
  EXPECT_THAT(refused(registers(2048) + dispatch_direct(1, 1, 1)), HasSubstr("1 to 1024"));
  EXPECT_THAT(refused(registers() + set_sh(0x2e04, {1}) + dispatch_direct(1, 1, 1, 0x21)),
              HasSubstr("USE_THREAD_DIMENSIONS"));
  EXPECT_THAT(refused(registers() + dispatch_direct(0x4000001, 1, 1)), HasSubstr("the grid's"));
  EXPECT_THAT(refused(registers(64, 17 << 1) + dispatch_direct(1, 1, 1)),
              HasSubstr("17 user SGPRs"));
  EXPECT_THAT(refused(registers(64, 4 << 1 | 129 << 15) + dispatch_direct(1, 1, 1)),
              HasSubstr("bytes of LDS"));
  EXPECT_THAT(refused(registers(1024) + set_sh(0x2e12, {0x3f}) + dispatch_direct(1, 1, 1)),
              HasSubstr("VGPRs"));
  EXPECT_THAT(refused(registers() + set_sh(0x2e0c, {0, 0x1'00}) + dispatch_direct(1, 1, 1)),
              HasSubstr("lead to code at 0x0"));
  EXPECT_TRUE(gpu_.engine.dispatches().empty());
}

TEST_F(Pm4Dispatches, AKernelsFaultStopsTheQueue) {
  result_.fault.kind = isa::Fault::Kind::kIllegalInstruction;
  result_.report = "The report.";
  EXPECT_THAT(refused(registers() + dispatch_direct(1, 1, 1)),
              ::testing::AllOf(HasSubstr("DISPATCH_DIRECT (opcode 0x15) at"),
                               HasSubstr("illegal instruction in kernel of unknown name (entry"),
                               HasSubstr("The report.")));
  EXPECT_TRUE(gpu_.interrupts.faults()[0].is_hang);
  result_.fault.kind = isa::Fault::Kind::kMemory;
  result_.fault.address = 0x1234;
  result_.fault.is_write = true;
  EXPECT_THAT(refused(registers() + dispatch_direct(1, 1, 1)), HasSubstr("memory access fault"));
  EXPECT_FALSE(gpu_.interrupts.faults()[0].is_hang);
  EXPECT_EQ(gpu_.interrupts.faults()[0].address, 0x1234u);
}

TEST_F(Pm4Dispatches, AStoppedQueueCancelsItsKernel) {
  std::atomic<bool> runs{false};
  processor_->stop();
  gpu_.engine.behaviour = [&](const isa::Dispatch&, const volatile bool& cancel) {
    runs = true;
    while (!cancel) std::this_thread::yield();
    return isa::DispatchResult{};
  };
  begin(gpu_.device());
  put(registers() + dispatch_direct(1, 1, 1) + write_data(memory_, {1}));
  publish();
  wait_until([&] { return runs.load(); });
  processor_->stop();
  EXPECT_FALSE(processor_->failed());
  EXPECT_EQ(memory_[0], 0u);
}

TEST_F(Pm4Dispatches, WithoutAnEngineNothingRuns) {
  begin(gpu_.device(false));
  run(registers() + dispatch_direct(1, 1, 1) + write_data(memory_, {1}));
  EXPECT_EQ(memory_[0], 1u);
  EXPECT_TRUE(gpu_.engine.dispatches().empty());
}

}  // namespace
}  // namespace halyard::vgpu::queue
