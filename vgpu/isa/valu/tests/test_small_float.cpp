// Floats of 4, 6, 8 and 16 bits at the edges: the limits of CDNA 4 ISA's table 30, what becomes of
// values beyond them, ties, stochastic rounding, and where results go.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kPlusNan = 0x7fc00000, kMinusNan = 0xffc00001;

class SmallFloat : public testing::Test, public Machine {
 protected:
  // The two bytes that v_cvt_pk_*_f32 makes.
  uint32_t pair(const char* mnemonic, uint32_t a, uint32_t b) {
    fill(8, 0xaaaa5555);
    const uint32_t both = op32(mnemonic, {a, b});
    EXPECT_EQ(both >> 16, 0xaaaau) << "the other half stays";
    return both & 0xffff;
  }
  uint32_t byte(const char* mnemonic, float x) { return pair(mnemonic, bits(x), 0) & 0xff; }
  uint32_t byte_of(const char* mnemonic, uint32_t x) { return pair(mnemonic, x, 0) & 0xff; }

  // A conversion whose operands begin at v0, v32 and v64, with those dwords; the results from v96.
  template <size_t kResults>
  std::array<uint32_t, kResults> convert(const char* mnemonic,
                                         const std::vector<std::vector<uint32_t>>& operands,
                                         unsigned op_sel = 0, unsigned neg = 0, unsigned abs = 0) {
    Instruction in = make(mnemonic);
    in.op_sel = static_cast<uint8_t>(op_sel);
    in.neg = static_cast<uint8_t>(neg);
    in.abs = static_cast<uint8_t>(abs);
    for (unsigned i = 0; i < operands.size(); ++i) {
      in.src[i] = vreg(32 * i);
      for (unsigned d = 0; d < operands[i].size(); ++d) fill(32 * i + d, operands[i][d]);
    }
    in.dst = vreg(96);
    run(in);
    std::array<uint32_t, kResults> results{};
    for (unsigned d = 0; d < kResults; ++d) results[d] = v(96 + d, 17);
    return results;
  }
  // With a scale of 2^power.
  static uint32_t scale(int power) { return static_cast<uint32_t>(127 + power) << 23; }
};

TEST_F(SmallFloat, OcpBytesHaveTheLimitsOfTheTable) {
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 448), 0x7eu);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -0x1p-6f), 0x88u);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 0x1p-9f), 0x01u);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -0.0f), 0x80u);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", 57344), 0x7bu);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", 0x1p-14f), 0x04u);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", -0x1p-16f), 0x81u);
}

TEST_F(SmallFloat, FnuzBytesHaveOneZeroAndTwiceAsLargeABias) {
  target.float8 = Float8::kFnuz;
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 240), 0x7fu);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -0x1p-10f), 0x81u);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -0.0f), 0x00u);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -0x1p-12f), 0x00u) << "what rounds to zero has no sign";
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", 57344), 0x7fu);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", 0x1p-17f), 0x01u);
  EXPECT_EQ(op32("v_cvt_f32_fp8", {0x80}), 0xffc00000u) << "-0 is NaN";
  EXPECT_EQ(f32(op32("v_cvt_f32_fp8", {0x7f})), 240);
  EXPECT_EQ(f32(op32("v_cvt_f32_bf8", {0xff})), -57344);
}

// CDNA 4 ISA 7.3, "FP16_OVFL rule".
TEST_F(SmallFloat, OverflowIsNanOrInfinityOrWithFp16OvflTheLargestNumber) {
  const uint32_t values[] = {bits(kInfinity), bits(-500.0f), bits(-kInfinity), kPlusNan, kMinusNan};
  const uint32_t fp8[] = {0x7f, 0xff, 0xff, 0x7f, 0xff},
                 saturated8[] = {0x7e, 0xfe, 0xfe, 0x7f, 0xff};
  for (unsigned i = 0; i < std::size(values); ++i) {
    wave.mode.fp16_overflow = false;
    EXPECT_EQ(byte_of("v_cvt_pk_fp8_f32", values[i]), fp8[i]) << i;
    wave.mode.fp16_overflow = true;
    EXPECT_EQ(byte_of("v_cvt_pk_fp8_f32", values[i]), saturated8[i]) << i;
  }
  wave.mode.fp16_overflow = false;
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", -70000), 0xfcu);
  EXPECT_EQ(byte_of("v_cvt_pk_bf8_f32", kMinusNan), 0xfeu);
  wave.mode.fp16_overflow = true;
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", -70000), 0xfbu);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", kInfinity), 0x7bu);
  target.float8 = Float8::kFnuz;
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -kInfinity), 0xffu);
  EXPECT_EQ(byte_of("v_cvt_pk_fp8_f32", kMinusNan), 0x80u);
  wave.mode.fp16_overflow = false;
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", -kInfinity), 0x80u);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", 70000), 0x80u);
}

TEST_F(SmallFloat, TiesGoToEvenAlsoAtTheTopAndAmongDenormals) {
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 464), 0x7eu) << "halfway to the code that is NaN";
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", std::nextafter(464.0f, 500.0f)), 0x7fu);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 17), 0x58u);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 19), 0x5au);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 0x1p-10f), 0x00u);
  EXPECT_EQ(byte("v_cvt_pk_fp8_f32", 0x3p-10f), 0x02u);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", 61440), 0x7cu);
  EXPECT_EQ(byte("v_cvt_pk_bf8_f32", std::nextafter(61440.0f, 0.0f)), 0x7bu);
}

TEST_F(SmallFloat, EveryByteComesBackAsItself) {
  for (const Float8 float8 : {Float8::kOcp, Float8::kFnuz}) {
    target.float8 = float8;
    for (uint32_t code = 0; code < 256; ++code) {
      const uint32_t there = op32("v_cvt_f32_fp8", {code | 0xabcdef00});
      EXPECT_EQ(byte_of("v_cvt_pk_fp8_f32", there), code) << code;
      const uint32_t back = byte_of("v_cvt_pk_bf8_f32", op32("v_cvt_f32_bf8", {code}));
      const bool nan = float8 == Float8::kOcp && (code & 0x7f) > 0x7c;
      EXPECT_EQ(back, nan ? (code & 0x80) | 0x7e : code) << code;
    }
  }
}

TEST_F(SmallFloat, SdwaSelectsABytePairOrByteAndDoesNothingElse) {
  fill(0, 0x403830b8);
  Instruction in = make("v_cvt_f32_fp8", Format::kVop1);
  in.src[0] = vreg(0);
  in.dst = vreg(8);
  in.has_sdwa = true;
  in.extra->sdwa = {.dst_sel = SubDword::kByte1, .dst_unused = DstUnused::kPreserve};
  in.extra->sdwa.src_sel[0] = SubDword::kByte3;
  in.extra->sdwa.sext[0] = true;
  in.neg = 1;
  in.omod = 1;
  in.clamp = true;
  run(in);
  EXPECT_EQ(f32(v(8)), 2);
  in.extra->sdwa.src_sel[0] = SubDword::kWord1;
  run(in);
  EXPECT_EQ(f32(v(8)), -1) << "words are not among the codes: byte 0";
  in.extra->mnemonic = "v_cvt_pk_f32_fp8";
  run(in);
  EXPECT_EQ(f32(v(8)), 1);
  EXPECT_EQ(f32(v(9)), 2);
  in.extra->sdwa.src_sel[0] = SubDword::kDword;
  run(in);
  EXPECT_EQ(f32(v(8)), -1);
  EXPECT_EQ(f32(v(9)), 0.5f);
}

// The seed's upper 20 bits are added below fp8's last bit, its upper 21 below bf8's.
TEST_F(SmallFloat, StochasticRoundingAddsTheUpperBitsOfTheSeed) {
  const auto convert_with = [&](const char* mnemonic, float x, uint32_t seed) {
    return convert<1>(mnemonic, {{bits(x)}, {seed}})[0] & 0xff;
  };
  const float third = 1 + 0x1p-5f;  // a quarter of the way from 1 to the next fp8
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", third, 0xbfffffff), 0x38u);
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", third, 0xc0000000), 0x39u);
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", 1, 0xffffffff), 0x38u) << "exact values stay";
  EXPECT_EQ(convert_with("v_cvt_sr_bf8_f32", third, 0xdfffffff), 0x3cu);
  EXPECT_EQ(convert_with("v_cvt_sr_bf8_f32", third, 0xe0000000), 0x3du);
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", 1.99f, 0xffffffff), 0x40u) << "a carry";
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", 460, 0xffffffff), 0x7fu) << "over the top";
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", 460, 0), 0x7eu);
  // Denormals: three quarters of the least number.
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", -0x3p-11f, 0x3ff00000), 0x80u);
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", -0x3p-11f, 0x40000000), 0x81u);
  wave.mode.fp16_overflow = true;
  EXPECT_EQ(convert_with("v_cvt_sr_fp8_f32", 460, 0xffffffff), 0x7eu);
}

TEST_F(SmallFloat, OpSelSaysWhichByteAStochasticResultFills) {
  for (unsigned byte = 0; byte < 4; ++byte) {
    fill(96, 0x11223344);
    const uint32_t got = convert<1>("v_cvt_sr_fp8_f32", {{bits(1.0f)}, {0}}, byte << 2)[0];
    const uint32_t kept = 0x11223344u & ~(0xffu << (8 * byte));
    EXPECT_EQ(got, kept | 0x38u << (8 * byte));
  }
  fill(96, 0x11223344);
  EXPECT_EQ(convert<1>("v_cvt_pk_bf8_f32", {{bits(1.0f)}, {bits(-1.0f)}}, 8, 1)[0], 0xbcbc3344u)
      << "the upper half; NEG of the first source";
}

TEST_F(SmallFloat, Bf16RoundsToNearestEvenWhateverTheMode) {
  wave.mode.round_f32 = wave.mode.round_f16_f64 = 1;
  const auto pair_of = [&](float a, float b) {
    return op32("v_cvt_pk_bf16_f32", {bits(a), bits(b)});
  };
  EXPECT_EQ(pair_of(f32(0x3f808000), f32(0x3f818000)), 0x3f823f80u);
  EXPECT_EQ(pair_of(f32(0x7f7fffff), f32(0xff800000)), 0xff807f80u);
  EXPECT_EQ(pair_of(f32(0x7f800001), f32(0xffc12345)), 0xffc17fc0u);
  EXPECT_EQ(pair_of(f32(0x00000001), f32(0x80018000)), 0x80020000u);
  wave.mode.denorm_f32 = 0;
  EXPECT_EQ(pair_of(f32(0x007fffff), f32(0x80018000)), 0x80000000u);
  wave.mode.fp16_overflow = true;
  EXPECT_EQ(pair_of(f32(0x7f7fffff), 0), 0x7f80u) << "FP16_OVFL is for f16";
  EXPECT_EQ(op32("v_cvt_pk_f16_f32", {bits(1e6f), bits(-kInfinity)}), 0xfc007bffu);
  EXPECT_EQ(op32("v_cvt_f32_bf16", {0x12347f81}), 0x7f810000u) << "all of its bits";
}

TEST_F(SmallFloat, SixteenBitsAtRandom) {
  const auto low = [&](const char* mnemonic, uint32_t x, uint32_t seed) {
    fill(96, 0x55550000);
    const uint32_t all = convert<1>(mnemonic, {{x}, {seed}})[0];
    EXPECT_EQ(all >> 16, 0x5555u);
    return all & 0xffff;
  };
  EXPECT_EQ(low("v_cvt_sr_bf16_f32", 0x3f800001, 0xfffe0000), 0x3f80u);
  EXPECT_EQ(low("v_cvt_sr_bf16_f32", 0x3f800001, 0xffff0000), 0x3f81u);
  EXPECT_EQ(low("v_cvt_sr_bf16_f32", 0x7f7fffff, 0xffffffff), 0x7f80u);
  EXPECT_EQ(low("v_cvt_sr_f16_f32", 0x3f800001, 0xffefffff), 0x3c00u);
  EXPECT_EQ(low("v_cvt_sr_f16_f32", 0x3f800001, 0xfff80000), 0x3c01u);
  EXPECT_EQ(low("v_cvt_sr_f16_f32", 0xff800000, 0xffffffff), 0xfc00u);
  EXPECT_EQ(low("v_cvt_sr_f16_f32", 0x7fa00000, 0), 0x7f00u);
  EXPECT_EQ(low("v_cvt_sr_f16_f32", bits(0x1p-25f), 0x80000000), 0x0001u);
}

TEST_F(SmallFloat, AScaleDividesOnTheWayDownAndMultipliesOnTheWayUp) {
  fill(96, 0x11223344);
  EXPECT_EQ(
      convert<1>("v_cvt_scalef32_pk_fp8_f32", {{bits(8.0f)}, {bits(-4.0f)}, {scale(2)}}, 8)[0],
      0xb8403344u);
  EXPECT_EQ(convert<1>("v_cvt_scalef32_f32_fp8", {{0x38404448}, {scale(-3)}}, 2)[0], bits(0.25f));
  // Only the exponent of the scale counts, neither its sign nor NEG.
  EXPECT_EQ(convert<1>("v_cvt_scalef32_f32_fp8", {{0x38}, {scale(4) | 0x80345678}}, 0, 2)[0],
            bits(16.0f));
  EXPECT_EQ((convert<2>("v_cvt_scalef32_pk_f32_fp4", {{0x00f20000}, {scale(0)}}, 2)),
            (std::array{bits(1.0f), bits(-6.0f)}));
  // An f32 as large as this one has only a scale for it.
  EXPECT_EQ(
      convert<1>("v_cvt_scalef32_sr_bf8_f32", {{bits(0x1p127f)}, {0}, {scale(127)}})[0] & 0xff,
      0x3cu);
  EXPECT_EQ(convert<1>("v_cvt_scalef32_f32_bf8", {{0x7b}, {scale(127)}})[0], 0x7f800000u);
  EXPECT_EQ(convert<1>("v_cvt_scalef32_f32_fp8", {{0x01}, {0}})[0], 0x00002000u)
      << "a scale of 0 is 2^-127";
}

TEST_F(SmallFloat, AScaleOfAllOnesMakesNans) {
  EXPECT_EQ(convert<1>("v_cvt_scalef32_f32_fp8", {{0xb8}, {0x7f800000}})[0], 0xffc00000u);
  EXPECT_EQ(convert<1>("v_cvt_scalef32_pk_bf16_fp4", {{0x02}, {0x7f800000}})[0], 0x7fff7fffu);
  EXPECT_EQ(convert<1>("v_cvt_scalef32_sr_fp8_f32", {{bits(-1.0f)}, {0}, {0x7f800000}})[0] & 0xff,
            0xffu);
  EXPECT_EQ(
      convert<1>("v_cvt_scalef32_pk_fp4_f32", {{bits(-1.0f)}, {bits(1.0f)}, {0x7f800000}})[0] &
          0xff,
      0x7fu)
      << "fp4 has no NaN: the largest number";
}

// "If a value exceeds the representable range after rounding, it is saturated".
TEST_F(SmallFloat, Fp4AndFp6SaturateWhateverFp16OvflSays) {
  for (const bool overflow : {false, true}) {
    wave.mode.fp16_overflow = overflow;
    const auto fp4 = [&](float a, float b) {
      return convert<1>("v_cvt_scalef32_pk_fp4_f32", {{bits(a)}, {bits(b)}, {scale(0)}})[0] & 0xff;
    };
    EXPECT_EQ(fp4(100, -kInfinity), 0xf7u);
    EXPECT_EQ(fp4(5, -0.25f), 0x86u) << "ties go to even";
    EXPECT_EQ(fp4(0.26f, -0.0f), 0x81u);
    EXPECT_EQ(fp4(f32(kPlusNan), f32(kMinusNan)), 0xf7u);
  }
}

TEST_F(SmallFloat, ThirtyTwoValuesOfSixBits) {
  std::vector<uint32_t> evens(16), odds(16);
  for (unsigned i = 0; i < 16; ++i) {
    evens[i] = bits(0.125f * static_cast<float>(i));
    odds[i] = bits(-7.5f);
  }
  // Codes of E2M3: 0 to 15 are eighths, 31 is 7.5. Values of the two operands alternate.
  const auto packed = convert<6>("v_cvt_scalef32_2xpk16_fp6_f32", {evens, odds, {scale(0)}});
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned bit = 6 * i;
    uint64_t both = packed[bit / 32];
    if (bit / 32 < 5) both |= uint64_t{packed[bit / 32 + 1]} << 32;
    EXPECT_EQ(both >> bit % 32 & 63, i % 2 == 0 ? i / 2 : 63) << i;
  }
  const auto values =
      convert<32>("v_cvt_scalef32_pk32_f32_fp6", {{packed.begin(), packed.end()}, {scale(1)}});
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(f32(values[i]), i % 2 == 0 ? static_cast<float>(i) * 0.125f : -15) << i;
  const auto halves =
      convert<16>("v_cvt_scalef32_pk32_f16_fp6", {{packed.begin(), packed.end()}, {scale(0)}});
  EXPECT_EQ(halves[4], 0xc7803800u);
}

// Each value but the first has a new random number, the next of v_prng_b32.
TEST_F(SmallFloat, EachValueHasItsOwnRandomNumber) {
  const uint32_t seed = 0x80000000;  // a carry with 0.25 / 0.5; the next, 197, makes none
  const uint32_t quarter = bits(0.25f);
  const auto both =
      convert<1>("v_cvt_scalef32_sr_pk_fp4_f32", {{quarter, quarter}, {seed}, {scale(0)}});
  EXPECT_EQ(both[0] & 0xff, 0x01u);
  EXPECT_EQ(op32("v_prng_b32", {seed}), 197u);
  EXPECT_EQ(op32("v_prng_b32", {0x40000001}), 0x80000002u);
}

TEST_F(SmallFloat, Bitop3IsItsTable) {
  for (unsigned table = 0; table < 256; ++table) {
    Instruction in = make("v_bitop3_b32");
    in.neg = table & 7;
    in.abs = table >> 3 & 7;
    in.omod = static_cast<uint8_t>(table >> 6);
    fill(0, 0xf0f0f0f0);
    fill(1, 0xcccccccc);
    fill(2, 0xaaaaaaaa);
    for (unsigned i = 0; i < 3; ++i) in.src[i] = vreg(i);
    in.dst = vreg(8);
    run(in);
    ASSERT_EQ(v(8), table * 0x01010101u);
  }
}

TEST_F(SmallFloat, ShiftCountsAboveFourAreTakenForZero) {
  Instruction in = make("v_lshl_add_u64");
  fill64(0, 0x8000000000000001);
  fill64(4, 0xffffffffffffffff);
  in.src[0] = vreg(0);
  in.src[2] = vreg(4);
  in.dst = vreg(8);
  const auto with_count = [&](uint32_t count) {
    in.src[1] = constant(count);
    run_both(in, 2);
    return v64(8);
  };
  EXPECT_EQ(with_count(4), 15u);
  EXPECT_EQ(with_count(5), 0x8000000000000000u);
  EXPECT_EQ(with_count(9), 1u) << "three bits of it count";
}

TEST_F(SmallFloat, MinimumOfANumberAndANanIsTheNan) {
  EXPECT_EQ(op32("v_minimum3_f32", {bits(1.0f), kMinusNan, bits(2.0f)}), kMinusNan);
  EXPECT_EQ(op32("v_maximum3_f32", {kPlusNan, 0xff800001, bits(2.0f)}), 0xffc00001u)
      << "a signalling one first";
  EXPECT_EQ(op32("v_minimum3_f32", {bits(0.0f), bits(-0.0f), bits(1.0f)}), 0x80000000u);
  EXPECT_EQ(op32("v_maximum3_f32", {bits(-1.0f), bits(-0.0f), bits(0.0f)}), 0u);
}

TEST_F(SmallFloat, PermlaneSwapsExchangeRows) {
  const auto run_swap = [&](const char* mnemonic, unsigned op_sel) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      v(0, lane) = lane;
      v(1, lane) = 100 + lane;
    }
    Instruction in = make(mnemonic);
    in.dst = vreg(0);
    in.src[0] = vreg(1);
    in.op_sel = static_cast<uint8_t>(op_sel);
    run(in);
  };
  run_swap("v_permlane16_swap_b32", 0);
  EXPECT_EQ(v(0, 3), 3u);
  EXPECT_EQ(v(0, 19), 103u);
  EXPECT_EQ(v(1, 3), 19u);
  EXPECT_EQ(v(1, 40), 56u);
  EXPECT_EQ(v(1, 60), 160u);
  run_swap("v_permlane32_swap_b32", 0);
  EXPECT_EQ(v(0, 40), 108u);
  EXPECT_EQ(v(1, 8), 40u);
  EXPECT_EQ(v(0, 8), 8u);
  // Lane 3 is off, its partner 19 is on.
  wave.set_exec(~(uint64_t{1} << 3));
  run_swap("v_permlane16_swap_b32", 0);
  EXPECT_EQ(v(1, 3), 103u);
  EXPECT_EQ(v(0, 19), 19u) << "stays";
  run_swap("v_permlane16_swap_b32", 2);
  EXPECT_EQ(v(0, 19), 0u) << "BC";
  run_swap("v_permlane16_swap_b32", 1);
  EXPECT_EQ(v(0, 19), 103u) << "FI";
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
