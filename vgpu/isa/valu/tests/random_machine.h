// A machine with random registers, and random instructions for it.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {

// Sources begin below 36 and have up to 32 dwords.
inline constexpr unsigned kDst = 80, kDstDwords = 32;

inline bool is_packed(const std::string& name) {
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
        const uint64_t drawn = random();
        uint32_t value = static_cast<uint32_t>(drawn);
        if ((drawn >> 32 & 0xffff) % 6 == 0) value |= 0x7f807c00;
        if ((drawn >> 48) % 6 == 0) value &= ~0x7f807c00u;
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
    Instruction in =
        make(row_of(o.op).name, is_packed(row_of(o.op).name) ? Format::kVop3p : Format::kVop3);
    for (Operand& operand : in.src) operand = source();
    in.dst = vreg(kDst);
    in.sdst = sreg(static_cast<unsigned>(random() % 100));
    if (o.dst == Type::kMask) in.dst = {};
    return in;
  }

  // Any modifiers, also such as no encoding has together.
  void modify(Instruction& in) {
    in.neg = random() % 8;
    in.abs = random() % 8;
    in.omod = random() % 4;
    in.clamp = random() % 2;
    in.op_sel = random() % 16;
    in.op_sel_hi = random() % 8;
    in.has_dpp = random() % 4 == 0;
    in.extra->dpp.control = random() % 512;
    in.extra->dpp.bank_mask = random() % 16;
    in.extra->dpp.row_mask = random() % 16;
    in.extra->dpp.bound_ctrl = random() % 2;
    in.has_sdwa = !in.has_dpp && random() % 3 == 0;
    in.extra->sdwa.dst_sel = static_cast<SubDword>(random() % 7);
    in.extra->sdwa.dst_unused = static_cast<DstUnused>(random() % 3);
    for (unsigned i = 0; i < 2; ++i) {
      in.extra->sdwa.src_sel[i] = static_cast<SubDword>(random() % 7);
      in.extra->sdwa.sext[i] = random() % 2;
    }
  }
};

// They work on scalars or on both of their operands.
inline bool moves_lanes(const std::string& name) {
  return name.find("lane") != name.npos || name == "v_swap_b32";
}

}  // namespace halyard::vgpu::isa::test
