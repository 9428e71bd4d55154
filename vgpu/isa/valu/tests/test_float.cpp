// f32 and f64 arithmetic: values, NaNs, denormals, rounding modes, minimum and maximum, rounding to
// integers, exponents.

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr uint32_t kInf = 0x7f800000, kNegInf = 0xff800000, kDefaultNan = 0x7fc00000;
constexpr uint32_t kQuietA = 0x7fc0aaaa, kQuietB = 0xffc0bbbb, kSignalA = 0x7f80aaaa,
                   kSignalB = 0xff80bbbb;
constexpr uint32_t kTiny = 1, kLargestDenormal = 0x007fffff, kSmallestNormal = 0x00800000;

std::vector<uint32_t> floats() {
  std::vector<uint32_t> v;
  for (const uint32_t magnitude :
       {0u,          kTiny,       0x1234u,     kLargestDenormal, kSmallestNormal, 0x00ffffffu,
        0x33800000u, 0x3effffffu, 0x3f000000u, 0x3f000001u,      0x3f7fffffu,     0x3f800000u,
        0x3f800001u, 0x40000000u, 0x40490fdbu, 0x4affffffu,      0x4b000001u,     0x4f000000u,
        0x4f800000u, 0x7f7fffffu, kInf}) {
    v.push_back(magnitude);
    v.push_back(magnitude | 0x80000000);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 22; ++i) v.push_back((random() & 0xbfffffff) | 0x20000000);
  return v;
}

bool nan32(uint32_t x) {
  return (x & 0x7fffffff) > kInf;
}

// Runs f32 operations on many operands at once and compares bit by bit. Inputs have no NaN;
// `expected` may return any NaN where the operation is invalid.
template <unsigned kSources, class F>
void for_many(const char* mnemonic, const FloatMode& mode, F expected) {
  Machine m;
  m.wave.mode = mode;
  const std::vector<uint32_t> values = floats();
  std::mt19937 random(5);
  const auto pick = [&] { return values[random() % values.size()]; };
  for (int round = 0; round < 60; ++round) {
    Instruction in = Machine::make(mnemonic);
    for (unsigned i = 0; i < kSources; ++i) {
      for (unsigned lane = 0; lane < kLanes; ++lane) m.v(i, lane) = pick();
      in.src[i] = vreg(i);
    }
    in.dst = vreg(8);
    m.run_both(in);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t want = bits(expected(f32(m.v(0, lane)), f32(m.v(1, lane)), f32(m.v(2, lane))));
      if (nan32(want)) want = kDefaultNan;
      ASSERT_EQ(m.v(8, lane), want) << mnemonic << std::hex << " " << m.v(0, lane) << " "
                                    << m.v(1, lane) << " " << m.v(2, lane);
    }
  }
}

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

TEST(Float32, ArithmeticMatchesTheHost) {
  const FloatMode mode;
  for_many<2>("v_add_f32", mode, [](float a, float b, float) { return a + b; });
  for_many<2>("v_sub_f32", mode, [](float a, float b, float) { return a - b; });
  for_many<2>("v_subrev_f32", mode, [](float a, float b, float) { return b - a; });
  for_many<2>("v_mul_f32", mode, [](float a, float b, float) { return a * b; });
  for_many<3>("v_fma_f32", mode, [](float a, float b, float c) { return std::fma(a, b, c); });
}

TEST(Float32, MadFlushesDenormalsInEveryModeAndRoundsTwice) {
  for (const uint8_t denorm : {0, 1, 2, 3}) {
    FloatMode mode;
    mode.denorm_f32 = denorm;
    for_many<3>("v_mad_f32", mode, [](float a, float b, float c) {
      return flushed(flushed(flushed(a) * flushed(b)) + flushed(c));
    });
  }
  Machine m;  // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: only the fused form keeps the last bit
  const uint32_t a = 0x3f800001, c = bits(-0x1.000004p0f);
  EXPECT_EQ(m.op32("v_mad_f32", {a, a, c}), 0u);
  EXPECT_EQ(m.op32("v_fma_f32", {a, a, c}), bits(0x1p-46f));
}

TEST(Float32, DenormalModeFlushesInputsAndOutputs) {
  for (const uint8_t denorm : {0, 1, 2}) {
    FloatMode mode;
    mode.denorm_f32 = denorm;
    const auto in = [&](float x) { return (denorm & 1) ? x : flushed(x); };
    const auto out = [&](float x) { return (denorm & 2) ? x : flushed(x); };
    for_many<2>("v_add_f32", mode, [&](float a, float b, float) { return out(in(a) + in(b)); });
    for_many<2>("v_mul_f32", mode, [&](float a, float b, float) { return out(in(a)*in(b)); });
    for_many<3>("v_fma_f32", mode,
                [&](float a, float b, float c) { return out(std::fma(in(a), in(b), in(c))); });
  }
}

TEST(Float32, RoundingModeDecidesTheLastBit) {
  constexpr int kHost[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (uint8_t round = 0; round < 4; ++round) {
    FloatMode mode;
    mode.round_f32 = round;
    const auto rounded = [&](auto operation) {
      std::fesetround(kHost[round]);
      const volatile float r = operation();  // computed before the mode is reset
      const float result = r;
      std::fesetround(FE_TONEAREST);
      return result;
    };
    for_many<2>("v_add_f32", mode, [&](float x, float y, float) {
      const volatile float a = x, b = y;  // not computed before the mode is set
      return rounded([&]() -> float { return a + b; });
    });
    for_many<2>("v_mul_f32", mode, [&](float x, float y, float) {
      const volatile float a = x, b = y;  // not computed before the mode is set
      return rounded([&]() -> float { return a * b; });
    });
    for_many<3>("v_fma_f32", mode, [&](float a, float b, float c) {
      return rounded([&] { return std::fma(a, b, c); });
    });
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

TEST(Float32, NanResultIsTheFirstNanOperandQuieted) {
  Machine m;
  for (const char* op : {"v_add_f32", "v_sub_f32", "v_mul_f32", "v_subrev_f32"}) {
    EXPECT_EQ(m.op32(op, {kQuietA, kQuietB}), kQuietA) << op;
    EXPECT_EQ(m.op32(op, {kSignalA, kQuietB}), kSignalA | 0x400000) << op;
    EXPECT_EQ(m.op32(op, {kQuietB, kSignalA}), kQuietB) << op;
    EXPECT_EQ(m.op32(op, {0x3f800000, kSignalB}), kSignalB | 0x400000) << op;
    EXPECT_EQ(m.op32(op, {kSignalB, kInf}), kSignalB | 0x400000) << op;
  }
  for (const char* op : {"v_fma_f32", "v_mad_f32"}) {
    EXPECT_EQ(m.op32(op, {kInf, 0, kQuietB}), kQuietB) << op;
    EXPECT_EQ(m.op32(op, {0, kQuietB, kQuietA}), kQuietB) << op;
    EXPECT_EQ(m.op32(op, {kInf, 0, 0}), kDefaultNan) << op;
    EXPECT_EQ(m.op32(op, {kInf, 0x3f800000, kNegInf}), kDefaultNan) << op;
  }
  EXPECT_EQ(m.op32("v_add_f32", {kInf, kNegInf}), kDefaultNan);
  EXPECT_EQ(m.op32("v_mul_f32", {kInf, 0}), kDefaultNan);
}

TEST(Float32, OneNanLaneDoesNotDisturbTheOthers) {
  Machine m;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    m.v(0, lane) = bits(1.0f * static_cast<float>(lane));
  m.v(0, 13) = kSignalA;
  Instruction in = Machine::make("v_add_f32", Format::kVop2);
  in.dst = in.src[0] = in.src[1] = vreg(0);
  m.run_both(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(m.v(0, lane),
              lane == 13 ? kSignalA | 0x400000 : bits(2.0f * static_cast<float>(lane)));
  }
}

TEST(Float32, AccumulatorsAndLiterals) {
  Machine m;
  for (const char* op : {"v_mac_f32", "v_fmac_f32"}) {
    m.fill(0, bits(2.0f));
    m.fill(1, bits(3.0f));
    m.fill(2, bits(10.0f));
    Instruction in = Machine::make(op, Format::kVop2);
    in.src[0] = vreg(0);
    in.src[1] = vreg(1);
    in.dst = vreg(2);
    m.run_both(in);
    EXPECT_EQ(f32(m.v(2, 9)), 16.0f);
  }
  Instruction mk = Machine::make("v_madmk_f32", Format::kVop2);
  mk.src[0] = vreg(0);
  mk.src[1] = vreg(1);
  mk.src[2] = constant(bits(100.0f));
  mk.dst = vreg(2);
  m.run_both(mk);
  EXPECT_EQ(f32(m.v(2)), 203.0f);  // 2 * K + 3
  mk.extra->mnemonic = "v_madak_f32";
  m.run_both(mk);
  EXPECT_EQ(f32(m.v(2)), 106.0f);  // 2 * 3 + K
}

TEST(Float32, LegacyMultiplicationLetsZeroWin) {
  Machine m;
  EXPECT_EQ(m.op32("v_mul_legacy_f32", {kInf, 0x80000000}), 0u);
  EXPECT_EQ(m.op32("v_mul_legacy_f32", {0, kQuietA}), 0u);
  EXPECT_EQ(m.op32("v_mul_legacy_f32", {bits(-2.0f), bits(3.0f)}), bits(-6.0f));
  EXPECT_EQ(m.op32("v_mad_legacy_f32", {0, kInf, bits(4.0f)}), bits(4.0f));
  EXPECT_EQ(m.op32("v_mad_legacy_f32", {kTiny, kInf, bits(4.0f)}), bits(4.0f));
  EXPECT_EQ(m.op32("v_mad_legacy_f32", {bits(2.0f), bits(3.0f), bits(4.0f)}), bits(10.0f));
}

TEST(Float32, MinimumAndMaximum) {
  Machine m;
  const uint32_t one = bits(1.0f), minus = bits(-1.0f), zero = 0, negative_zero = 0x80000000;
  for (const bool ieee : {true, false}) {
    m.wave.mode.ieee = ieee;
    EXPECT_EQ(m.op32("v_min_f32", {one, minus}), minus);
    EXPECT_EQ(m.op32("v_max_f32", {minus, one}), one);
    EXPECT_EQ(m.op32("v_min_f32", {zero, negative_zero}), negative_zero);
    EXPECT_EQ(m.op32("v_min_f32", {negative_zero, zero}), negative_zero);
    EXPECT_EQ(m.op32("v_max_f32", {zero, negative_zero}), zero);
    EXPECT_EQ(m.op32("v_max_f32", {negative_zero, zero}), zero);
    EXPECT_EQ(m.op32("v_max_f32", {negative_zero, negative_zero}), negative_zero);
    EXPECT_EQ(m.op32("v_min_f32", {kQuietA, one}), one);
    EXPECT_EQ(m.op32("v_max_f32", {one, kQuietA}), one);
    EXPECT_EQ(m.op32("v_min_f32", {kQuietA, kQuietB}), kQuietB);
    EXPECT_EQ(m.op32("v_min_f32", {kNegInf, one}), kNegInf);
    EXPECT_EQ(m.op32("v_max_f32", {kTiny, zero}), kTiny);
    const uint32_t signalling = ieee ? kSignalA | 0x400000 : one;
    EXPECT_EQ(m.op32("v_min_f32", {kSignalA, one}), signalling);
    EXPECT_EQ(m.op32("v_max_f32", {one, kSignalA}), signalling);
  }
  m.wave.mode.denorm_f32 = 0;
  EXPECT_EQ(m.op32("v_max_f32", {kTiny, negative_zero}), zero);
  EXPECT_EQ(m.op32("v_max_f32", {0x80000001, 0x80000002}), negative_zero);
}

TEST(Float32, MedianOfThree) {
  Machine m;
  const float values[] = {1, 2, 3};
  constexpr int kOrders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : kOrders) {
    const std::vector<uint32_t> in = {bits(values[order[0]]), bits(values[order[1]]),
                                      bits(values[order[2]])};
    EXPECT_EQ(m.op32("v_med3_f32", in), bits(2.0f));
    EXPECT_EQ(m.op32("v_min3_f32", in), bits(1.0f));
    EXPECT_EQ(m.op32("v_max3_f32", in), bits(3.0f));
  }
  // Clamping idiom: NaN gives the lower bound.
  EXPECT_EQ(m.op32("v_med3_f32", {kQuietA, 0, bits(1.0f)}), 0u);
  EXPECT_EQ(m.op32("v_med3_f32", {bits(1.0f), kQuietA, bits(0.5f)}), bits(0.5f));
}

TEST(Float32, RoundingToIntegers) {
  Machine m;
  struct Case {
    float x, trunc, floor, ceil, even;
  };
  const Case cases[] = {
      {0.3f, 0, 0, 1, 0},
      {-0.3f, -0.0f, -1, -0.0f, -0.0f},
      {0.5f, 0, 0, 1, 0},
      {-0.5f, -0.0f, -1, -0.0f, -0.0f},
      {1.5f, 1, 1, 2, 2},
      {2.5f, 2, 2, 3, 2},
      {-2.5f, -2, -3, -2, -2},
      {-3.5f, -3, -4, -3, -4},
      {0.49999997f, 0, 0, 1, 0},
      {8388607.5f, 8388607, 8388607, 8388608, 8388608},
      {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f},
      {1e30f, 1e30f, 1e30f, 1e30f, 1e30f},
      {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
      {f32(1), 0, 0, 1, 0},
  };
  for (uint8_t round = 0; round < 4; ++round) {
    m.wave.mode.round_f32 = round;
    for (const Case& c : cases) {
      EXPECT_EQ(m.op32("v_trunc_f32", {bits(c.x)}), bits(c.trunc)) << c.x;
      EXPECT_EQ(m.op32("v_floor_f32", {bits(c.x)}), bits(c.floor)) << c.x;
      EXPECT_EQ(m.op32("v_ceil_f32", {bits(c.x)}), bits(c.ceil)) << c.x;
      EXPECT_EQ(m.op32("v_rndne_f32", {bits(c.x)}), bits(c.even)) << c.x;
      const double x = c.x;
      EXPECT_EQ(m.op64("v_floor_f64", {bits(x)}), bits(double{c.floor})) << c.x;
      EXPECT_EQ(m.op64("v_rndne_f64", {bits(x)}), bits(double{c.even})) << c.x;
    }
  }
  EXPECT_EQ(m.op32("v_floor_f32", {kSignalB}), kSignalB | 0x400000);
  m.wave.mode.denorm_f32 = 0;
  EXPECT_EQ(m.op32("v_ceil_f32", {kTiny}), 0u);
}

TEST(Float32, FractIsBelowOne) {
  Machine m;
  EXPECT_EQ(m.op32("v_fract_f32", {bits(3.25f)}), bits(0.25f));
  EXPECT_EQ(m.op32("v_fract_f32", {bits(-3.25f)}), bits(0.75f));
  EXPECT_EQ(m.op32("v_fract_f32", {bits(-1e-10f)}), 0x3f7fffffu);
  EXPECT_EQ(m.op32("v_fract_f32", {kInf}), kDefaultNan);
  EXPECT_EQ(m.op32("v_fract_f32", {kSignalA}), kSignalA | 0x400000);
  EXPECT_EQ(m.op64("v_fract_f64", {bits(-1e-300)}), 0x3fefffffffffffffu);
  EXPECT_EQ(m.op64("v_fract_f64", {bits(2.75)}), bits(0.75));
}

TEST(Float32, ExponentsAndSignificands) {
  Machine m;
  EXPECT_EQ(m.op32("v_frexp_exp_i32_f32", {bits(1.0f)}), 1u);
  EXPECT_EQ(m.op32("v_frexp_exp_i32_f32", {bits(0.75f)}), 0u);
  EXPECT_EQ(m.op32("v_frexp_exp_i32_f32", {kTiny}), static_cast<uint32_t>(-148));
  EXPECT_EQ(m.op32("v_frexp_exp_i32_f32", {0}), 0u);
  EXPECT_EQ(m.op32("v_frexp_exp_i32_f32", {kInf}), 0u);
  EXPECT_EQ(m.op32("v_frexp_exp_i32_f32", {kQuietA}), 0u);
  EXPECT_EQ(m.op32("v_frexp_mant_f32", {bits(-6.0f)}), bits(-0.75f));
  EXPECT_EQ(m.op32("v_frexp_mant_f32", {kTiny}), bits(0.5f));
  EXPECT_EQ(m.op32("v_frexp_mant_f32", {kNegInf}), kNegInf);
  EXPECT_EQ(m.op32("v_frexp_mant_f32", {0x80000000}), 0x80000000u);
  EXPECT_EQ(m.op32("v_ldexp_f32", {bits(1.5f), 3}), bits(12.0f));
  EXPECT_EQ(m.op32("v_ldexp_f32", {bits(1.5f), 0x7fffffff}), kInf);
  EXPECT_EQ(m.op32("v_ldexp_f32", {bits(-1.5f), 0x80000000}), 0x80000000u);
  EXPECT_EQ(m.op32("v_ldexp_f32", {bits(1.0f), static_cast<uint32_t>(-149)}), kTiny);
  EXPECT_EQ(m.op32("v_ldexp_f32", {kTiny, 149}), bits(1.0f));
  EXPECT_EQ(m.op32("v_ldexp_f32", {kSignalA, 1}), kSignalA | 0x400000);
  // 3 * 2^-150 is halfway between 1 and 2 units: even wins, and it is rounded once.
  EXPECT_EQ(m.op32("v_ldexp_f32", {bits(3.0f), static_cast<uint32_t>(-150)}), 2u);
  EXPECT_EQ(m.op32("v_ldexp_f32", {0x3f800001, static_cast<uint32_t>(-150)}), 1u);

  Instruction in = Machine::make("v_ldexp_f64");
  m.fill64(0, bits(1.5));
  in.src[0] = vreg(0);
  in.src[1] = constant(static_cast<uint32_t>(-2));
  in.dst = vreg(2);
  m.run_both(in, 2);
  EXPECT_EQ(f64(m.v64(2)), 0.375);
}

TEST(Float32, CubeMapsFollowTheLargestCoordinate) {
  Machine m;
  struct Case {
    float x, y, z, id, sc, tc, ma;
  };
  const Case cases[] = {
      {1, 2, 3, 4, 1, -2, 6},   {1, 2, -3, 5, -1, -2, -6}, {1, 3, 2, 2, 1, 2, 6},
      {1, -3, 2, 3, 1, -2, -6}, {3, 2, 1, 0, -1, -2, 6},   {-3, 2, 1, 1, 1, -2, -6},
      {2, 2, 2, 4, 2, -2, 4},   {2, 2, 1, 2, 2, 1, 4},
  };
  for (const Case& c : cases) {
    const std::vector<uint32_t> in = {bits(c.x), bits(c.y), bits(c.z)};
    EXPECT_EQ(f32(m.op32("v_cubeid_f32", in)), c.id);
    EXPECT_EQ(f32(m.op32("v_cubesc_f32", in)), c.sc);
    EXPECT_EQ(f32(m.op32("v_cubetc_f32", in)), c.tc);
    EXPECT_EQ(f32(m.op32("v_cubema_f32", in)), c.ma);
  }
}

TEST(Float64, ArithmeticAndNans) {
  Machine m;
  const uint64_t inf = 0x7ff0000000000000, quiet = 0x7ff8000000001234, signal = 0xfff0000000000001;
  EXPECT_EQ(m.op64("v_add_f64", {bits(1.0), bits(0x1p-53)}), bits(1.0));
  EXPECT_EQ(m.op64("v_mul_f64", {bits(1e300), bits(1e300)}), inf);
  EXPECT_EQ(m.op64("v_fma_f64", {bits(0x1.0000001p0), bits(0x1.0000001p0), bits(-1.0)}),
            bits(std::fma(0x1.0000001p0, 0x1.0000001p0, -1.0)));
  EXPECT_EQ(m.op64("v_add_f64", {signal, quiet}), signal | 0x0008000000000000);
  EXPECT_EQ(m.op64("v_add_f64", {quiet, signal}), quiet);
  EXPECT_EQ(m.op64("v_add_f64", {inf, inf | 1ull << 63}), 0x7ff8000000000000u);
  EXPECT_EQ(m.op64("v_min_f64", {quiet, bits(2.0)}), bits(2.0));
  EXPECT_EQ(m.op64("v_max_f64", {bits(-0.0), bits(0.0)}), bits(0.0));
  EXPECT_EQ(m.op64("v_max_f64", {bits(1.0), signal}), signal | 0x0008000000000000);
  m.wave.mode.round_f16_f64 = 1;
  EXPECT_EQ(m.op64("v_add_f64", {bits(1.0), bits(0x1p-60)}), bits(1.0) + 1);
  m.wave.mode.round_f16_f64 = 3;
  EXPECT_EQ(m.op64("v_add_f64", {bits(-1.0), bits(0x1p-60)}), bits(-1.0) - 1);
  m.wave.mode.denorm_f16_f64 = 0;
  EXPECT_EQ(m.op64("v_add_f64", {1, 1}), 0u);
}

TEST(Float64, ANanWithAPayloadInTheLowDwordOnlyIsSeen) {
  Machine m;
  EXPECT_EQ(m.op64("v_mul_f64", {bits(1.0), 0x7ff0000000000001}), 0x7ff8000000000001u);
  EXPECT_EQ(m.op64("v_fma_f64", {bits(1.0), 0x7ff8000000000001, 0x7ff8000000000002}),
            0x7ff8000000000001u);
}

TEST(Float64, ExponentsOfDenormals) {
  Machine m;
  Instruction in = Machine::make("v_frexp_exp_i32_f64");
  m.fill64(0, 1);
  in.src[0] = vreg(0);
  in.dst = vreg(2);
  m.run_both(in);
  EXPECT_EQ(m.v(2), static_cast<uint32_t>(-1073));
  EXPECT_EQ(m.op64("v_frexp_mant_f64", {1}), bits(0.5));
  Instruction fmac = Machine::make("v_fmac_f64", Format::kVop2);
  m.fill64(0, bits(2.0));
  m.fill64(2, bits(3.0));
  m.fill64(4, bits(4.0));
  fmac.src[0] = vreg(0);
  fmac.src[1] = vreg(2);
  fmac.dst = vreg(4);
  m.run_both(fmac, 2);
  EXPECT_EQ(f64(m.v64(4, 2)), 10.0);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
