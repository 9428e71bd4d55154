#include <gtest/gtest.h>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

class LaneAccess : public testing::Test {
 protected:
  LaneAccess() {
    for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = 100 + lane;
  }
  Machine m;
};

TEST_F(LaneAccess, ReadlaneTakesTheLaneModulo64AndIgnoresExec) {
  m.wave.set_exec(0);
  m.wave.sgpr[3] = 64 + 17;
  Instruction in = Machine::make("v_readlane_b32");
  in.dst = sreg(5);
  in.src[0] = vreg(0);
  in.src[1] = sreg(3);
  m.run(in);
  EXPECT_EQ(m.wave.sgpr[5], 117u);
}

TEST_F(LaneAccess, ReadfirstlaneTakesTheFirstActiveLaneOrLane0) {
  Instruction in = Machine::make("v_readfirstlane_b32", Format::kVop1);
  in.dst = sreg(5);
  in.src[0] = vreg(0);
  for (const auto& [exec, lane] :
       {std::pair{0ull, 0u}, {~0ull, 0u}, {0x8000000000000000, 63u}, {0x30, 4u}}) {
    m.wave.set_exec(exec);
    m.run(in);
    EXPECT_EQ(m.wave.sgpr[5], 100 + lane);
  }
}

TEST_F(LaneAccess, WritelaneWritesOneLaneWhateverExecIs) {
  m.wave.set_exec(0);
  m.wave.sgpr[2] = 4242;
  Instruction in = Machine::make("v_writelane_b32");
  in.dst = vreg(0);
  in.src[0] = sreg(2);
  in.src[1] = constant(63);
  m.run(in);
  EXPECT_EQ(m.v(0, 63), 4242u);
  EXPECT_EQ(m.v(0, 62), 162u);
}

TEST_F(LaneAccess, SwapExchangesActiveLanes) {
  m.fill(1, 7);
  m.wave.set_exec(0xf);
  Instruction in = Machine::make("v_swap_b32", Format::kVop1);
  in.dst = vreg(1);
  in.src[0] = vreg(0);
  m.run(in);
  EXPECT_EQ(m.v(0, 3), 7u);
  EXPECT_EQ(m.v(1, 3), 103u);
  EXPECT_EQ(m.v(0, 4), 104u);
  EXPECT_EQ(m.v(1, 4), 7u);
}

TEST_F(LaneAccess, AccumulationRegistersAreReadAndWritten) {
  m.wave.set_exec(2);
  Instruction write = Machine::make("v_accvgpr_write_b32", Format::kVop3p);
  write.dst = areg(9);
  write.src[0] = vreg(0);
  m.run(write);
  EXPECT_EQ(m.wave.agpr[9].lane[1], 101u);
  EXPECT_EQ(m.wave.agpr[9].lane[2], 0u);
  Instruction read = Machine::make("v_accvgpr_read_b32", Format::kVop3p);
  read.dst = vreg(1);
  read.src[0] = areg(9);
  m.run(read);
  EXPECT_EQ(m.v(1, 1), 101u);
}

TEST_F(LaneAccess, NopsChangeNothing) {
  const Wave before = m.wave;
  m.run(Machine::make("v_nop", Format::kVop1));
  m.run(Machine::make("v_clrexcp", Format::kVop1));
  EXPECT_EQ(std::memcmp(before.sgpr, m.wave.sgpr, sizeof before.sgpr), 0);
  EXPECT_EQ(m.v(0, 9), 109u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
