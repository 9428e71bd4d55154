#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "vgpu/isa/valu/tests/half_oracle.h"
#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr uint32_t kPlusInf = 0x7f800000, kMinusInf = 0xff800000, kQuietNan = 0x7fc00000,
                   kNegativeZero = 0x80000000;

TEST(Transcendental, SpecialValuesOfF32) {
  Machine m;
  struct Case {
    const char* op;
    uint32_t x, expected;
  };
  const Case cases[] = {
      {"v_rcp_f32", 0, kPlusInf},
      {"v_rcp_f32", kNegativeZero, kMinusInf},
      {"v_rcp_f32", kMinusInf, kNegativeZero},
      {"v_rcp_f32", 1, kPlusInf},    // denormals are flushed
      {"v_rcp_f32", 0x7f7fffff, 0},  // and so are denormal results
      {"v_rcp_f32", bits(4.0f), bits(0.25f)},
      {"v_rcp_iflag_f32", bits(3.0f), bits(1.0f / 3.0f)},
      {"v_rcp_f32", 0x7f800001, 0x7fc00001},
      {"v_rsq_f32", 0, kPlusInf},
      {"v_rsq_f32", kNegativeZero, kMinusInf},
      {"v_rsq_f32", kPlusInf, 0},
      {"v_rsq_f32", bits(-1.0f), kQuietNan},
      {"v_rsq_f32", bits(16.0f), bits(0.25f)},
      {"v_sqrt_f32", bits(-1.0f), kQuietNan},
      {"v_sqrt_f32", kNegativeZero, kNegativeZero},
      {"v_sqrt_f32", bits(2.0f), bits(1.41421356f)},
      {"v_sqrt_f32", 0x00400000, 0},
      {"v_exp_f32", 0, bits(1.0f)},
      {"v_exp_f32", bits(10.0f), bits(1024.0f)},
      {"v_exp_f32", bits(128.0f), kPlusInf},
      {"v_exp_f32", bits(-127.0f), 0},
      {"v_exp_f32", kMinusInf, 0},
      {"v_exp_legacy_f32", bits(-1.0f), bits(0.5f)},
      {"v_log_f32", 0, kMinusInf},
      {"v_log_f32", kNegativeZero, kMinusInf},
      {"v_log_f32", 1, kMinusInf},
      {"v_log_f32", bits(-1.0f), kQuietNan},
      {"v_log_f32", bits(8.0f), bits(3.0f)},
      {"v_log_f32", kPlusInf, kPlusInf},
      {"v_log_legacy_f32", bits(0.5f), bits(-1.0f)},
      {"v_sin_f32", 0, 0},
      {"v_sin_f32", kNegativeZero, kNegativeZero},
      {"v_sin_f32", bits(0.25f), bits(1.0f)},
      {"v_sin_f32", bits(0.5f), 0},
      {"v_sin_f32", bits(-255.75f), bits(1.0f)},
      {"v_sin_f32", bits(300.25f), 0},
      {"v_sin_f32", kPlusInf, kQuietNan},
      {"v_cos_f32", 0, bits(1.0f)},
      {"v_cos_f32", bits(0.25f), 0},
      {"v_cos_f32", bits(100.5f), bits(-1.0f)},
      {"v_cos_f32", bits(-300.25f), bits(1.0f)},
      {"v_cos_f32", kMinusInf, kQuietNan},
      {"v_cos_f32", 0xffc00321, 0xffc00321},
  };
  for (const Case& c : cases) EXPECT_EQ(m.op32(c.op, {c.x}), c.expected) << c.op << std::hex << c.x;
}

TEST(Transcendental, F32IsWithinHalfAUnitOfTheExactValue) {
  Machine m;
  std::mt19937 random(31);
  struct Function {
    const char* op;
    long double (*exact)(long double);
    float low, high;
  };
  constexpr long double kTurn = 6.283185307179586476925286766559L;
  const Function functions[] = {
      {"v_rcp_f32", [](long double x) { return 1 / x; }, 1e-30f, 1e30f},
      {"v_rsq_f32", [](long double x) { return 1 / std::sqrt(x); }, 1e-30f, 1e30f},
      {"v_sqrt_f32", [](long double x) { return std::sqrt(x); }, 1e-30f, 1e30f},
      {"v_exp_f32", [](long double x) { return std::exp2(x); }, -120, 120},
      {"v_log_f32", [](long double x) { return std::log2(x); }, 1e-30f, 1e30f},
      {"v_sin_f32", [](long double x) { return std::sin(x * kTurn); }, -4, 4},
      {"v_cos_f32", [](long double x) { return std::cos(x * kTurn); }, -4, 4},
  };
  for (const Function& f : functions) {
    for (int i = 0; i < 2000; ++i) {
      const float unit = static_cast<float>(random() % 1000003) / 1000003;
      const float x = f.low > 0
                          ? std::exp2(std::log2(f.low) * (1 - unit) + std::log2(f.high) * unit)
                          : f.low + (f.high - f.low) * unit;
      const long double exact = f.exact(x);
      const float r = f32(m.op32(f.op, {bits(x)}));
      const float next = std::nextafter(std::fabs(r), INFINITY);
      const long double unit_in_last_place = static_cast<long double>(next) - std::fabs(r);
      ASSERT_LE(std::fabs(r - exact), 0.5001L * unit_in_last_place) << f.op << " " << x;
    }
  }
}

TEST(Transcendental, F16FollowsItsDenormalMode) {
  Machine m;
  EXPECT_EQ(m.op32("v_rcp_f16", {0x4000}), 0x3800u);
  EXPECT_EQ(m.op32("v_rcp_f16", {0x0001}), 0x7c00u);
  EXPECT_EQ(m.op32("v_rcp_f16", {0x7bff}), round_half(1 / Exact(65504), 0));  // a denormal
  EXPECT_EQ(m.op32("v_sqrt_f16", {0x0004}), round_half(0x1p-11, 0));
  EXPECT_EQ(m.op32("v_rsq_f16", {0x4400}), 0x3800u);
  EXPECT_EQ(m.op32("v_exp_f16", {0xcc00}), 0x0100u);  // 2^-16
  EXPECT_EQ(m.op32("v_log_f16", {0x0001}), 0xce00u);  // -24
  EXPECT_EQ(m.op32("v_sin_f16", {0x3400}), 0x3c00u);
  EXPECT_EQ(m.op32("v_cos_f16", {0x3800}), 0xbc00u);
  EXPECT_EQ(m.op32("v_sin_f16", {0x7bff}), 0u);
  EXPECT_EQ(m.op32("v_cos_f16", {0x7bff}), 0x3c00u);
  EXPECT_EQ(m.op32("v_sqrt_f16", {0xbc00}), 0x7e00u);
  EXPECT_EQ(m.op32("v_log_f16", {0xfc05}), 0xfe05u);
  m.wave.mode.denorm_f16_f64 = 0;
  EXPECT_EQ(m.op32("v_rcp_f16", {0x7bff}), 0u);
  EXPECT_EQ(m.op32("v_log_f16", {0x0001}), 0xfc00u);
}

TEST(Transcendental, F64) {
  Machine m;
  EXPECT_EQ(m.op64("v_rcp_f64", {bits(3.0)}), bits(1.0 / 3.0));
  EXPECT_EQ(m.op64("v_rcp_f64", {bits(-0.0)}), 0xfff0000000000000u);
  EXPECT_EQ(m.op64("v_rsq_f64", {bits(16.0)}), bits(0.25));
  EXPECT_EQ(m.op64("v_sqrt_f64", {bits(2.0)}), bits(std::sqrt(2.0)));
  EXPECT_EQ(m.op64("v_sqrt_f64", {bits(-2.0)}), 0x7ff8000000000000u);
  EXPECT_EQ(m.op64("v_rsq_f64", {0x7ff0000000000005}), 0x7ff8000000000005u);
}

TEST(Transcendental, TrigPreopDeliversTheBitsOfTwoOverPi) {
  Machine m;
  const auto segment = [&](double x, uint32_t s) {
    m.fill64(0, bits(x));
    Instruction in = Machine::make("v_trig_preop_f64");
    in.src[0] = vreg(0);
    in.src[1] = constant(s);
    in.dst = vreg(4);
    m.run_both(in, 2);
    return f64(m.v64(4, 11));
  };
  // The three segments for a small argument add up to 2/pi; 0x1.45f306dc9c882a53f84eafa3ea69cp-1
  // are its leading bits.
  EXPECT_EQ(segment(1.0, 0), 0x1.45f306dc9c882p-1);
  EXPECT_LT(std::fabs(segment(1.0, 0) + segment(1.0, 1) - 0.63661977236758134308), 1e-16);
  EXPECT_EQ(segment(1.0, 1), 0x1.4a7f09d5f47d4p-54);
  // From exponent 1078 on, leading bits that only make whole turns are left out: one at 2^55, which
  // shifts the window by one and drops the leading one.
  EXPECT_EQ(segment(0x1p54, 0), segment(1.0, 0));
  EXPECT_EQ(segment(0x1p55, 0), 0x1.17cc1b727220ap-3);
  EXPECT_EQ(segment(1.0, 31), 0.0);
  // The largest arguments get a result that is scaled up by 2^128.
  EXPECT_GT(segment(0x1p1000, 0), 0.0);
  EXPECT_LT(segment(0x1p1000, 0), std::ldexp(1.0, -(1000 - 54) + 128));
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
