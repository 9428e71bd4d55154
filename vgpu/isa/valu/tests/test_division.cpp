// The division sequence that LLVM emits for f32 and f64 (AMDGPU backend, LowerFDIV32 and
// LowerFDIV64), run instruction by instruction: with correctly working steps it is correctly
// rounded.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

// Registers: n 0, d 2, scaled d 4, scaled n 6, and temporaries, two dwords each.
class Divider {
 public:
  explicit Divider(std::string type) : type_(std::move(type)) {}

  Machine m;

  void divide() {
    const uint64_t one = type_ == "f32" ? bits(1.0f) : bits(1.0);
    scale(4, 2, sreg(40));  // denominator
    step("v_rcp_", 8, {vreg(4)});
    scale(6, 0, vcc());  // numerator
    step("v_fma_", 10, {vreg(4), vreg(8), constant(one)}, 1);
    step("v_fma_", 8, {vreg(10), vreg(8), vreg(8)});
    if (type_ == "f64") {
      step("v_fma_", 10, {vreg(4), vreg(8), constant(one)}, 1);
      step("v_fma_", 8, {vreg(8), vreg(10), vreg(8)});
      step("v_mul_", 12, {vreg(6), vreg(8)});
      step("v_fma_", 10, {vreg(4), vreg(12), vreg(6)}, 1);
    } else {
      step("v_mul_", 12, {vreg(6), vreg(8)});
      step("v_fma_", 14, {vreg(4), vreg(12), vreg(6)}, 1);
      step("v_fma_", 12, {vreg(14), vreg(8), vreg(12)});
      step("v_fma_", 10, {vreg(4), vreg(12), vreg(6)}, 1);
    }
    step("v_div_fmas_", 10, {vreg(10), vreg(8), vreg(12)});
    step("v_div_fixup_", 20, {vreg(10), vreg(2), vreg(0)});
  }

 private:
  void scale(unsigned dst, unsigned src, Operand flag) {
    step("v_div_scale_", dst, {vreg(src), vreg(2), vreg(0)}, 0, flag);
  }
  void step(const std::string& mnemonic, unsigned dst, std::vector<Operand> sources,
            uint8_t neg = 0, Operand sdst = sreg(42)) {
    const std::string name = mnemonic + type_;
    Instruction in = Machine::make(name.c_str());
    in.dst = vreg(dst);
    in.sdst = sdst;
    in.neg = neg;
    for (unsigned i = 0; i < sources.size(); ++i) in.src[i] = sources[i];
    m.run(in);
  }
  std::string type_;
};

// The expected quotient's bits; AMD's sequence makes 0/0 and inf/inf the negative quiet NaN.
uint32_t quotient(float n, float d) {
  const float q = n / d;
  if (std::isnan(n)) return bits(n) | 0x400000;
  if (std::isnan(d)) return bits(d) | 0x400000;
  return std::isnan(q) ? 0xffc00000 : bits(q);
}
uint64_t quotient(double n, double d) {
  const double q = n / d;
  if (std::isnan(n)) return bits(n) | 0x0008000000000000;
  if (std::isnan(d)) return bits(d) | 0x0008000000000000;
  return std::isnan(q) ? 0xfff8000000000000 : bits(q);
}

TEST(Division, F32SequenceIsCorrectlyRounded) {
  std::mt19937 random(21);
  std::vector<uint32_t> edges = {0,          0x80000000, 1,          0x807fffff, 0x00400000,
                                 0x00800000, 0x00800001, 0x3f800000, 0xbf800000, 0x40400000,
                                 0x7e7fffff, 0x7e800000, 0x7e800001, 0x7f000000, 0x7f7fffff,
                                 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00123, 0x7f800123,
                                 0x0bc00000, 0x4b7fffff, 0x2f800000, 0x5f800001};
  Divider divider("f32");
  Machine& m = divider.m;
  for (int round = 0; round < 3000; ++round) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t n = random(), d = random();
      if (round % 4 == 0) n = edges[random() % edges.size()];
      if (round % 4 <= 1) d = edges[random() % edges.size()];
      if (round % 4 == 3) d = (d & 0x807fffff) | (n & 0x7f800000);  // close exponents
      m.set64(0, lane, n);
      m.set64(2, lane, d);
    }
    divider.divide();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float n = f32(m.v(0, lane)), d = f32(m.v(2, lane));
      ASSERT_EQ(m.v(20, lane), quotient(n, d)) << std::hexfloat << n << " / " << d;
    }
  }
}

TEST(Division, F64SequenceIsCorrectlyRounded) {
  std::mt19937_64 random(22);
  std::vector<uint64_t> edges = {0,
                                 0x8000000000000000,
                                 1,
                                 0x800fffffffffffff,
                                 0x0008000000000000,
                                 0x0010000000000000,
                                 0x3ff0000000000000,
                                 0xc008000000000000,
                                 0x7fd0000000000000,
                                 0x7fdfffffffffffff,
                                 0x7fefffffffffffff,
                                 0x7ff0000000000000,
                                 0xfff0000000000000,
                                 0x7ff8000000000123,
                                 0x7ff0000000000123,
                                 0x0350000000000000,
                                 0x6ff0000000000001};
  Divider divider("f64");
  Machine& m = divider.m;
  for (int round = 0; round < 3000; ++round) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t n = random(), d = random();
      if (round % 4 == 0) n = edges[random() % edges.size()];
      if (round % 4 <= 1) d = edges[random() % edges.size()];
      if (round % 4 == 3) d = (d & 0x800fffffffffffff) | (n & 0x7ff0000000000000);
      m.set64(0, lane, n);
      m.set64(2, lane, d);
    }
    divider.divide();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const double n = f64(m.v64(0, lane)), d = f64(m.v64(2, lane));
      ASSERT_EQ(m.v64(20, lane), quotient(n, d)) << std::hexfloat << n << " / " << d;
    }
  }
}

TEST(Division, ScaleReportsOneSidedScalingOnly) {
  Machine m;
  struct Case {
    uint32_t x, d, n, result;
    bool flag;
  };
  const uint32_t one = bits(1.0f);
  const Case cases[] = {
      {one, bits(4.0f), one, one, false},
      {one, 0, one, 0x7fc00000, false},
      {bits(4.0f), bits(4.0f), 0, 0x7fc00000, false},
      {one, one, 0x7f7fffff, bits(0x1p64f), true},      // n/d is huge: d is scaled
      {0x7f7fffff, one, 0x7f7fffff, 0x7f7fffff, true},  // … and n is not
      {1, 1, 0x00800000, bits(0x1p-85f), false},        // d is denormal: both
      {one, 0x7f000000, one, one, true},                // tiny quotient of a huge d: d only
      {0x7f000000, 0x7f000000, one, bits(0x1p63f), true},
      {0x7f000000, 0x7f000000, 0x7f000000, bits(0x1p63f), false},  // huge d: both
      {0x00800000, bits(2.0f), 0x00800000, bits(0x1p-62f), true},  // tiny quotient: n only
  };
  for (const Case& c : cases) {
    EXPECT_EQ(m.op32("v_div_scale_f32", {c.x, c.d, c.n}), c.result)
        << std::hex << c.x << " " << c.d;
    EXPECT_EQ(m.wave.vcc(), c.flag ? ~0ull : 0) << std::hex << c.x << " " << c.d << " " << c.n;
  }
}

TEST(Division, FmasScalesByTheFlagsOfVcc) {
  Machine m;
  m.wave.set_vcc(0x2);
  Instruction in = Machine::make("v_div_fmas_f32");
  in.dst = vreg(0);
  in.src[0] = constant(bits(2.0f));
  in.src[1] = constant(bits(3.0f));
  in.src[2] = constant(bits(1.0f));
  m.run_both(in);
  EXPECT_EQ(f32(m.v(0, 0)), 7.0f);
  EXPECT_EQ(f32(m.v(0, 1)), 0x7p-64f);
  in.src[2] = constant(bits(2.0f));
  m.run_both(in);
  EXPECT_EQ(f32(m.v(0, 1)), 0x1p67f);
}

// The last step of LLVM's division runs in the program's mode.
TEST(Division, FmasKeepsDenormalsThatComeInInEveryMode) {
  for (const uint8_t denormals : {0, 1, 2, 3}) {
    for (const uint64_t scaled : {uint64_t{0}, ~uint64_t{0}}) {
      Machine m;
      m.wave.set_vcc(scaled);
      m.wave.mode.denorm_f32 = denormals;
      m.wave.mode.denorm_f16_f64 = denormals;
      Instruction in = Machine::make("v_div_fmas_f32");
      in.dst = vreg(0);
      in.src[0] = constant(0x00400000);  // 2^-127
      in.src[1] = constant(bits(0x1p127f));
      in.src[2] = constant(bits(2.0f));
      m.run_both(in);
      EXPECT_EQ(f32(m.v(0, 5)), scaled != 0 ? 0x3p64f : 3.0f);
      in.src[1] = constant(bits(1.0f));
      in.src[2] = constant(0);
      m.run_both(in);
      const float tiny = (denormals & 2) != 0 ? 0x1p-127f : 0.0f;
      EXPECT_EQ(f32(m.v(0, 5)), scaled != 0 ? 0.0f : tiny);
    }
  }
}

TEST(Division, FmasScalesBeforeItRounds) {
  Machine m;
  m.wave.set_vcc(~0ull);
  Instruction in = Machine::make("v_div_fmas_f64");
  m.fill64(2, bits(0x1p520));
  m.fill64(4, bits(1.0));
  in.dst = vreg(0);
  in.src[0] = in.src[1] = vreg(2);
  in.src[2] = vreg(4);
  for (const unsigned rounding : {0u, 3u}) {
    m.wave.mode.round_f16_f64 = static_cast<uint8_t>(rounding);
    m.run_both(in, 2);
    EXPECT_EQ(f64(m.v64(0)), 0x1p912);  // 2^1040 alone would be infinite
  }
}

TEST(Division, FixupOfHalf) {
  Machine m;
  const auto fixup = [&](uint32_t q, uint32_t d, uint32_t n) {
    return m.op32("v_div_fixup_legacy_f16", {q, d, n});
  };
  EXPECT_EQ(fixup(0x4200, 0x4000, 0x4600), 0x4200u);
  EXPECT_EQ(fixup(0x4200, 0xc000, 0x4600), 0xc200u);
  EXPECT_EQ(fixup(0x7e00, 0x0000, 0x0000), 0xfe00u);
  EXPECT_EQ(fixup(0x7e00, 0x7c00, 0xfc00), 0xfe00u);
  EXPECT_EQ(fixup(0x7e00, 0x8000, 0x3c00), 0xfc00u);
  EXPECT_EQ(fixup(0x7e00, 0xfc00, 0x3c00), 0x8000u);
  EXPECT_EQ(fixup(0x3c00, 0x7c01, 0x7c02), 0x7e02u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
