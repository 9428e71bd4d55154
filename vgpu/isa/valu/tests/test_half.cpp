// f16: conversions exhaustively, arithmetic against exact sums and products.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/tests/half_oracle.h"
#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

TEST(Half, EveryValueConvertsToF32Exactly) {
  for (unsigned h = 0; h < 0x10000; ++h) {
    const float x = valu::to_f32(valu::F16{static_cast<uint16_t>(h)});
    if ((h & 0x7fff) < 0x7c00) {
      ASSERT_EQ(x, half_value(static_cast<uint16_t>(h)));
      ASSERT_EQ(std::signbit(x), (h & 0x8000) != 0);
    } else {
      ASSERT_EQ(bits(x), (h & 0x8000) << 16 | 0x7f800000 | (h & 0x3ff) << 13);
    }
  }
}

TEST(Half, F32RoundsToTheNeighbourThatEachModeAsksFor) {
  std::vector<float> inputs = {0.0f,     -0.0f,     65504.0f,    65519.996f, 65520.0f,
                               65536.0f, 1e30f,     0x1p-24f,    0x1p-25f,   0x1.000002p-25f,
                               0x1p-26f, 0x1p-149f, 0x1.ffcp-15f};
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t exponent = 127 - 28 + random() % 48;
    uint32_t mantissa = random() & 0x7fffff;
    if (i % 3 == 0) mantissa &= 0x7ff000;  // ties
    inputs.push_back(f32(exponent << 23 | mantissa));
  }
  for (const float magnitude : inputs) {
    for (const float x : {magnitude, -magnitude}) {
      ASSERT_EQ(valu::nearest_f16(x).bits, round_half(x, 0, std::signbit(x))) << x;
      for (unsigned rounding = 0; rounding < 4; ++rounding) {
        ASSERT_EQ(valu::round_f16(x, rounding).bits, round_half(x, rounding, std::signbit(x)))
            << x << " in mode " << rounding;
      }
    }
  }
}

TEST(Half, InfinityAndNanSurviveRounding) {
  EXPECT_EQ(valu::nearest_f16(INFINITY).bits, 0x7c00);
  EXPECT_EQ(valu::round_f16(-INFINITY, 3).bits, 0xfc00);
  EXPECT_EQ(valu::nearest_f16(f32(0xff802000)).bits, 0xfe01);
  EXPECT_EQ(valu::nearest_f16(f32(0x7f800001)).bits, 0x7e00);
  EXPECT_EQ(valu::round_f16(f64(0x7ff0040000000000), 0).bits, 0x7e01);
  EXPECT_EQ(valu::round_f16(1e9, 0, true).bits, 0x7bff);
  EXPECT_EQ(valu::round_f16(-1e9, 1, true).bits, 0xfbff);
  EXPECT_EQ(valu::round_f16(INFINITY, 0, true).bits, 0x7c00);
}

std::vector<uint16_t> halves() {
  std::vector<uint16_t> v;
  for (const unsigned magnitude :
       {0x0000u, 0x0001u, 0x0002u, 0x0155u, 0x03ffu, 0x0400u, 0x0401u, 0x07ffu, 0x1400u, 0x1401u,
        0x3bffu, 0x3c00u, 0x3c01u, 0x3fffu, 0x4000u, 0x5640u, 0x7800u, 0x7801u, 0x7bfeu, 0x7bffu}) {
    v.push_back(static_cast<uint16_t>(magnitude));
    v.push_back(static_cast<uint16_t>(magnitude | 0x8000));
  }
  std::mt19937 random(9);
  while (v.size() < 80) {
    const auto h = static_cast<uint16_t>(random());
    if ((h & 0x7fff) < 0x7c00) v.push_back(h);
  }
  return v;
}

// Runs on random finite operands; `expected` gets their exact values and the signs of zero results.
template <class F>
void for_many(const char* mnemonic, unsigned sources, uint8_t rounding, F expected) {
  Machine m;
  m.wave.mode.round_f16_f64 = rounding;
  const auto values = halves();
  std::mt19937 random(4);
  for (int round = 0; round < 80; ++round) {
    Instruction in = Machine::make(mnemonic);
    for (unsigned i = 0; i < sources; ++i) {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        m.v(i, lane) = values[random() % values.size()];
      in.src[i] = vreg(i);
    }
    in.dst = vreg(8);
    m.fill(8, 0);
    m.run_both(in);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto h = [&](unsigned i) { return static_cast<uint16_t>(m.v(i, lane)); };
      ASSERT_EQ(m.v(8, lane), expected(h(0), h(1), h(2)))
          << mnemonic << std::hex << " " << h(0) << " " << h(1) << " " << h(2) << " mode "
          << int(rounding);
    }
  }
}

bool sign(uint16_t h) {
  return (h & 0x8000) != 0;
}

uint16_t flushed_half(uint16_t h) {
  return (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

// The sign of an exact zero sum.
bool zero_sum_sign(bool a, bool b, unsigned rounding) {
  return a == b ? a : rounding == 2;
}

TEST(Half, ArithmeticIsRoundedOnceInEveryMode) {
  for (uint8_t mode = 0; mode < 4; ++mode) {
    const auto sum = [mode](uint16_t a, uint16_t b) {
      const Exact x = half_value(a), y = half_value(b);
      return round_half(x + y, mode, x + y == 0 && zero_sum_sign(sign(a), sign(b), mode));
    };
    for_many("v_add_f16", 2, mode, [&](uint16_t a, uint16_t b, uint16_t) { return sum(a, b); });
    for_many("v_sub_f16", 2, mode, [&](uint16_t a, uint16_t b, uint16_t) {
      return sum(a, static_cast<uint16_t>(b ^ 0x8000));
    });
    for_many("v_subrev_f16", 2, mode, [&](uint16_t a, uint16_t b, uint16_t) {
      return sum(b, static_cast<uint16_t>(a ^ 0x8000));
    });
    const auto product = [mode](uint16_t a, uint16_t b) {
      return round_half(Exact(half_value(a)) * half_value(b), mode, sign(a) != sign(b));
    };
    for_many("v_mul_f16", 2, mode, [&](uint16_t a, uint16_t b, uint16_t) { return product(a, b); });
    for_many("v_fma_f16", 3, mode, [&](uint16_t a, uint16_t b, uint16_t c) {
      const Exact x = Exact(half_value(a)) * half_value(b);
      const bool negative = zero_sum_sign(sign(a) != sign(b), sign(c), mode);
      return round_half(x + half_value(c), mode, negative);
    });
    // Unfused: the product may overflow on its own. Denormals are flushed, whatever the mode.
    for_many("v_mad_f16", 3, mode, [&](uint16_t a, uint16_t b, uint16_t c) -> uint16_t {
      const uint16_t p = flushed_half(product(flushed_half(a), flushed_half(b)));
      return (p & 0x7fff) == 0x7c00 ? p : flushed_half(sum(p, flushed_half(c)));
    });
  }
}

TEST(Half, NansInfinitiesAndDenormalModes) {
  Machine m;
  EXPECT_EQ(m.op32("v_add_f16", {0x7c00, 0xfc00}), 0x7e00u);
  EXPECT_EQ(m.op32("v_add_f16", {0xfc01, 0x7e05}), 0xfe01u);
  EXPECT_EQ(m.op32("v_mul_f16", {0x3c00, 0x7c11}), 0x7e11u);
  EXPECT_EQ(m.op32("v_fma_legacy_f16", {0x7c00, 0x3c00, 0x4000}), 0x7c00u);
  EXPECT_EQ(m.op32("v_fma_legacy_f16", {0x7c00, 0x0000, 0x7e33}), 0x7e33u);
  EXPECT_EQ(m.op32("v_min_f16", {0x8000, 0x0000}), 0x8000u);
  EXPECT_EQ(m.op32("v_max_f16", {0x7e00, 0x0001}), 0x0001u);
  EXPECT_EQ(m.op32("v_max_f16", {0x7c01, 0x0001}), 0x7e01u);
  EXPECT_EQ(m.op32("v_add_f16", {0x0001, 0x0001}), 0x0002u);
  m.wave.mode.denorm_f16_f64 = 2;
  EXPECT_EQ(m.op32("v_add_f16", {0x0001, 0x8001}), 0x0000u);
  EXPECT_EQ(m.op32("v_add_f16", {0x0401, 0x8400}), 0x0001u);
  m.wave.mode.denorm_f16_f64 = 1;
  EXPECT_EQ(m.op32("v_add_f16", {0x0401, 0x8400}), 0x0000u);
  EXPECT_EQ(m.op32("v_mul_f16", {0x0001, 0x6400}), 0x0400u);
}

TEST(Half, OverflowModeSaturates) {
  Machine m;
  EXPECT_EQ(m.op32("v_add_f16", {0x7bff, 0x7bff}), 0x7c00u);
  m.wave.mode.fp16_overflow = true;
  EXPECT_EQ(m.op32("v_add_f16", {0x7bff, 0x7bff}), 0x7bffu);
  EXPECT_EQ(m.op32("v_mul_f16", {0xfbff, 0x7bff}), 0xfbffu);
  EXPECT_EQ(m.op32("v_add_f16", {0x7c00, 0x7bff}), 0x7c00u);
}

TEST(Half, IntegersExponentsAndFractions) {
  Machine m;
  EXPECT_EQ(m.op32("v_floor_f16", {0xb800}), 0xbc00u);  // floor(-0.5) = -1
  EXPECT_EQ(m.op32("v_ceil_f16", {0xb800}), 0x8000u);
  EXPECT_EQ(m.op32("v_trunc_f16", {0xc100}), 0xc000u);  // -2.5
  EXPECT_EQ(m.op32("v_rndne_f16", {0xc100}), 0xc000u);
  EXPECT_EQ(m.op32("v_rndne_f16", {0x4300}), 0x4400u);  // 3.5
  EXPECT_EQ(m.op32("v_fract_f16", {0x4300}), 0x3800u);
  EXPECT_EQ(m.op32("v_fract_f16", {0x8001}), 0x3bffu);
  EXPECT_EQ(m.op32("v_frexp_mant_f16", {0x4600}), 0x3a00u);  // 6 = 0.75 * 8
  EXPECT_EQ(m.op32("v_frexp_exp_i16_f16", {0x4600}), 3u);
  EXPECT_EQ(m.op32("v_frexp_exp_i16_f16", {0x0001}), 0xffe9u);  // -23
  EXPECT_EQ(m.op32("v_frexp_exp_i16_f16", {0x7c00}), 0u);
  EXPECT_EQ(m.op32("v_ldexp_f16", {0x3c00, 3}), 0x4800u);
  EXPECT_EQ(m.op32("v_ldexp_f16", {0x3c00, 0xffe8}), 0x0001u);  // 2^-24
  EXPECT_EQ(m.op32("v_ldexp_f16", {0xbc00, 0x7fff}), 0xfc00u);
  EXPECT_EQ(m.op32("v_ldexp_f16", {0xbc00, 0x8000}), 0x8000u);
  m.wave.mode.round_f16_f64 = 2;
  EXPECT_EQ(m.op32("v_ldexp_f16", {0xbc00, 0x8000}), 0x8001u);
}

TEST(Half, MacAndLiteralForms) {
  Machine m;
  m.fill(0, 0x4000);       // 2
  m.fill(1, 0x4200);       // 3
  m.fill(2, 0x1234'4400);  // 4, with bits above
  Instruction in = Machine::make("v_mac_f16", Format::kVop2);
  in.src[0] = vreg(0);
  in.src[1] = vreg(1);
  in.dst = vreg(2);
  m.run_both(in);
  EXPECT_EQ(m.v(2, 7), 0x1234'4900u);  // 10; these forms keep the upper half
  in.extra->mnemonic = "v_madmk_f16";
  in.src[2] = constant(0x4900);
  m.run_both(in);
  EXPECT_EQ(m.v(2, 7), 0x1234'4dc0u);  // 2 * 10 + 3
  in.extra->mnemonic = "v_madak_f16";
  m.run_both(in);
  EXPECT_EQ(m.v(2, 7), 0x1234'4c00u);  // 2 * 3 + 10
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
