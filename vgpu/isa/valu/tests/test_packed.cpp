#include <gtest/gtest.h>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

class Packed : public testing::Test {
 protected:
  uint32_t run(const char* mnemonic, std::vector<uint32_t> operands, uint8_t op_sel = 0,
               uint8_t op_sel_hi = 7, uint8_t neg_lo = 0, uint8_t neg_hi = 0, bool clamp = false) {
    Instruction in = Machine::make(mnemonic, Format::kVop3p);
    for (unsigned i = 0; i < operands.size(); ++i) {
      m.fill(i, operands[i]);
      in.src[i] = vreg(i);
    }
    in.dst = vreg(8);
    in.op_sel = op_sel;
    in.op_sel_hi = op_sel_hi;
    in.neg = neg_lo;
    in.abs = neg_hi;
    in.clamp = clamp;
    if (op_sel == 0 && op_sel_hi == 7 && neg_lo == 0 && neg_hi == 0 && !clamp) {
      m.run_both(in);
    } else {
      m.run(in);
    }
    return m.v(8, 37);
  }
  Machine m;
};

TEST_F(Packed, IntegersWrapInTheirHalves) {
  EXPECT_EQ(run("v_pk_add_u16", {0xffff0001, 0x00020003}), 0x00010004u);
  EXPECT_EQ(run("v_pk_sub_i16", {0x00000005, 0x00010007}), 0xfffffffeu);
  EXPECT_EQ(run("v_pk_sub_u16", {0x00000005, 0x00010007}), 0xfffffffeu);
  EXPECT_EQ(run("v_pk_add_i16", {0x7fff8000, 0x0001ffff}), 0x80007fffu);
  EXPECT_EQ(run("v_pk_mul_lo_u16", {0x00030100, 0x00070100}), 0x00150000u);
  EXPECT_EQ(run("v_pk_mad_u16", {0x00030100, 0x00070101, 0x00010002}), 0x00160102u);
  EXPECT_EQ(run("v_pk_mad_i16", {0xffff0002, 0x00050003, 0x00010004}), 0xfffc000au);
  EXPECT_EQ(run("v_pk_lshlrev_b16", {0x00110004, 0x81230123}), 0x02461230u);
  EXPECT_EQ(run("v_pk_lshrrev_b16", {0x00110004, 0x81238123}), 0x40910812u);
  EXPECT_EQ(run("v_pk_ashrrev_i16", {0x00110004, 0x81238123}), 0xc091f812u);
  EXPECT_EQ(run("v_pk_min_i16", {0xffff0001, 0x00010002}), 0xffff0001u);
  EXPECT_EQ(run("v_pk_max_i16", {0xffff0001, 0x00010002}), 0x00010002u);
  EXPECT_EQ(run("v_pk_min_u16", {0xffff0001, 0x00010002}), 0x00010001u);
  EXPECT_EQ(run("v_pk_max_u16", {0xffff0001, 0x00010002}), 0xffff0002u);
}

TEST_F(Packed, ClampSaturatesEachHalf) {
  EXPECT_EQ(run("v_pk_add_u16", {0xffff0001, 0x00020003}, 0, 7, 0, 0, true), 0xffff0004u);
  EXPECT_EQ(run("v_pk_sub_u16", {0x00000007, 0x00010005}, 0, 7, 0, 0, true), 0x00000002u);
  EXPECT_EQ(run("v_pk_add_i16", {0x7fff8000, 0x0001ffff}, 0, 7, 0, 0, true), 0x7fff8000u);
  EXPECT_EQ(run("v_pk_mad_i16", {0x7fff8000, 0x00020002, 0}, 0, 7, 0, 0, true), 0x7fff8000u);
}

TEST_F(Packed, OpSelChoosesTheHalfForEachHalf) {
  const std::vector<uint32_t> in = {0x00020001, 0x00200010};
  EXPECT_EQ(run("v_pk_add_u16", in, 0, 7), 0x00220011u);
  EXPECT_EQ(run("v_pk_add_u16", in, 1, 7), 0x00220012u);
  EXPECT_EQ(run("v_pk_add_u16", in, 2, 4), 0x00110021u);
  EXPECT_EQ(run("v_pk_add_u16", in, 3, 4), 0x00110022u);
  EXPECT_EQ(run("v_pk_add_u16", in, 0, 5), 0x00120011u);
}

TEST_F(Packed, HalvesOfF16AndTheirSigns) {
  EXPECT_EQ(run("v_pk_add_f16", {0x3c004000, 0x42004400}), 0x44004600u);
  EXPECT_EQ(run("v_pk_add_f16", {0x3c004000, 0x42004400}, 0, 7, 1, 2), 0xc0004000u);
  EXPECT_EQ(run("v_pk_mul_f16", {0x3c004000, 0xc2004400}), 0xc2004800u);
  EXPECT_EQ(run("v_pk_fma_f16", {0x3c004000, 0x42004400, 0x3c003c00}), 0x44004880u);
  EXPECT_EQ(run("v_pk_min_f16", {0x3c00c000, 0xbc007e00}), 0xbc00c000u);
  EXPECT_EQ(run("v_pk_max_f16", {0x3c00c000, 0xbc007e00}), 0x3c00c000u);
  EXPECT_EQ(run("v_pk_add_f16", {0x3c00c000, 0x3c003c00}, 0, 7, 0, 0, true), 0x3c000000u);
}

TEST_F(Packed, PairsOfF32) {
  m.fill64(0, static_cast<uint64_t>(bits(2.0f)) << 32 | bits(1.0f));
  m.fill64(2, static_cast<uint64_t>(bits(20.0f)) << 32 | bits(10.0f));
  m.fill64(4, static_cast<uint64_t>(bits(200.0f)) << 32 | bits(100.0f));
  const auto pair = [&](const char* mnemonic, uint8_t op_sel, uint8_t op_sel_hi, uint8_t neg_lo = 0,
                        uint8_t neg_hi = 0) {
    Instruction in = Machine::make(mnemonic, Format::kVop3p);
    in.src[0] = vreg(0);
    in.src[1] = vreg(2);
    in.src[2] = vreg(4);
    in.dst = vreg(6);
    in.op_sel = op_sel;
    in.op_sel_hi = op_sel_hi;
    in.neg = neg_lo;
    in.abs = neg_hi;
    m.run(in);
    return std::pair{f32(m.v(6, 2)), f32(m.v(7, 2))};
  };
  EXPECT_EQ(pair("v_pk_add_f32", 0, 7), std::pair(11.0f, 22.0f));
  EXPECT_EQ(pair("v_pk_add_f32", 1, 6), std::pair(12.0f, 21.0f));
  EXPECT_EQ(pair("v_pk_mul_f32", 0, 7, 1, 2), std::pair(-10.0f, -40.0f));
  EXPECT_EQ(pair("v_pk_fma_f32", 0, 7), std::pair(110.0f, 240.0f));
  EXPECT_EQ(pair("v_pk_mov_b32", 0, 7), std::pair(1.0f, 10.0f));
  EXPECT_EQ(pair("v_pk_mov_b32", 3, 7), std::pair(2.0f, 20.0f));
  EXPECT_EQ(pair("v_pk_mov_b32", 1, 7), std::pair(2.0f, 10.0f));
}

TEST_F(Packed, DotProducts) {
  EXPECT_EQ(run("v_dot2_i32_i16", {0x0002ffff, 0x00030005, 100}), 101u);
  EXPECT_EQ(run("v_dot2_u32_u16", {0x0002ffff, 0x00030005, 100}), 100u + 6 + 5 * 65535);
  EXPECT_EQ(run("v_dot4_i32_i8", {0x01ff0280, 0x7f030401, 10}), 10u + 127 - 3 + 8 - 128);
  EXPECT_EQ(run("v_dot4_u32_u8", {0x01ff0280, 0x7f030401, 10}), 10u + 127 + 765 + 8 + 128);
  EXPECT_EQ(run("v_dot8_i32_i4", {0x0000f081, 0x00002f77, 0}), 7u - 56 + 0 - 2);
  EXPECT_EQ(run("v_dot8_u32_u4", {0x0000f081, 0x00002f77, 0}), 7u + 56 + 0 + 30);
  EXPECT_EQ(f32(run("v_dot2_f32_f16", {0x40003c00, 0x44004200, bits(0.5f)})), 0.5f + 3 + 8);
}

TEST_F(Packed, DotProductsWrapOrSaturate) {
  EXPECT_EQ(run("v_dot4_i32_i8", {0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff}),
            0x7fffffffu + 4 * 127 * 127);
  EXPECT_EQ(run("v_dot4_i32_i8", {0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff}, 0, 7, 0, 0, true),
            0x7fffffffu);
  EXPECT_EQ(run("v_dot4_u32_u8", {0xff, 0xff, 0xffffffff}, 0, 7, 0, 0, true), 0xffffffffu);
  EXPECT_EQ(run("v_dot2_i32_i16", {0x80008000, 0x7fff7fff, 0x80000000}, 0, 7, 0, 0, true),
            0x80000000u);
}

// The largest sums of products; two words' 2^31 is no int32_t, but may become one with the addend.
TEST_F(Packed, DotProductsOfTheLargestFields) {
  const auto words = [&](const char* op, uint32_t c, bool clamp) {
    return run(op, {0x80008000, 0x80008000, c}, 0, 7, 0, 0, clamp);
  };
  EXPECT_EQ(words("v_dot2_i32_i16", 0, true), 0x7fffffffu);
  EXPECT_EQ(words("v_dot2_i32_i16", ~0u, true), 0x7fffffffu);
  EXPECT_EQ(words("v_dot2_i32_i16", 0xfffffffe, true), 0x7ffffffeu);
  EXPECT_EQ(words("v_dot2_i32_i16", 0x80000000, true), 0u);
  EXPECT_EQ(words("v_dot2_i32_i16", 5, true), 0x7fffffffu);
  EXPECT_EQ(words("v_dot2_i32_i16", 5, false), 0x80000005u);
  EXPECT_EQ(words("v_dot2_u32_u16", 0x7fffffff, true), 0xffffffffu);
  EXPECT_EQ(words("v_dot2_u32_u16", 0x80000000, true), 0xffffffffu);
  EXPECT_EQ(words("v_dot2_u32_u16", 0x80000001, false), 1u);
  EXPECT_EQ(run("v_dot2_u32_u16", {~0u, ~0u, 0}, 0, 7, 0, 0, true), 0xffffffffu);
  EXPECT_EQ(run("v_dot2_u32_u16", {~0u, ~0u, 0}), 0xfffc0002u);
  EXPECT_EQ(run("v_dot4_i32_i8", {0x80808080, 0x80808080, 1}), 0x10001u);
  EXPECT_EQ(run("v_dot4_i32_i8", {0x80808080, 0x7f7f7f7f, 1}), 1u - 4 * 128 * 127);
  EXPECT_EQ(run("v_dot4_u32_u8", {~0u, ~0u, 1}), 1u + 4 * 255 * 255);
  EXPECT_EQ(run("v_dot8_i32_i4", {0x88888888, 0x88888888, 1}), 1u + 8 * 64);
  EXPECT_EQ(run("v_dot8_i32_i4", {0x88888888, 0x77777777, 1}), 1u - 8 * 56);
  EXPECT_EQ(run("v_dot8_u32_u4", {~0u, ~0u, 1}), 1u + 8 * 225);
}

TEST_F(Packed, DotProductsFlushF32DenormalsInEveryMode) {
  EXPECT_EQ(run("v_dot2_f32_f16", {0, 0, 5}), 0u);
  EXPECT_EQ(run("v_dot2_f32_f16", {0x00000001, 0x00003c00, 0}), bits(0x1p-24f));
}

TEST_F(Packed, AccumulatingForms) {
  for (const auto& [mnemonic, a, b, expected] :
       {std::tuple{"v_dot2c_i32_i16", 0x0002ffffu, 0x00030005u, 101u},
        {"v_dot4c_i32_i8", 0x01ff0280u, 0x7f030401u, 104u},
        {"v_dot8c_i32_i4", 0x0000f081u, 0x00002f77u, 49u},
        {"v_pk_fmac_f16", 0x3c000000u, 0x3c003c00u, 0x3c000064u}}) {
    m.fill(0, a);
    m.fill(1, b);
    m.fill(2, 100);
    Instruction in = Machine::make(mnemonic, Format::kVop2);
    in.src[0] = vreg(0);
    in.src[1] = vreg(1);
    in.dst = vreg(2);
    m.run_both(in);
    EXPECT_EQ(m.v(2, 6), expected) << mnemonic;
  }
}

TEST_F(Packed, MixedPrecisionTakesEachSourceAsF32OrAsAHalf) {
  const uint32_t halves = 0x42004000;  // 3, 2
  for (const char* op : {"v_mad_mix_f32", "v_fma_mix_f32"}) {
    EXPECT_EQ(f32(run(op, {bits(5.0f), bits(7.0f), bits(1.0f)}, 0, 0)), 36.0f);
    EXPECT_EQ(f32(run(op, {halves, bits(7.0f), bits(1.0f)}, 0, 1)), 15.0f);
    EXPECT_EQ(f32(run(op, {halves, bits(7.0f), bits(1.0f)}, 1, 1)), 22.0f);
    EXPECT_EQ(f32(run(op, {halves, halves, halves}, 5, 7)), 9.0f);
    EXPECT_EQ(f32(run(op, {halves, halves, halves}, 5, 7, 1, 0)), -3.0f);
    EXPECT_EQ(f32(run(op, {bits(-5.0f), bits(7.0f), bits(1.0f)}, 0, 0, 0, 1)), 36.0f);
    EXPECT_EQ(f32(run(op, {bits(-5.0f), bits(7.0f), bits(1.0f)}, 0, 0, 1, 1)), -34.0f);
    EXPECT_EQ(f32(run(op, {bits(5.0f), bits(7.0f), bits(1.0f)}, 0, 0, 0, 0, true)), 1.0f);
  }
}

// v_mad_mix flushes f32 denormals, of f32 sources too, but no f16's, which are normal as f32.
TEST_F(Packed, MixedPrecisionFlushesF32DenormalsOnly) {
  EXPECT_EQ(run("v_mad_mix_f32", {0x00000001, 0x00000001, 0x00000001}, 0, 3), bits(0x1p-48f));
  EXPECT_EQ(run("v_mad_mix_f32", {0x00000001, bits(0x1p-110f), 0x80000001}, 0, 1), 0u);
  EXPECT_EQ(run("v_mad_mix_f32", {0x80000001, bits(1.0f), 0x80000001}, 0, 0), 0x80000000u);
  EXPECT_EQ(run("v_fma_mix_f32", {0x00000001, bits(0x1p-110f), 0x80000001}, 0, 1), 0x00007fffu);
  m.wave.mode.denorm_f16_f64 = 0;
  EXPECT_EQ(run("v_mad_mix_f32", {0x000083ff, bits(1.0f), 0}, 0, 1), 0u);
  EXPECT_EQ(run("v_mad_mix_f32", {0x00008400, bits(1.0f), bits(0.0f)}, 0, 1), bits(-0x1p-14f));
}

TEST_F(Packed, MixedPrecisionKeepsTheFirstNan) {
  EXPECT_EQ(run("v_mad_mix_f32", {0x00007c01, 0x0000fe02, bits(1.0f)}, 0, 3), 0x7fc02000u);
  EXPECT_EQ(run("v_mad_mix_f32", {0x00003c00, 0x0000fc02, 0x7f800001}, 0, 3), 0xffc04000u);
  m.fill(8, 0xdeadbeef);
  EXPECT_EQ(run("v_mad_mixhi_f16", {0x00007c00, 0x00000000, bits(1.0f)}, 0, 3), 0x7e00beefu);
}

TEST_F(Packed, MixedPrecisionResultsGoToOneHalf) {
  for (const auto& [mnemonic, expected] : {std::pair{"v_mad_mixlo_f16", 0xdead4880u},
                                           {"v_mad_mixhi_f16", 0x4880beefu},
                                           {"v_fma_mixlo_f16", 0xdead4880u},
                                           {"v_fma_mixhi_f16", 0x4880beefu}}) {
    m.fill(8, 0xdeadbeef);
    EXPECT_EQ(run(mnemonic, {bits(4.0f), bits(2.0f), bits(1.0f)}, 0, 0), expected) << mnemonic;
  }
}

TEST_F(Packed, MixedPrecisionRoundsItsF32SumInF32sMode) {
  // (1 + 2^-11) + 2^-25: just above halfway between two f16, which only rounding up can tell.
  const uint32_t halfway = bits(1.0f + 0x1p-11f), one = bits(1.0f), little = bits(0x1p-25f);
  for (const char* op : {"v_mad_mixlo_f16", "v_fma_mixlo_f16"}) {
    m.wave.mode.round_f32 = 0;
    EXPECT_EQ(run(op, {halfway, one, little}, 0, 0) & 0xffff, 0x3c00u) << op;
    m.wave.mode.round_f32 = 1;
    EXPECT_EQ(run(op, {halfway, one, little}, 0, 0) & 0xffff, 0x3c01u) << op;
  }
}

TEST_F(Packed, MixedPrecisionReadsFloatConstantsInTheSourcesType) {
  Instruction in = Machine::make("v_fma_mix_f32", Format::kVop3p);
  in.src[2] = constant(0);
  in.dst = vreg(0);
  for (const uint8_t halves : {0, 1, 2, 3, 7}) {
    in.op_sel_hi = halves;
    // The decoder makes them of the type that OP_SEL_HI says.
    for (unsigned s = 0; s < 2; ++s)
      in.src[s] = constant((halves >> s & 1) != 0 ? 0x3800u : bits(0.5f));
    m.run(in);
    EXPECT_EQ(f32(m.v(0)), 0.25f) << int(halves);
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
