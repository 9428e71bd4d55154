#include <gtest/gtest.h>

#include <cmath>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

constexpr uint32_t kInfF32 = 0x7f800000, kNegInfF32 = 0xff800000, kNan = 0x7fc00000;

// Instructions whose operands and results have different widths: any registers, raw bits.
uint64_t convert(Machine& m, const char* mnemonic, std::vector<uint64_t> operands) {
  Instruction in = Machine::make(mnemonic);
  for (unsigned i = 0; i < operands.size(); ++i) {
    m.fill64(2 * i, operands[i]);
    in.src[i] = vreg(2 * i);
  }
  in.dst = vreg(8);
  m.fill64(8, 0);
  m.run_both(in, 2);
  return m.v64(8, 21);
}

TEST(Convert, F32ToIntegersTruncatesSaturatesAndZeroesNan) {
  Machine m;
  struct Case {
    float x;
    int32_t i;
    uint32_t u;
  };
  const Case cases[] = {
      {0.0f, 0, 0},
      {0.99f, 0, 0},
      {-0.99f, 0, 0},
      {-1.5f, -1, 0},
      {16777217.0f, 16777216, 16777216},
      {2147483520.0f, 2147483520, 2147483520u},
      {2147483648.0f, INT32_MAX, 2147483648u},
      {4294967040.0f, INT32_MAX, 4294967040u},
      {4294967296.0f, INT32_MAX, UINT32_MAX},
      {1e30f, INT32_MAX, UINT32_MAX},
      {-2147483648.0f, INT32_MIN, 0},
      {-1e30f, INT32_MIN, 0},
      {INFINITY, INT32_MAX, UINT32_MAX},
      {-INFINITY, INT32_MIN, 0},
      {NAN, 0, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(m.op32("v_cvt_i32_f32", {bits(c.x)}), static_cast<uint32_t>(c.i)) << c.x;
    EXPECT_EQ(m.op32("v_cvt_u32_f32", {bits(c.x)}), c.u) << c.x;
    const double x = c.x;
    EXPECT_EQ(convert(m, "v_cvt_i32_f64", {bits(x)}), static_cast<uint32_t>(c.i)) << c.x;
    EXPECT_EQ(convert(m, "v_cvt_u32_f64", {bits(x)}), c.u) << c.x;
  }
  EXPECT_EQ(convert(m, "v_cvt_i32_f64", {bits(2147483647.9)}), 2147483647u);
  EXPECT_EQ(convert(m, "v_cvt_u32_f64", {bits(4294967295.9)}), 4294967295u);
}

TEST(Convert, IntegersToFloats) {
  Machine m;
  EXPECT_EQ(m.op32("v_cvt_f32_i32", {0x80000000}), bits(-2147483648.0f));
  EXPECT_EQ(m.op32("v_cvt_f32_u32", {0xffffffff}), bits(4294967296.0f));
  EXPECT_EQ(m.op32("v_cvt_f32_u32", {0xffffff7f}), bits(4294967040.0f));
  EXPECT_EQ(m.op32("v_cvt_f32_u32", {0x01000001}), bits(16777216.0f));
  EXPECT_EQ(m.op32("v_cvt_f32_u32", {0x01000003}), bits(16777220.0f));
  EXPECT_EQ(convert(m, "v_cvt_f64_i32", {0xffffffff}), bits(-1.0));
  EXPECT_EQ(convert(m, "v_cvt_f64_u32", {0xffffffff}), bits(4294967295.0));
  m.wave.mode.round_f32 = 3;
  EXPECT_EQ(m.op32("v_cvt_f32_u32", {0xffffffff}), bits(4294967040.0f));
  m.wave.mode.round_f32 = 1;
  EXPECT_EQ(m.op32("v_cvt_f32_i32", {0x01000001}), bits(16777218.0f));
}

TEST(Convert, UnsignedBytes) {
  Machine m;
  const uint32_t x = 0xff804001;
  EXPECT_EQ(f32(m.op32("v_cvt_f32_ubyte0", {x})), 1.0f);
  EXPECT_EQ(f32(m.op32("v_cvt_f32_ubyte1", {x})), 64.0f);
  EXPECT_EQ(f32(m.op32("v_cvt_f32_ubyte2", {x})), 128.0f);
  EXPECT_EQ(f32(m.op32("v_cvt_f32_ubyte3", {x})), 255.0f);
}

TEST(Convert, BetweenFloatWidths) {
  Machine m;
  EXPECT_EQ(convert(m, "v_cvt_f64_f32", {bits(-1.5f)}), bits(-1.5));
  EXPECT_EQ(convert(m, "v_cvt_f64_f32", {1}), bits(0x1p-149));
  EXPECT_EQ(convert(m, "v_cvt_f64_f32", {0xff800001}), 0xfff8000020000000u);
  EXPECT_EQ(convert(m, "v_cvt_f32_f64", {bits(1e40)}), kInfF32);
  EXPECT_EQ(convert(m, "v_cvt_f32_f64", {bits(-0x1p-149)}), 0x80000001u);
  EXPECT_EQ(convert(m, "v_cvt_f32_f64", {0x7ff0000020000001}), 0x7fc00001u);
  EXPECT_EQ(convert(m, "v_cvt_f32_f64", {0x7ff0000000000001}), kNan);
  EXPECT_EQ(m.op32("v_cvt_f32_f16", {0xabcd3c00}), bits(1.0f));
  EXPECT_EQ(m.op32("v_cvt_f32_f16", {0x7c01}), 0x7fc02000u);
  EXPECT_EQ(m.op32("v_cvt_f32_f16", {0x8001}), bits(-0x1p-24f));
  EXPECT_EQ(m.op32("v_cvt_f16_f32", {bits(-65520.0f)}), 0xfc00u);
  EXPECT_EQ(m.op32("v_cvt_f16_f32", {bits(0x1p-24f)}), 0x0001u);
  m.wave.mode.round_f32 = 3;
  EXPECT_EQ(convert(m, "v_cvt_f32_f64", {bits(1e40)}), 0x7f7fffffu);
  m.wave.mode.round_f16_f64 = 3;
  EXPECT_EQ(m.op32("v_cvt_f16_f32", {bits(-65520.0f)}), 0xfbffu);
  m.wave.mode.denorm_f16_f64 = 0;
  EXPECT_EQ(m.op32("v_cvt_f32_f16", {0x8001}), 0x80000000u);
  EXPECT_EQ(m.op32("v_cvt_f16_f32", {bits(0x1p-24f)}), 0u);
}

TEST(Convert, HalfAndIntegers) {
  Machine m;
  EXPECT_EQ(m.op32("v_cvt_f16_u16", {0xffff}), 0x7c00u);
  EXPECT_EQ(m.op32("v_cvt_f16_u16", {2049}), 0x6800u);
  EXPECT_EQ(m.op32("v_cvt_f16_i16", {0xffff}), 0xbc00u);
  EXPECT_EQ(m.op32("v_cvt_i16_f16", {0x7c00}), 0x7fffu);
  EXPECT_EQ(m.op32("v_cvt_i16_f16", {0xfbff}), 0x8000u);
  EXPECT_EQ(m.op32("v_cvt_i16_f16", {0xf7ff}), 0x8010u);  // the least above the range's end
  EXPECT_EQ(m.op32("v_cvt_u16_f16", {0x3c00}), 1u);
  EXPECT_EQ(m.op32("v_cvt_i16_f16", {0xbe00}), 0xffffu);  // -1.5
  EXPECT_EQ(m.op32("v_cvt_u16_f16", {0xbe00}), 0u);
  EXPECT_EQ(m.op32("v_cvt_u16_f16", {0x7e00}), 0u);
  EXPECT_EQ(m.op32("v_cvt_u16_f16", {0x7c00}), 0xffffu);
}

TEST(Convert, RoundHalfUpFloorAndFourBitOffsets) {
  Machine m;
  EXPECT_EQ(m.op32("v_cvt_rpi_i32_f32", {bits(1.5f)}), 2u);
  EXPECT_EQ(m.op32("v_cvt_rpi_i32_f32", {bits(-1.5f)}), static_cast<uint32_t>(-1));
  EXPECT_EQ(m.op32("v_cvt_rpi_i32_f32", {bits(-1.6f)}), static_cast<uint32_t>(-2));
  EXPECT_EQ(m.op32("v_cvt_flr_i32_f32", {bits(-1.1f)}), static_cast<uint32_t>(-2));
  EXPECT_EQ(m.op32("v_cvt_flr_i32_f32", {kNan}), 0u);
  EXPECT_EQ(m.op32("v_cvt_flr_i32_f32", {kNegInfF32}), 0x80000000u);
  for (int i = 0; i < 16; ++i) {
    const float expected = static_cast<float>(i < 8 ? i : i - 16) / 16;
    EXPECT_EQ(f32(m.op32("v_cvt_off_f32_i4", {0xfffffff0u | static_cast<uint32_t>(i)})), expected);
  }
}

TEST(Convert, NormalisedIntegers) {
  Machine m;
  EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f32", {bits(1.0f), bits(-1.0f)}), 0x80017fffu);
  EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f32", {bits(9.0f), bits(-9.0f)}), 0x80017fffu);
  EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f32", {bits(0.5f), kNan}), 0x00004000u);
  EXPECT_EQ(m.op32("v_cvt_pknorm_u16_f32", {bits(1.0f), bits(-1.0f)}), 0x0000ffffu);
  EXPECT_EQ(m.op32("v_cvt_pknorm_u16_f32", {bits(0.5f), kInfF32}), 0xffff8000u);
  EXPECT_EQ(m.op32("v_cvt_pknorm_i16_f16", {0x3c00, 0xbc00}), 0x80017fffu);
  EXPECT_EQ(m.op32("v_cvt_pknorm_u16_f16", {0x3c00, 0x3800}), 0x8000ffffu);
  EXPECT_EQ(m.op32("v_cvt_norm_i16_f16", {0xfc00}), 0x8001u);
  EXPECT_EQ(m.op32("v_cvt_norm_u16_f16", {0x7e00}), 0u);
}

TEST(Convert, Packing) {
  Machine m;
  EXPECT_EQ(m.op32("v_cvt_pk_u16_u32", {0x12345, 0x1234}), 0x1234ffffu);
  EXPECT_EQ(m.op32("v_cvt_pk_i16_i32", {0x80000000, 0x7fffffff}), 0x7fff8000u);
  EXPECT_EQ(m.op32("v_cvt_pk_i16_i32", {0xffffffff, 5}), 0x0005ffffu);
  EXPECT_EQ(m.op32("v_pack_b32_f16", {0xaaaa1111, 0xbbbb2222}), 0x22221111u);
  EXPECT_EQ(m.op32("v_sat_pk_u8_i16", {0xffff0123}), 0x00ffu);
  EXPECT_EQ(m.op32("v_sat_pk_u8_i16", {0x00120034}), 0x1234u);
  for (const uint8_t mode : {0, 1, 2, 3}) {
    m.wave.mode.round_f16_f64 = mode;
    EXPECT_EQ(m.op32("v_cvt_pkrtz_f16_f32", {bits(1.0009f), bits(-70000.0f)}), 0xfbff3c00u);
    EXPECT_EQ(m.op32("v_cvt_pkrtz_f16_f32", {kInfF32, bits(0x1.8p-25f)}), 0x00007c00u);
  }
  EXPECT_EQ(m.op32("v_cvt_pk_u8_f32", {bits(200.7f), 2, 0x11223344}), 0x11c83344u);
  EXPECT_EQ(m.op32("v_cvt_pk_u8_f32", {bits(-1.0f), 4, 0x11223344}), 0x11223300u);
  EXPECT_EQ(m.op32("v_cvt_pk_u8_f32", {bits(1.0f), 0, 0x11223344}), 0x11223301u);
  EXPECT_EQ(m.op32("v_cvt_pk_u8_f32", {bits(1000.0f), 3, 0x11223344}), 0xff223344u);
  m.fill(8, 0x11223344);
  EXPECT_EQ(m.op32("v_cvt_pkaccum_u8_f32", {bits(7.0f), 1}), 0x11220744u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
