#include <gtest/gtest.h>

#include <random>

#include "vgpu/isa/valu/tests/machine.h"

namespace halyard::vgpu::isa::test {
namespace {

const std::vector<uint32_t>& interesting() {
  static const std::vector<uint32_t> values = [] {
    std::vector<uint32_t> v = {0,          1,          2,          31,         32,
                               33,         0x7f,       0x80,       0xff,       0x7fff,
                               0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,
                               0xffffff,   0x1000000,  0x7fffffff, 0x80000000, 0x80000001,
                               0xfffffffe, 0xffffffff, 0x12345678, 0xa5a5f00d};
    std::mt19937 random(7);
    for (int i = 0; i < 12; ++i) v.push_back(random());
    return v;
  }();
  return values;
}

// Runs a binary operation on all pairs, 64 at a time, against `expected`.
template <class F>
void for_all_pairs(const char* mnemonic, F expected) {
  Machine m;
  const auto& values = interesting();
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const uint32_t a : values) {
    for (const uint32_t b : values) pairs.emplace_back(a, b);
  }
  for (size_t start = 0; start + kLanes <= pairs.size(); start += kLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      m.v(0, lane) = pairs[start + lane].first;
      m.v(1, lane) = pairs[start + lane].second;
    }
    Instruction in = Machine::make(mnemonic);
    in.src[0] = vreg(0);
    in.src[1] = vreg(1);
    in.dst = vreg(2);
    m.run_both(in);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto [a, b] = pairs[start + lane];
      ASSERT_EQ(m.v(2, lane), static_cast<uint32_t>(expected(a, b)))
          << mnemonic << std::hex << " " << a << " " << b;
    }
  }
}

int64_t s(uint32_t x) {
  return static_cast<int32_t>(x);
}
int64_t s24(uint32_t x) {
  return static_cast<int64_t>(x & 0xffffff) - ((x & 0x800000) ? 0x1000000 : 0);
}
uint64_t u24(uint32_t x) {
  return x % 0x1000000;
}

TEST(Integer, BinaryOperationsMatchWideArithmetic) {
  for_all_pairs("v_add_u32", [](uint64_t a, uint64_t b) { return a + b; });
  for_all_pairs("v_sub_u32", [](uint64_t a, uint64_t b) { return a - b; });
  for_all_pairs("v_subrev_u32", [](uint64_t a, uint64_t b) { return b - a; });
  for_all_pairs("v_add_i32", [](uint64_t a, uint64_t b) { return a + b; });
  for_all_pairs("v_sub_i32", [](uint64_t a, uint64_t b) { return a - b; });
  for_all_pairs("v_and_b32", [](uint32_t a, uint32_t b) { return a & b; });
  for_all_pairs("v_or_b32", [](uint32_t a, uint32_t b) { return a | b; });
  for_all_pairs("v_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; });
  for_all_pairs("v_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); });
  for_all_pairs("v_mul_lo_u32", [](uint64_t a, uint64_t b) { return a * b; });
  for_all_pairs("v_mul_hi_u32", [](uint64_t a, uint64_t b) { return a * b >> 32; });
  for_all_pairs("v_mul_hi_i32", [](uint32_t a, uint32_t b) { return s(a) * s(b) >> 32; });
  for_all_pairs("v_mul_u32_u24", [](uint32_t a, uint32_t b) { return u24(a) * u24(b); });
  for_all_pairs("v_mul_hi_u32_u24", [](uint32_t a, uint32_t b) { return u24(a) * u24(b) >> 32; });
  for_all_pairs("v_mul_i32_i24", [](uint32_t a, uint32_t b) { return s24(a) * s24(b); });
  for_all_pairs("v_mul_hi_i32_i24", [](uint32_t a, uint32_t b) { return s24(a) * s24(b) >> 32; });
  for_all_pairs("v_lshlrev_b32", [](uint32_t a, uint64_t b) { return b << (a % 32); });
  for_all_pairs("v_lshrrev_b32", [](uint32_t a, uint64_t b) { return b >> (a % 32); });
  for_all_pairs("v_ashrrev_i32", [](uint32_t a, uint32_t b) { return s(b) >> (a % 32); });
  for_all_pairs("v_min_i32", [](uint32_t a, uint32_t b) { return std::min(s(a), s(b)); });
  for_all_pairs("v_max_i32", [](uint32_t a, uint32_t b) { return std::max(s(a), s(b)); });
  for_all_pairs("v_min_u32", [](uint32_t a, uint32_t b) { return std::min(a, b); });
  for_all_pairs("v_max_u32", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  for_all_pairs("v_bcnt_u32_b32", [](uint32_t a, uint32_t b) {
    for (; a != 0; a &= a - 1) ++b;
    return b;
  });
  for_all_pairs("v_bfm_b32",
                [](uint32_t a, uint32_t b) { return ((uint64_t{1} << (a % 32)) - 1) << (b % 32); });
}

TEST(Integer, SixteenBitOperationsClearTheUpperHalf) {
  const auto w = [](uint32_t x) { return static_cast<uint16_t>(x); };
  const auto sw = [](uint32_t x) { return static_cast<int16_t>(x); };
  for_all_pairs("v_add_u16", [=](uint32_t a, uint32_t b) { return w(a + b); });
  for_all_pairs("v_sub_u16", [=](uint32_t a, uint32_t b) { return w(a - b); });
  for_all_pairs("v_subrev_u16", [=](uint32_t a, uint32_t b) { return w(b - a); });
  for_all_pairs("v_mul_lo_u16", [=](uint32_t a, uint32_t b) { return w(a * b); });
  for_all_pairs("v_lshlrev_b16",
                [=](uint32_t a, uint32_t b) { return w(uint32_t{w(b)} << (a % 16)); });
  for_all_pairs("v_lshrrev_b16", [=](uint32_t a, uint32_t b) { return w(b) >> (a % 16); });
  for_all_pairs("v_ashrrev_i16", [=](uint32_t a, uint32_t b) {
    return w(static_cast<uint32_t>(sw(b) >> (a % 16)));
  });
  for_all_pairs("v_min_i16", [=](uint32_t a, uint32_t b) {
    return w(static_cast<uint32_t>(std::min(sw(a), sw(b))));
  });
  for_all_pairs("v_max_i16", [=](uint32_t a, uint32_t b) {
    return w(static_cast<uint32_t>(std::max(sw(a), sw(b))));
  });
  for_all_pairs("v_min_u16", [=](uint32_t a, uint32_t b) { return std::min(w(a), w(b)); });
  for_all_pairs("v_max_u16", [=](uint32_t a, uint32_t b) { return std::max(w(a), w(b)); });
}

TEST(Integer, BitsAndFields) {
  Machine m;
  EXPECT_EQ(m.op32("v_bfrev_b32", {0x00000001}), 0x80000000u);
  EXPECT_EQ(m.op32("v_bfrev_b32", {0x12345678}), 0x1e6a2c48u);
  EXPECT_EQ(m.op32("v_ffbh_u32", {0}), 0xffffffffu);
  EXPECT_EQ(m.op32("v_ffbh_u32", {1}), 31u);
  EXPECT_EQ(m.op32("v_ffbh_u32", {0x80000000}), 0u);
  EXPECT_EQ(m.op32("v_ffbl_b32", {0}), 0xffffffffu);
  EXPECT_EQ(m.op32("v_ffbl_b32", {0x00f00000}), 20u);
  EXPECT_EQ(m.op32("v_ffbh_i32", {0}), 0xffffffffu);
  EXPECT_EQ(m.op32("v_ffbh_i32", {0xffffffff}), 0xffffffffu);
  EXPECT_EQ(m.op32("v_ffbh_i32", {0x40000000}), 1u);
  EXPECT_EQ(m.op32("v_ffbh_i32", {0xfffffffe}), 31u);
  EXPECT_EQ(m.op32("v_ffbh_i32", {0x80000000}), 1u);
  EXPECT_EQ(m.op32("v_not_b32", {0x0f0f0f0f}), 0xf0f0f0f0u);
  EXPECT_EQ(m.op32("v_mov_b32", {0x0f0f0f0f}), 0x0f0f0f0fu);

  EXPECT_EQ(m.op32("v_bfe_u32", {0xabcdef12, 8, 12}), 0xdefu);
  EXPECT_EQ(m.op32("v_bfe_u32", {0xabcdef12, 8, 0}), 0u);
  EXPECT_EQ(m.op32("v_bfe_u32", {0xabcdef12, 28, 16}), 0xau);
  EXPECT_EQ(m.op32("v_bfe_u32", {0xabcdef12, 40, 44}), 0xdefu);  // 5 bits count
  EXPECT_EQ(m.op32("v_bfe_i32", {0xabcdef12, 8, 12}), 0xfffffdefu);
  EXPECT_EQ(m.op32("v_bfe_i32", {0xabcdef12, 4, 4}), 1u);
  EXPECT_EQ(m.op32("v_bfe_i32", {0xabcdef12, 8, 0}), 0u);
  EXPECT_EQ(m.op32("v_bfe_i32", {0x80000000, 31, 5}), 0xffffffffu);
  EXPECT_EQ(m.op32("v_bfi_b32", {0xff00ff00, 0x11111111, 0x22222222}), 0x11221122u);

  EXPECT_EQ(m.op32("v_alignbit_b32", {0x11223344, 0x55667788, 8}), 0x44556677u);
  EXPECT_EQ(m.op32("v_alignbit_b32", {0x11223344, 0x55667788, 32}), 0x55667788u);
  EXPECT_EQ(m.op32("v_alignbyte_b32", {0x11223344, 0x55667788, 3}), 0x22334455u);
  EXPECT_EQ(m.op32("v_alignbyte_b32", {0x11223344, 0x55667788, 4}), 0x55667788u);
  EXPECT_EQ(m.op32("v_perm_b32", {0x11228344, 0x55f67788, 0x07060100}), 0x11227788u);
  EXPECT_EQ(m.op32("v_perm_b32", {0x11228344, 0x95f67788, 0x0d0c0804}), 0xff000044u);
  EXPECT_EQ(m.op32("v_perm_b32", {0x11228344, 0x95f67788, 0x0b0a09ff}), 0x00ffffffu);
}

TEST(Integer, ThreeOperandCombinations) {
  Machine m;
  EXPECT_EQ(m.op32("v_add3_u32", {0xffffffff, 2, 3}), 4u);
  EXPECT_EQ(m.op32("v_lshl_add_u32", {3, 36, 5}), 53u);
  EXPECT_EQ(m.op32("v_add_lshl_u32", {3, 4, 33}), 14u);
  EXPECT_EQ(m.op32("v_lshl_or_b32", {0xf, 8, 0x70}), 0xf70u);
  EXPECT_EQ(m.op32("v_and_or_b32", {0xff, 0x1234, 0x10000}), 0x10034u);
  EXPECT_EQ(m.op32("v_or3_b32", {1, 2, 4}), 7u);
  EXPECT_EQ(m.op32("v_xad_u32", {0xff, 0x0f, 1}), 0xf1u);
  EXPECT_EQ(m.op32("v_mad_u32_u24", {0xff000002, 3, 4}), 10u);
  EXPECT_EQ(m.op32("v_mad_i32_i24", {0x00ffffff, 3, 4}), 1u);
  EXPECT_EQ(m.op32("v_mad_u32_u16", {0xffff0002, 0x1ffff, 1}), 0x1ffffu);
  EXPECT_EQ(m.op32("v_mad_i32_i16", {0xffff, 5, 1}), 0xfffffffcu);
  EXPECT_EQ(m.op32("v_min3_i32", {5, 0xffffffff, 7}), 0xffffffffu);
  EXPECT_EQ(m.op32("v_min3_u32", {5, 0xffffffff, 7}), 5u);
  EXPECT_EQ(m.op32("v_max3_i32", {5, 0xffffffff, 7}), 7u);
  EXPECT_EQ(m.op32("v_max3_u32", {5, 0xffffffff, 7}), 0xffffffffu);
  for (const char* op : {"v_med3_i32", "v_med3_u32"}) {
    EXPECT_EQ(m.op32(op, {1, 2, 3}), 2u);
    EXPECT_EQ(m.op32(op, {3, 1, 2}), 2u);
    EXPECT_EQ(m.op32(op, {2, 3, 1}), 2u);
    EXPECT_EQ(m.op32(op, {2, 2, 1}), 2u);
    EXPECT_EQ(m.op32(op, {1, 3, 3}), 3u);
  }
  EXPECT_EQ(m.op32("v_med3_i32", {0xffffffff, 0, 1}), 0u);
  EXPECT_EQ(m.op32("v_med3_u32", {0xffffffff, 0, 1}), 1u);
}

// Amounts that are the same in all lanes take a loop of their own.
TEST(Integer, UniformAmountsGiveWhatVectorAmountsGive) {
  struct Case {
    const char* mnemonic;
    unsigned amounts;  // a bit for each source
    unsigned dwords;
  };
  const Case cases[] = {{"v_lshlrev_b32", 1, 1},  {"v_lshrrev_b32", 1, 1}, {"v_ashrrev_i32", 1, 1},
                        {"v_lshlrev_b64", 1, 2},  {"v_lshrrev_b64", 1, 2}, {"v_ashrrev_i64", 1, 2},
                        {"v_lshl_add_u32", 2, 1}, {"v_lshl_or_b32", 2, 1}, {"v_add_lshl_u32", 4, 1},
                        {"v_bfe_u32", 6, 1},      {"v_bfe_i32", 6, 1},     {"v_alignbit_b32", 4, 1},
                        {"v_alignbyte_b32", 4, 1}};
  std::mt19937 random(17);
  for (const Case& c : cases) {
    for (unsigned amount = 0; amount < 70; ++amount) {
      Machine m;
      Instruction in = Machine::make(c.mnemonic);
      for (unsigned i = 0; i < 3; ++i) {
        for (unsigned lane = 0; lane < kLanes; ++lane) m.v(2 * i, lane) = random();
        for (unsigned lane = 0; lane < kLanes; ++lane) m.v(2 * i + 1, lane) = random();
        if (c.amounts >> i & 1) m.fill(2 * i, amount + i);
        in.src[i] = vreg(2 * i);
      }
      in.dst = vreg(8);
      m.run_both(in, c.dwords);
      in.dst = vreg(10);
      m.wave.sgpr[5] = amount + 1;
      for (unsigned i = 0; i < 3; ++i) {
        if (c.amounts >> i & 1) in.src[i] = i == 1 ? sreg(5) : constant(amount + i);
      }
      m.run_both(in, c.dwords);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned d = 0; d < c.dwords; ++d) {
          ASSERT_EQ(m.v(8 + d, lane), m.v(10 + d, lane)) << c.mnemonic << " by " << amount;
        }
      }
    }
  }
}

TEST(Integer, SumsOfAbsoluteDifferences) {
  Machine m;
  const uint32_t a = 0x10ff0005, b = 0x20010a05;
  EXPECT_EQ(m.op32("v_sad_u8", {a, b, 7}), 7u + 0x10 + 0xfe + 0x0a);
  EXPECT_EQ(m.op32("v_sad_hi_u8", {a, b, 7}), ((0x10u + 0xfe + 0x0a) << 16) + 7);
  EXPECT_EQ(m.op32("v_sad_u16", {a, b, 7}), 7u + (0x2001 - 0x10ff) + 0x0a00);
  EXPECT_EQ(m.op32("v_sad_u32", {a, b, 7}), b - a + 7);
  EXPECT_EQ(m.op32("v_msad_u8", {0x10ff0005, 0x20000a05, 7}), 7u + 0x10 + 0x0a);
  EXPECT_EQ(m.op32("v_lerp_u8", {0x01ff0003, 0x02ff0100, 0x01000001}), 0x02ff0002u);
}

TEST(Integer, QuadSumsSlideOverEightBytes) {
  Machine m;
  const uint64_t a = 0x0807060504030201;
  const uint32_t b = 0x04030201;
  m.fill64(0, a);
  m.fill(2, b);
  m.fill64(4, 0x0004000300020001);
  Instruction in = Machine::make("v_qsad_pk_u16_u8");
  in.src[0] = vreg(0);
  in.src[1] = vreg(2);
  in.src[2] = vreg(4);
  in.dst = vreg(12);
  m.run_both(in, 2);
  // Shifting by one byte adds 1 to each of four distances.
  EXPECT_EQ(m.v64(12, 9), 0x0010'000b'0006'0001u);

  m.fill(2, 0x04000201);
  in.extra->mnemonic = "v_mqsad_pk_u16_u8";
  m.run_both(in, 2);
  EXPECT_EQ(m.v64(12, 9), 0x000d'0009'0005'0001u);

  for (unsigned d = 0; d < 4; ++d) m.fill(8 + d, 100 * d);
  in.extra->mnemonic = "v_mqsad_u32_u8";
  in.src[2] = vreg(8);
  in.dst = vreg(8);  // in place
  m.run_both(in, 4);
  for (unsigned d = 0; d < 4; ++d) EXPECT_EQ(m.v(8 + d, 63), 103 * d);
}

TEST(Integer, SixtyFourBitShifts) {
  Machine m;
  const uint64_t x = 0x8123456789abcdef;
  for (const unsigned n : {0u, 1u, 31u, 32u, 33u, 63u, 64u, 100u}) {
    Instruction in = Machine::make("v_lshlrev_b64");
    m.fill64(2, x);
    in.src[0] = constant(n);
    in.src[1] = vreg(2);
    in.dst = vreg(4);
    m.run_both(in, 2);
    EXPECT_EQ(m.v64(4), x << (n % 64));
    in.extra->mnemonic = "v_lshrrev_b64";
    m.run_both(in, 2);
    EXPECT_EQ(m.v64(4), x >> (n % 64));
    in.extra->mnemonic = "v_ashrrev_i64";
    m.run_both(in, 2);
    EXPECT_EQ(m.v64(4), static_cast<uint64_t>(static_cast<int64_t>(x) >> (n % 64)));
  }
}

TEST(Integer, CarriesChainInto64BitArithmetic) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    Machine m;
    std::vector<std::pair<uint64_t, uint64_t>> inputs(kLanes);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t a = random(), b = random();
      if (lane % 4 == 0) b = ~a;
      if (lane % 4 == 1) b = a;
      if (lane % 8 == 2) a |= 0xffffffff;
      inputs[lane] = {a, b};
      m.set64(0, lane, a);
      m.set64(2, lane, b);
    }
    const auto chain = [&](const char* low, const char* high, auto expected) {
      Instruction in = Machine::make(low, Format::kVop2);
      in.src[0] = vreg(0);
      in.src[1] = vreg(2);
      in.dst = vreg(4);
      m.run_both(in);
      in.extra->mnemonic = high;
      in.src[0] = vreg(1);
      in.src[1] = vreg(3);
      in.src[2] = vcc();
      in.dst = vreg(5);
      m.run_both(in);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto [a, b] = inputs[lane];
        const unsigned __int128 wide = expected(a, b);
        EXPECT_EQ(m.v64(4, lane), static_cast<uint64_t>(wide)) << low;
        EXPECT_EQ(m.wave.vcc() >> lane & 1, static_cast<uint64_t>(wide >> 64) & 1) << high;
      }
    };
    using Wide = unsigned __int128;
    chain("v_add_co_u32", "v_addc_co_u32", [](Wide a, Wide b) { return a + b; });
    chain("v_sub_co_u32", "v_subb_co_u32", [](Wide a, Wide b) { return a - b; });
    chain("v_subrev_co_u32", "v_subbrev_co_u32", [](Wide a, Wide b) { return b - a; });
  }
}

TEST(Integer, CarryInputsFromASgprPairAndCarryOfCarry) {
  Machine m;
  m.fill(0, 0xffffffff);
  m.fill(1, 0xffffffff);
  m.wave.set_scalar64(30, 0x5);
  Instruction in = Machine::make("v_addc_co_u32");
  in.src[0] = vreg(0);
  in.src[1] = vreg(1);
  in.src[2] = sreg(30);
  in.dst = vreg(2);
  in.sdst = sreg(32);
  m.run_both(in);
  EXPECT_EQ(m.v(2, 0), 0xffffffffu);
  EXPECT_EQ(m.v(2, 1), 0xfffffffeu);
  EXPECT_EQ(m.wave.scalar64(32), ~0ull);
  in.extra->mnemonic = "v_subb_co_u32";
  m.run_both(in);
  EXPECT_EQ(m.v(2, 0), 0xffffffffu);
  EXPECT_EQ(m.v(2, 1), 0u);
  EXPECT_EQ(m.wave.scalar64(32), 5u);
}

TEST(Integer, WideMultiplyAdd) {
  Machine m;
  const auto run = [&](const char* mnemonic, uint32_t a, uint32_t b, uint64_t c) {
    m.fill(0, a);
    m.fill(1, b);
    m.fill64(2, c);
    Instruction in = Machine::make(mnemonic);
    in.src[0] = vreg(0);
    in.src[1] = vreg(1);
    in.src[2] = vreg(2);
    in.dst = vreg(2);
    m.run_both(in, 2);
    return m.v64(2, 50);
  };
  EXPECT_EQ(run("v_mad_u64_u32", 0xffffffff, 0xffffffff, 0x1fffffffe), ~0ull);
  EXPECT_EQ(m.wave.vcc(), 0u);
  EXPECT_EQ(run("v_mad_u64_u32", 0xffffffff, 0xffffffff, 0x1ffffffff), 0u);
  EXPECT_EQ(m.wave.vcc(), ~0ull);
  EXPECT_EQ(run("v_mad_i64_i32", 0xffffffff, 7, 3), static_cast<uint64_t>(-4));
  EXPECT_EQ(m.wave.vcc(), ~0ull);
  EXPECT_EQ(run("v_mad_i64_i32", 0x7fffffff, 0x7fffffff, 0x7fffffffffffffff),
            0x7fffffffffffffffull + 0x3fffffff00000001ull);
  EXPECT_EQ(m.wave.vcc(), 0u);  // the 65-bit sum is positive
}

TEST(Integer, ClampSaturates) {
  Machine m;
  const auto clamped = [&](const char* mnemonic, std::vector<uint32_t> operands) {
    Instruction in = Machine::make(mnemonic);
    for (unsigned i = 0; i < operands.size(); ++i) {
      m.fill(i, operands[i]);
      in.src[i] = vreg(i);
    }
    in.dst = vreg(8);
    m.fill(8, 0);
    in.clamp = true;
    m.run(in);
    return m.v(8, 60);
  };
  EXPECT_EQ(clamped("v_add_u32", {0xfffffff0, 0x20}), 0xffffffffu);
  EXPECT_EQ(clamped("v_add_u32", {1, 2}), 3u);
  EXPECT_EQ(clamped("v_sub_u32", {1, 2}), 0u);
  EXPECT_EQ(clamped("v_subrev_u32", {1, 2}), 1u);
  EXPECT_EQ(clamped("v_add_i32", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(clamped("v_add_i32", {0x80000000, 0xffffffff}), 0x80000000u);
  EXPECT_EQ(clamped("v_sub_i32", {0x80000000, 1}), 0x80000000u);
  EXPECT_EQ(clamped("v_sub_i32", {5, 0xffffffff}), 6u);
  EXPECT_EQ(clamped("v_add_co_u32", {0xfffffff0, 0x20}), 0xffffffffu);
  EXPECT_EQ(m.wave.vcc(), ~0ull);
  EXPECT_EQ(clamped("v_sub_co_u32", {1, 2}), 0u);
  EXPECT_EQ(clamped("v_add_u16", {0xfff0, 0x20}), 0xffffu);
  EXPECT_EQ(clamped("v_sub_u16", {1, 2}), 0u);
  EXPECT_EQ(clamped("v_mul_lo_u16", {0x1000, 0x10}), 0xffffu);
  EXPECT_EQ(clamped("v_add_i16", {0x7fff, 1}), 0x7fffu);
  EXPECT_EQ(clamped("v_sub_i16", {0x8000, 1}), 0x8000u);
  EXPECT_EQ(clamped("v_mad_u16", {0x1000, 0x10, 0}), 0xffffu);
  EXPECT_EQ(clamped("v_mad_i16", {0x8000, 0x7fff, 0}), 0x8000u);
  EXPECT_EQ(clamped("v_mad_u32_u24", {0xffffff, 0xffffff, 0}), 0xffffffffu);
  EXPECT_EQ(clamped("v_mad_i32_i24", {0x800000, 0x7fffff, 0}), 0x80000000u);
  EXPECT_EQ(clamped("v_sad_u32", {0xffffffff, 0, 1}), 0xffffffffu);
  EXPECT_EQ(clamped("v_sad_u8", {0xff, 0, 0xffffffff}), 0xffffffffu);
}

TEST(Integer, ConditionalMaskFromVccOrAnSgprPair) {
  Machine m;
  m.fill(0, 10);
  m.fill(1, 20);
  m.wave.set_vcc(0xaaaaaaaaaaaaaaaa);
  Instruction in = Machine::make("v_cndmask_b32", Format::kVop2);
  in.src[0] = vreg(0);
  in.src[1] = vreg(1);
  in.src[2] = vcc();
  in.dst = vreg(0);
  m.run_both(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(m.v(0, lane), lane % 2 ? 20u : 10u);
  in.src[2] = constant(~0ull);
  m.run_both(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(m.v(0, lane), 20u);
}

TEST(Integer, LaneCountsBelow) {
  Machine m;
  Instruction in = Machine::make("v_mbcnt_lo_u32_b32");
  in.src[0] = constant(0xffffffff);
  in.src[1] = constant(0);
  in.dst = vreg(0);
  m.run_both(in);
  in.extra->mnemonic = "v_mbcnt_hi_u32_b32";
  in.src[1] = vreg(0);
  m.run_both(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(m.v(0, lane), lane);
  in.src[0] = constant(0xa);
  in.src[1] = constant(100);
  m.run_both(in);
  EXPECT_EQ(m.v(0, 33), 100u);
  EXPECT_EQ(m.v(0, 34), 101u);
  EXPECT_EQ(m.v(0, 63), 102u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::test
