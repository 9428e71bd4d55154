// What holds for every instruction of the tables, on random bits: the two handlers agree, disabled
// lanes keep their values, and no combination of modifiers reads or writes out of bounds (which the
// sanitizers watch).

#include <gtest/gtest.h>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/valu/tests/random_machine.h"

namespace halyard::vgpu::isa::test {
namespace {

TEST(EveryOpcode, PlainAndGeneralHandlersAgree) {
  RandomMachine m(101);
  for (const Opcode& o : vector_opcodes()) {
    if (o.plain == nullptr || moves_lanes(row_of(o.op).name)) continue;
    for (int round = 0; round < 12; ++round) {
      m.randomize();
      m.run_both(m.instruction(o), dwords_of(o.dst));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(EveryOpcode, DisabledLanesKeepTheirValuesUnderAnyModifiers) {
  RandomMachine m(102);
  for (const Opcode& o : vector_opcodes()) {
    if (moves_lanes(row_of(o.op).name)) continue;
    for (int round = 0; round < 12; ++round) {
      m.randomize();
      m.wave.set_exec(m.random());
      const uint64_t exec = m.wave.exec();
      Instruction in = m.instruction(o);
      m.modify(in);
      const std::vector<VectorRegister> before(m.wave.vgpr, m.wave.vgpr + Machine::kRegisters);
      ASSERT_EQ(o.general(m.wave, decoded(in)), Outcome::kNext) << row_of(o.op).name;
      for (unsigned r = 0; r < Machine::kRegisters; ++r) {
        if (std::memcmp(&m.wave.vgpr[r], &before[r], sizeof before[r]) == 0) continue;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const bool may_change = r >= kDst && r < kDst + kDstDwords && (exec >> lane & 1) != 0;
          if (!may_change) {
            ASSERT_EQ(m.v(r, lane), before[r].lane[lane])
                << row_of(o.op).name << " changed v" << r << " in lane " << lane;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
