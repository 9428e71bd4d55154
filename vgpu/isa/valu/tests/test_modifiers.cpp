// EXEC, operand kinds, aliasing, and every modifier, on instructions whose arithmetic is simple.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr uint64_t kMasks[] = {0,
                               1,
                               0x8000000000000000,
                               0xaaaaaaaaaaaaaaaa,
                               0x00000000ffffffff,
                               0xfffffffffffffffe,
                               0x123456789abcdef0,
                               ~0ull};

Instruction add(unsigned dst, Operand a, Operand b) {
  Instruction in = Machine::make("v_add_u32", Format::kVop2);
  in.dst = vreg(dst);
  in.src[0] = a;
  in.src[1] = b;
  return in;
}

TEST(Exec, OnlyEnabledLanesAreWritten) {
  for (const uint64_t exec : kMasks) {
    Machine m;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      m.v(0, lane) = lane;
      m.v(1, lane) = 1000;
      m.v(2, lane) = 0xdead0000 + lane;
    }
    m.wave.set_exec(exec);
    m.run_both(add(2, vreg(0), vreg(1)));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ(m.v(2, lane), (exec >> lane & 1) ? 1000 + lane : 0xdead0000 + lane);
    }
  }
}

TEST(Exec, ComparesWriteZeroForDisabledLanes) {
  for (const uint64_t exec : kMasks) {
    Machine m;
    for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = lane;
    Instruction in = Machine::make("v_cmp_gt_u32", Format::kVopc);
    in.src[0] = vreg(0);
    in.src[1] = constant(20);
    m.wave.set_exec(exec);
    m.wave.set_vcc(~0ull);
    m.run_both(in);
    EXPECT_EQ(m.wave.vcc(), exec & ~0x1fffffull);
    EXPECT_EQ(m.wave.exec(), exec);
  }
}

TEST(Exec, CmpxWritesBothItsMaskAndExec) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = lane;
  Instruction in = Machine::make("v_cmpx_lt_u32");
  in.sdst = sreg(10);
  in.src[0] = vreg(0);
  in.src[1] = constant(8);
  m.wave.set_exec(0xf0f0f0f0f0f0f0f0);
  m.run(in);
  EXPECT_EQ(m.wave.scalar64(10), 0xf0u);
  EXPECT_EQ(m.wave.exec(), 0xf0u);
  EXPECT_EQ(m.wave.vcc(), 0u);
}

TEST(Operands, ScalarsConstantsAndSpecialRegistersAreTheSameInAllLanes) {
  Machine m;
  m.fill(0, 5);
  m.wave.sgpr[7] = 40;
  m.wave.sgpr[scalar::kM0] = 100;
  m.wave.scc = true;
  m.wave.apertures[1] = 0x1234567800000000;
  const std::pair<Operand, uint32_t> cases[] = {
      {sreg(7), 45},
      {constant(0xfffffffffffffff0), 0xfffffff5},
      {sreg(scalar::kM0), 105},
      {{OperandKind::kScc, 0, 0}, 6},
      {{OperandKind::kVccz, 0, 0}, 6},
      {{OperandKind::kExecz, 0, 0}, 5},
  };
  for (const auto& [operand, expected] : cases) {
    m.run_both(add(2, operand, vreg(0)));
    for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(m.v(2, lane), expected);
  }
  Instruction shift = Machine::make("v_lshrrev_b64");
  shift.dst = vreg(4);
  shift.src[0] = constant(32);
  shift.src[1] = {OperandKind::kAperture, 1, 0};
  m.run_both(shift, 2);
  EXPECT_EQ(m.v64(4, 63), 0x12345678u);
}

TEST(Operands, AccumulationRegistersAreAFileOfTheirOwn) {
  Machine m;
  m.wave.agpr[3].lane[9] = 77;
  m.v(3, 9) = 1;
  Instruction in = add(2, areg(3), constant(1));
  m.run_both(in);
  EXPECT_EQ(m.v(2, 9), 78u);
  in.dst = areg(3);
  m.run(in);
  EXPECT_EQ(m.wave.agpr[3].lane[9], 78u);
  EXPECT_EQ(m.v(3, 9), 1u);
}

TEST(Aliasing, TheDestinationMayBeASource) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = lane;
  m.run_both(add(0, vreg(0), vreg(0)));
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(m.v(0, lane), 2 * lane);
}

TEST(Aliasing, A64BitDestinationMayOverlapHalfOfASource) {
  for (const unsigned dst : {3u, 4u, 5u}) {
    Machine m;
    for (unsigned lane = 0; lane < kLanes; ++lane) m.set64(4, lane, 0x123456789ull * (lane + 1));
    Instruction in = Machine::make("v_lshlrev_b64");
    in.dst = vreg(dst);
    in.src[0] = constant(4);
    in.src[1] = vreg(4);
    m.run_both(in, 2);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ(m.v64(dst, lane), 0x1234567890ull * (lane + 1)) << dst;
    }
  }
}

TEST(Aliasing, CarryOutMayReplaceCarryIn) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = lane < 32 ? 0xffffffff : 0;
  Instruction in = Machine::make("v_addc_co_u32", Format::kVop2);
  in.dst = vreg(0);
  in.src[0] = constant(0);
  in.src[1] = vreg(0);
  in.src[2] = vcc();
  m.wave.set_vcc(0x00000001'00000003);
  m.run_both(in);
  EXPECT_EQ(m.wave.vcc(), 3u);
  EXPECT_EQ(m.v(0, 0), 0u);
  EXPECT_EQ(m.v(0, 2), 0xffffffffu);
  EXPECT_EQ(m.v(0, 32), 1u);
  EXPECT_EQ(m.v(0, 33), 0u);
}

TEST(FloatModifiers, NegAndAbsChangeTheSignBitOnly) {
  Machine m;
  for (const auto& [neg, abs, expected] : {std::tuple{0, 0, -1.0f},
                                           {1, 0, 5.0f},
                                           {0, 1, 5.0f},
                                           {1, 1, -1.0f},
                                           {2, 0, -5.0f},
                                           {2, 1, 1.0f}}) {
    Instruction in = Machine::make("v_add_f32");
    m.fill(0, bits(-3.0f));
    in.src[0] = vreg(0);
    in.src[1] = constant(bits(2.0f));
    in.dst = vreg(1);
    in.neg = static_cast<uint8_t>(neg);
    in.abs = static_cast<uint8_t>(abs);
    m.run(in);
    EXPECT_EQ(f32(m.v(1, 17)), expected) << neg << " " << abs;
  }
}

TEST(FloatModifiers, NegReachesTheTopHalfOfF64AndTheWordOfF16) {
  Machine m;
  Instruction in = Machine::make("v_add_f64");
  m.fill64(0, bits(1.5));
  in.src[0] = vreg(0);
  in.src[1] = constant(bits(4.0));
  in.dst = vreg(2);
  in.neg = 1;
  m.run(in);
  EXPECT_EQ(f64(m.v64(2, 5)), 2.5);

  Instruction half = Machine::make("v_add_f16");
  m.fill(0, 0xabcd3c00);  // 1.0 and unused bits
  half.src[0] = vreg(0);
  half.src[1] = constant(0x4400);  // 4.0
  half.dst = vreg(2);
  half.neg = 1;
  m.run(half);
  EXPECT_EQ(m.v(2), 0x4200u);
}

Instruction mul_by_one(uint8_t omod, bool clamp) {
  Instruction in = Machine::make("v_mul_f32");
  in.src[0] = vreg(0);
  in.src[1] = constant(bits(1.0f));
  in.dst = vreg(1);
  in.omod = omod;
  in.clamp = clamp;
  return in;
}

TEST(FloatModifiers, OmodScalesOnlyWithoutIeeeModeAndWithoutDenormals) {
  Machine m;
  m.fill(0, bits(3.0f));
  m.run(mul_by_one(1, false));
  EXPECT_EQ(f32(m.v(1)), 3.0f);
  m.wave.mode.ieee = false;
  m.run(mul_by_one(1, false));
  EXPECT_EQ(f32(m.v(1)), 3.0f);
  m.wave.mode.denorm_f32 = 0;
  for (const auto& [omod, factor] : {std::pair{0, 1.0f}, {1, 2.0f}, {2, 4.0f}, {3, 0.5f}}) {
    m.run(mul_by_one(static_cast<uint8_t>(omod), false));
    EXPECT_EQ(f32(m.v(1)), 3.0f * factor);
  }
  m.fill(0, bits(-0.0f));
  m.run(mul_by_one(1, false));
  EXPECT_EQ(m.v(1), 0u);
  m.fill(0, 0x00800000);  // halving the smallest normal gives a denormal
  m.run(mul_by_one(3, false));
  EXPECT_EQ(m.v(1), 0u);
}

TEST(FloatModifiers, OmodRoundsAsTheMultiplicationThatItReplaces) {
  Machine m;
  m.wave.mode.ieee = false;
  m.wave.mode.denorm_f32 = 0;
  m.fill(0, 0x7f7fffff);
  m.run(mul_by_one(1, false));
  EXPECT_EQ(m.v(1), 0x7f800000u);
  m.wave.mode.round_f32 = 3;
  m.run(mul_by_one(1, false));
  EXPECT_EQ(m.v(1), 0x7f7fffffu);
}

TEST(FloatModifiers, ClampComesAfterOmodAndTurnsNanIntoZero) {
  Machine m;
  m.wave.mode.ieee = false;
  m.wave.mode.denorm_f32 = 0;
  for (const auto& [x, expected] : {std::pair{0.25f, 0.5f},
                                    {0.75f, 1.0f},
                                    {-1.0f, 0.0f},
                                    {-0.0f, 0.0f},
                                    {INFINITY, 1.0f},
                                    {-INFINITY, 0.0f}}) {
    m.fill(0, bits(x));
    m.run(mul_by_one(1, true));
    EXPECT_EQ(m.v(1), bits(expected)) << x;
  }
  m.fill(0, 0x7fc01234);
  m.run(mul_by_one(0, true));
  EXPECT_EQ(m.v(1), 0u);
  m.wave.mode.dx10_clamp = false;
  m.run(mul_by_one(0, true));
  EXPECT_EQ(m.v(1), 0x7fc01234u);
}

TEST(OpSel, ChoosesHalvesOfSourcesAndOfTheDestination) {
  Machine m;
  m.fill(0, 0x00070003);
  m.fill(1, 0x00500020);
  for (const auto& [op_sel, expected] : {std::pair{0, 0xdead0023u},
                                         {1, 0xdead0027u},
                                         {2, 0xdead0053u},
                                         {3, 0xdead0057u},
                                         {8, 0x0023beefu},
                                         {15, 0x0057beefu}}) {
    m.fill(2, 0xdeadbeef);
    Instruction in = Machine::make("v_add_i16");
    in.src[0] = vreg(0);
    in.src[1] = vreg(1);
    in.dst = vreg(2);
    in.op_sel = static_cast<uint8_t>(op_sel);
    m.run(in);
    EXPECT_EQ(m.v(2, 33), expected) << op_sel;
  }
}

TEST(HighHalf, IsClearedByOldInstructionsAndKeptByNewOnes) {
  for (const auto& [mnemonic, high] : {std::pair{"v_add_u16", 0u},
                                       {"v_mad_legacy_u16", 0u},
                                       {"v_mad_u16", 0xdead0000u},
                                       {"v_max3_u16", 0xdead0000u},
                                       {"v_add_f16", 0u},
                                       {"v_fma_f16", 0xdead0000u},
                                       {"v_fma_legacy_f16", 0u},
                                       {"v_cvt_f16_f32", 0u},
                                       {"v_med3_f16", 0xdead0000u}}) {
    Machine m;
    m.fill(2, 0xdeadbeef);
    Instruction in = Machine::make(mnemonic);
    for (unsigned i = 0; i < 3; ++i) in.src[i] = vreg(i);
    in.dst = vreg(2);
    m.run(in);
    EXPECT_EQ(m.v(2) & 0xffff0000, high) << mnemonic;
  }
}

// DPP: what each lane reads, by an independent description of each control.
using Reads = std::function<int(int)>;
struct DppCase {
  const char* name;
  unsigned control;
  Reads reads;  // -1: out of bounds
};

const std::vector<DppCase>& dpp_cases() {
  static const std::vector<DppCase> cases = [] {
    std::vector<DppCase> c;
    c.push_back({"quad_perm:[0,1,2,3]", 0xe4, [](int i) { return i; }});
    c.push_back({"quad_perm:[3,2,1,0]", 0x1b, [](int i) { return i / 4 * 4 + 3 - i % 4; }});
    c.push_back({"quad_perm:[2,2,0,1]", 0x4a, [](int i) {
                   constexpr int kFrom[] = {2, 2, 0, 1};
                   return i / 4 * 4 + kFrom[i % 4];
                 }});
    for (int n = 1; n < 16; ++n) {
      const unsigned un = static_cast<unsigned>(n);
      c.push_back({"row_shl", 0x100 + un, [n](int i) { return i % 16 + n < 16 ? i + n : -1; }});
      c.push_back({"row_shr", 0x110 + un, [n](int i) { return i % 16 >= n ? i - n : -1; }});
      c.push_back({"row_ror", 0x120 + un, [n](int i) { return i / 16 * 16 + (i + 16 - n) % 16; }});
    }
    c.push_back({"wave_shl:1", 0x130, [](int i) { return i == 63 ? -1 : i + 1; }});
    c.push_back({"wave_rol:1", 0x134, [](int i) { return i == 63 ? 0 : i + 1; }});
    c.push_back({"wave_shr:1", 0x138, [](int i) { return i == 0 ? -1 : i - 1; }});
    c.push_back({"wave_ror:1", 0x13c, [](int i) { return i == 0 ? 63 : i - 1; }});
    c.push_back({"row_mirror", 0x140, [](int i) { return i / 16 * 16 + 15 - i % 16; }});
    c.push_back({"row_half_mirror", 0x141, [](int i) { return i / 8 * 8 + 7 - i % 8; }});
    c.push_back({"row_bcast:15", 0x142, [](int i) { return i < 16 ? -1 : i / 16 * 16 - 1; }});
    c.push_back({"row_bcast:31", 0x143, [](int i) { return i < 32 ? -1 : 31; }});
    c.push_back({"row_newbcast:5", 0x155, [](int i) { return i / 16 * 16 + 5; }});
    return c;
  }();
  return cases;
}

TEST(Dpp, EachControlReadsTheLaneItNames) {
  for (const DppCase& test : dpp_cases()) {
    for (const bool bound_ctrl : {false, true}) {
      for (const uint64_t exec : {~0ull, 0x0ff0f00f3c5affffull}) {
        Machine m;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          m.v(0, lane) = 100 + lane;
          m.v(1, lane) = 1000;
          m.v(2, lane) = 7;
        }
        Instruction in = add(2, vreg(0), vreg(1));
        in.has_dpp = true;
        in.extra->dpp.control = static_cast<uint16_t>(test.control);
        in.extra->dpp.bound_ctrl = bound_ctrl;
        m.wave.set_exec(exec);
        m.run(in);
        for (int lane = 0; lane < 64; ++lane) {
          int from = test.reads(lane);
          if (from >= 0 && !(exec >> from & 1)) from = -1;
          uint32_t expected = 7;
          if (exec >> lane & 1) {
            if (from >= 0)
              expected = 1100 + static_cast<uint32_t>(from);
            else if (bound_ctrl)
              expected = 1000;
          }
          EXPECT_EQ(m.v(2, static_cast<unsigned>(lane)), expected)
              << test.name << " " << test.control << " lane " << lane << " bc " << bound_ctrl;
        }
      }
    }
  }
}

TEST(Dpp, RowAndBankMasksDisableWrites) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) m.v(2, lane) = 7;
  Instruction in = add(2, vreg(0), constant(5));
  in.has_dpp = true;
  in.extra->dpp.control = 0xe4;
  in.extra->dpp.row_mask = 0xa;
  in.extra->dpp.bank_mask = 0x6;
  m.run(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool written = (lane / 16) % 2 == 1 && (lane / 4 % 4 == 1 || lane / 4 % 4 == 2);
    EXPECT_EQ(m.v(2, lane), written ? 5u : 7u) << lane;
  }
}

TEST(Dpp, SignsApplyAfterTheShuffleAndTheDestinationMayBeTheSource) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = bits(static_cast<float>(lane));
  Instruction in = Machine::make("v_add_f32", Format::kVop2);
  in.src[0] = in.src[1] = in.dst = vreg(0);
  in.neg = 1;
  in.has_dpp = true;
  in.extra->dpp.control = 0x111;  // row_shr:1
  in.extra->dpp.bound_ctrl = true;
  m.run(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(f32(m.v(0, lane)), lane % 16 == 0 ? static_cast<float>(lane) : 1.0f);
  }
}

TEST(Dpp, AnAccumulatorIsNotShuffled) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    m.v(0, lane) = bits(static_cast<float>(lane));
    m.v(2, lane) = bits(100.0f * static_cast<float>(lane));
  }
  Instruction in = Machine::make("v_mac_f32", Format::kVop2);
  in.src[0] = vreg(0);
  in.src[1] = constant(bits(1.0f));
  in.dst = vreg(2);
  in.has_dpp = true;
  in.extra->dpp.control = 0x140;  // row_mirror
  m.run(in);
  EXPECT_EQ(f32(m.v(2, 18)), 100.0f * 18 + 29);
}

uint32_t select_part(uint32_t x, SubDword sel, bool sext) {
  switch (sel) {
    case SubDword::kByte0:
      return sext ? static_cast<uint32_t>(static_cast<int8_t>(x)) : x & 0xff;
    case SubDword::kByte1:
      return select_part(x >> 8, SubDword::kByte0, sext);
    case SubDword::kByte2:
      return select_part(x >> 16, SubDword::kByte0, sext);
    case SubDword::kByte3:
      return select_part(x >> 24, SubDword::kByte0, sext);
    case SubDword::kWord0:
      return sext ? static_cast<uint32_t>(static_cast<int16_t>(x)) : x & 0xffff;
    case SubDword::kWord1:
      return select_part(x >> 16, SubDword::kWord0, sext);
    default:
      return x;
  }
}

TEST(Sdwa, SourcesAreSelectedAndExtended) {
  for (unsigned s0 = 0; s0 <= 6; ++s0) {
    for (unsigned s1 = 0; s1 <= 6; ++s1) {
      for (const bool sext : {false, true}) {
        Machine m;
        m.fill(0, 0x81f27e05);
        m.wave.sgpr[4] = 0x7fee8011;
        Instruction in = add(2, vreg(0), sreg(4));
        in.has_sdwa = true;
        in.extra->sdwa.src_sel[0] = static_cast<SubDword>(s0);
        in.extra->sdwa.src_sel[1] = static_cast<SubDword>(s1);
        in.extra->sdwa.sext[0] = sext;
        in.extra->sdwa.sext[1] = !sext;
        m.run(in);
        EXPECT_EQ(m.v(2, 40), select_part(0x81f27e05, static_cast<SubDword>(s0), sext) +
                                  select_part(0x7fee8011, static_cast<SubDword>(s1), !sext));
      }
    }
  }
}

TEST(Sdwa, ResultsArePaddedExtendedOrPreserved) {
  struct Case {
    SubDword sel;
    DstUnused unused;
    uint32_t expected;
  };
  // The result is 0x123498f6, the destination held 0x55555555.
  const Case cases[] = {
      {SubDword::kByte0, DstUnused::kPad, 0x000000f6},
      {SubDword::kByte1, DstUnused::kPad, 0x0000f600},
      {SubDword::kByte3, DstUnused::kPad, 0xf6000000},
      {SubDword::kWord1, DstUnused::kPad, 0x98f60000},
      {SubDword::kDword, DstUnused::kPad, 0x123498f6},
      {SubDword::kByte0, DstUnused::kSext, 0xfffffff6},
      {SubDword::kByte1, DstUnused::kSext, 0xfffff600},
      {SubDword::kByte2, DstUnused::kSext, 0xfff60000},
      {SubDword::kWord0, DstUnused::kSext, 0xffff98f6},
      {SubDword::kByte2, DstUnused::kPreserve, 0x55f65555},
      {SubDword::kWord0, DstUnused::kPreserve, 0x555598f6},
      {SubDword::kWord1, DstUnused::kPreserve, 0x98f65555},
      {SubDword::kDword, DstUnused::kPreserve, 0x123498f6},
  };
  for (const Case& c : cases) {
    Machine m;
    m.fill(0, 0x12340000);
    m.fill(2, 0x55555555);
    Instruction in = add(2, vreg(0), constant(0x98f6));
    in.has_sdwa = true;
    in.extra->sdwa.dst_sel = c.sel;
    in.extra->sdwa.dst_unused = c.unused;
    m.wave.set_exec(~1ull);
    m.run(in);
    EXPECT_EQ(m.v(2, 1), c.expected) << int(c.sel) << " " << int(c.unused);
    EXPECT_EQ(m.v(2, 0), 0x55555555u);
  }
}

TEST(Sdwa, WordsOfF16WithSigns) {
  Machine m;
  m.fill(0, 0xc0003c00);  // -2.0, 1.0
  Instruction in = Machine::make("v_mul_f16", Format::kVop2);
  in.src[0] = in.src[1] = vreg(0);
  in.dst = vreg(1);
  in.has_sdwa = true;
  in.extra->sdwa.src_sel[0] = SubDword::kWord1;
  in.extra->sdwa.src_sel[1] = SubDword::kWord0;
  in.extra->sdwa.dst_sel = SubDword::kWord1;
  in.extra->sdwa.dst_unused = DstUnused::kPreserve;
  in.neg = 2;
  m.fill(1, 0x1111);
  m.run(in);
  EXPECT_EQ(m.v(1, 3), 0x40001111u);
}

TEST(Sdwa, ComparesWriteTheirMask) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane) m.v(0, lane) = lane << 16 | 0xffff;
  Instruction in = Machine::make("v_cmp_lt_u32", Format::kVopc);
  in.src[0] = vreg(0);
  in.src[1] = constant(10);
  in.sdst = sreg(20);
  in.has_sdwa = true;
  in.extra->sdwa.src_sel[0] = SubDword::kWord1;
  m.run(in);
  EXPECT_EQ(m.wave.scalar64(20), 0x3ffu);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
