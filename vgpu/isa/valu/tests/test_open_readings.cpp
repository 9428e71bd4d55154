// What the documents leave open, as docs/virtual-gpu.md ("Open readings") says it was decided.
#include <gtest/gtest.h>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr uint8_t kFlushAll = 0, kKeepInputs = 1, kKeepResults = 2, kKeepAll = 3;

// 0x0001 is 2^-24, 0x0400 the smallest normal f16, 0x3c00 is 1, 0x6400 is 1024.
TEST(OpenReadings, MultiplyAddOfF16FlushesDenormalsInEveryMode) {
  for (const uint8_t denormals : {kFlushAll, kKeepInputs, kKeepResults, kKeepAll}) {
    for (const char* op : {"v_mad_f16", "v_mad_legacy_f16"}) {
      Machine m;
      m.wave.mode.denorm_f16_f64 = denormals;
      EXPECT_EQ(m.op32(op, {0x0001, 0x6400, 0x3c00}), 0x3c00u) << op;  // a factor
      EXPECT_EQ(m.op32(op, {0x3c00, 0x83ff, 0x0000}), 0x0000u) << op;
      EXPECT_EQ(m.op32(op, {0x0400, 0x3800, 0x0400}), 0x0400u) << op;  // the product
      EXPECT_EQ(m.op32(op, {0x3c00, 0x0400, 0x0001}), 0x0400u) << op;  // the addend
      EXPECT_EQ(m.op32(op, {0x3c00, 0x0401, 0x8400}), 0x0000u) << op;  // the sum
      EXPECT_EQ(m.op32(op, {0x3c00, 0x8401, 0x0400}), 0x8000u) << op;  // which keeps its sign
      EXPECT_EQ(m.op32(op, {0x3c00, 0x4000, 0x4200}), 0x4500u) << op;
    }
    Machine m;
    m.wave.mode.denorm_f16_f64 = denormals;
    EXPECT_EQ(m.op32("v_fma_f16", {0x3c00, 0x0400, 0x3c00}), 0x3c00u);
  }
  Machine m;  // add, mul and fma heed the mode
  EXPECT_EQ(m.op32("v_fma_f16", {0x3c00, 0x0401, 0x8400}), 0x0001u);
  EXPECT_EQ(m.op32("v_mul_f16", {0x0400, 0x3800}), 0x0200u);
}

TEST(OpenReadings, AccumulatingAndLiteralMultiplyAddsOfF16Flush) {
  Machine m;
  m.fill(0, 0x3c00);
  m.fill(1, 0x0401);
  m.fill(2, 0x12348400);
  Instruction in = Machine::make("v_mac_f16", Format::kVop2);
  in.src[0] = vreg(0);
  in.src[1] = vreg(1);
  in.dst = vreg(2);
  m.run_both(in);
  EXPECT_EQ(m.v(2, 7), 0x12340000u);
  in.extra->mnemonic = "v_madmk_f16";
  m.fill(1, 0x0001);
  in.src[2] = constant(0x0400);
  m.run_both(in);
  EXPECT_EQ(m.v(2, 7), 0x12340400u);
  in.extra->mnemonic = "v_madak_f16";
  m.run_both(in);
  EXPECT_EQ(m.v(2, 7), 0x12340400u);
}

TEST(OpenReadings, SquareRootsFlushDenormalsInEveryModeSinesDoNot) {
  constexpr uint32_t kDenormal = 0x00400000, kSmallest = 1;  // 2^-127 and 2^-149
  for (const uint8_t denormals : {kFlushAll, kKeepInputs, kKeepResults, kKeepAll}) {
    Machine m;
    m.wave.mode.denorm_f32 = denormals;
    const bool keeps = (denormals & kKeepInputs) != 0, gives = (denormals & kKeepResults) != 0;
    EXPECT_EQ(m.op32("v_sqrt_f32", {kDenormal}), 0u);
    EXPECT_EQ(m.op32("v_sqrt_f32", {0x80400000}), 0x80000000u);
    // 2 pi times 2^-127 is a normal number, times 2^-149 about 6 times that.
    EXPECT_EQ(m.op32("v_sin_f32", {kDenormal}), keeps ? 0x01490fdbu : 0u);
    EXPECT_EQ(m.op32("v_sin_f32", {kDenormal | 0x80000000}), keeps ? 0x81490fdbu : 0x80000000u);
    EXPECT_EQ(m.op32("v_sin_f32", {kSmallest}), keeps && gives ? 6u : 0u);
    EXPECT_EQ(m.op32("v_cos_f32", {kDenormal}), bits(1.0f));
  }
}

TEST(OpenReadings, NormalisedIntegersRoundByMode) {
  // 0.5 * 32767 is 16383.5, 0.5 * 65535 is 32767.5.
  struct Rounding {
    uint8_t mode;
    uint32_t plus, minus, positive;
  };
  constexpr Rounding kRoundings[] = {{0, 0x4000, 0xc000, 0x8000},
                                     {1, 0x4000, 0xc001, 0x8000},
                                     {2, 0x3fff, 0xc000, 0x7fff},
                                     {3, 0x3fff, 0xc001, 0x7fff}};
  for (const Rounding& r : kRoundings) {
    Machine m;
    m.wave.mode.round_f16_f64 = r.mode;
    EXPECT_EQ(m.op32("v_cvt_norm_i16_f16", {0x3800}), r.plus);
    EXPECT_EQ(m.op32("v_cvt_norm_i16_f16", {0xb800}), r.minus);
    EXPECT_EQ(m.op32("v_cvt_norm_u16_f16", {0x3800}), r.positive);
    EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f16", {0x3800, 0xb800}), r.minus << 16 | r.plus);
    EXPECT_EQ(m.op32("v_cvt_pknorm_u16_f16", {0x3800, 0xb800}), r.positive);
    EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f32", {bits(0.5f), bits(-0.5f)}), 0xc0004000u);
    m.wave.mode.round_f16_f64 = 0;
    m.wave.mode.round_f32 = r.mode;
    EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f32", {bits(0.5f), bits(-0.5f)}), r.minus << 16 | r.plus);
    EXPECT_EQ(m.op32("v_cvt_pknorm_u16_f32", {bits(0.5f), bits(-0.5f)}), r.positive);
    EXPECT_EQ(m.op32("v_cvt_norm_i16_f16", {0x3800}), 0x4000u);
  }
}

// S2, then the product of the low halves, then that of the high ones; each sum rounds by MODE, and
// f32 denormals are flushed in every mode.
TEST(OpenReadings, DotProductsOfF16AddInOrder) {
  Machine m;
  const uint32_t one = 0x3c00, large = 0x7800;  // 1 and 2^15
  const uint32_t big = bits(0x1p30f), minus_big = bits(-0x1p30f);
  // 2^30 + 1 rounds to 2^30, and -2^30 is added afterwards.
  EXPECT_EQ(m.op32("v_dot2_f32_f16", {large << 16 | one, (large | 0x8000) << 16 | one, big}), 0u);
  EXPECT_EQ(m.op32("v_dot2_f32_f16", {one << 16 | large, one << 16 | large, minus_big}),
            bits(1.0f));
  m.wave.mode.round_f32 = 1;
  EXPECT_EQ(m.op32("v_dot2_f32_f16", {large << 16 | one, (large | 0x8000) << 16 | one, big}),
            bits(128.0f));
  m.wave.mode.round_f32 = 0;
  EXPECT_EQ(m.op32("v_dot2_f32_f16", {0, 0, 0x80000001}), 0x00000000u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
