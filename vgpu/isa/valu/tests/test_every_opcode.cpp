// What holds for every instruction of the tables, on random bits: the two handlers agree, disabled
// lanes keep their values, and no combination of modifiers reads or writes out of bounds (which the
// sanitizers watch).

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr unsigned kDst = 40, kDstDwords = 4;

bool is_packed(const std::string& name) {
  return name.starts_with("v_pk_") || name.starts_with("v_dot") || name.find("_mix") != name.npos;
}

class RandomMachine : public Machine {
 public:
  explicit RandomMachine(uint64_t seed) : random(seed) {}
  std::mt19937_64 random;

  // Floats of all kinds appear: a third of the values have an extreme exponent.
  void randomize() {
    for (unsigned r = 0; r < kRegisters; ++r) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        uint32_t value = static_cast<uint32_t>(random());
        if (random() % 6 == 0) value |= 0x7f807c00;
        if (random() % 6 == 0) value &= ~0x7f807c00u;
        wave.vgpr[r].lane[lane] = value;
      }
    }
    for (uint32_t& s : wave.sgpr) s = static_cast<uint32_t>(random());
    if (random() % 2 == 0) wave.set_exec(~0ull);
    wave.mode = FloatMode{};
    if (random() % 2 == 0) return;
    wave.mode.round_f32 = random() % 4;
    wave.mode.round_f16_f64 = random() % 4;
    wave.mode.denorm_f32 = random() % 4;
    wave.mode.denorm_f16_f64 = random() % 4;
    wave.mode.ieee = random() % 2 != 0;
    wave.mode.dx10_clamp = random() % 2 != 0;
  }

  Operand source() {
    switch (random() % 6) {
      case 0:
        return sreg(static_cast<unsigned>(random() % 100));
      case 1:
        return constant(random());
      default:
        return vreg(static_cast<unsigned>(random() % 36));
    }
  }

  Instruction instruction(const Opcode& o) {
    Instruction in = make(o.mnemonic, is_packed(o.mnemonic) ? Format::kVop3p : Format::kVop3);
    for (Operand& operand : in.src) operand = source();
    in.dst = vreg(kDst);
    in.sdst = sreg(static_cast<unsigned>(random() % 100));
    if (o.dst == Type::kMask) in.dst = {};
    return in;
  }
};

// They work on scalars or on both of their operands.
bool moves_lanes(const std::string& name) {
  return name.find("lane") != name.npos || name == "v_swap_b32";
}

TEST(EveryOpcode, PlainAndGeneralHandlersAgree) {
  RandomMachine m(101);
  for (const Opcode& o : vector_opcodes()) {
    if (o.plain == nullptr || moves_lanes(o.mnemonic)) continue;
    for (int round = 0; round < 12; ++round) {
      m.randomize();
      m.run_both(m.instruction(o), kDstDwords);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(EveryOpcode, DisabledLanesKeepTheirValuesUnderAnyModifiers) {
  RandomMachine m(102);
  for (const Opcode& o : vector_opcodes()) {
    if (moves_lanes(o.mnemonic)) continue;
    for (int round = 0; round < 12; ++round) {
      m.randomize();
      m.wave.set_exec(m.random());
      const uint64_t exec = m.wave.exec();
      Instruction in = m.instruction(o);
      in.neg = m.random() % 8;
      in.abs = m.random() % 8;
      in.omod = m.random() % 4;
      in.clamp = m.random() % 2;
      in.op_sel = m.random() % 16;
      in.op_sel_hi = m.random() % 8;
      in.dpp.enabled = m.random() % 4 == 0;
      in.dpp.control = m.random() % 512;
      in.dpp.bank_mask = m.random() % 16;
      in.dpp.row_mask = m.random() % 16;
      in.dpp.bound_ctrl = m.random() % 2;
      in.sdwa.enabled = !in.dpp.enabled && m.random() % 3 == 0;
      in.sdwa.dst_sel = static_cast<SubDword>(m.random() % 7);
      in.sdwa.dst_unused = static_cast<DstUnused>(m.random() % 3);
      for (unsigned i = 0; i < 2; ++i) {
        in.sdwa.src_sel[i] = static_cast<SubDword>(m.random() % 7);
        in.sdwa.sext[i] = m.random() % 2;
      }
      const std::vector<VectorRegister> before(m.wave.vgpr, m.wave.vgpr + Machine::kRegisters);
      ASSERT_EQ(o.general(m.wave, in), Outcome::kNext) << o.mnemonic;
      for (unsigned r = 0; r < Machine::kRegisters; ++r) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const bool may_change = r >= kDst && r < kDst + kDstDwords && (exec >> lane & 1) != 0;
          if (!may_change) {
            ASSERT_EQ(m.v(r, lane), before[r].lane[lane])
                << o.mnemonic << " changed v" << r << " in lane " << lane;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
