// Scalar instructions on edge cases: results, SCC, EXEC, jumps and hardware registers.

#include <gmock/gmock.h>

#include <cstring>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::ElementsAre;

struct ScalarState {
  uint32_t s16[4];
  uint32_t scc;
  uint32_t m0;
  uint64_t exec;
  uint64_t vcc;
  uint32_t u32() const { return s16[0]; }
  uint64_t u64() const { return s16[0] | static_cast<uint64_t>(s16[1]) << 32; }
};

class Scalar : public ::testing::Test {
 protected:
  Machine machine;

  // Runs `text` with s[8:15] = inputs and SCC = 0; s[16:19] start as 0x51515151.
  ScalarState run(const std::string& text, std::vector<uint32_t> inputs = {}) {
    inputs.resize(8);
    auto* in = machine.allocate<uint32_t>(8);
    auto* out = machine.allocate<ScalarState>(1);
    std::memcpy(in, inputs.data(), 32);
    machine.expect_ok(R"(
      s_load_dwordx4 s[4:7], s[0:1], 0x0
      s_waitcnt lgkmcnt(0)
      s_load_dwordx8 s[8:15], s[4:5], 0x0
      s_mov_b32 s16, 0x51515151
      s_mov_b32 s17, s16
      s_mov_b32 s18, s16
      s_mov_b32 s19, s16
      s_cmp_eq_u32 s16, 0
      s_waitcnt lgkmcnt(0)
      )" + text + R"(
      s_cselect_b32 s20, 1, 0
      s_mov_b32 s21, m0
      s_mov_b64 s[22:23], exec
      s_mov_b64 s[24:25], vcc
      s_store_dwordx4 s[16:19], s[6:7], 0x0
      s_store_dwordx4 s[20:23], s[6:7], 0x10
      s_store_dwordx2 s[24:25], s[6:7], 0x20
      s_dcache_wb)",
                      {address_of(in), address_of(out)});
    return *out;
  }

  ScalarState op32(const std::string& name, uint32_t a, uint32_t b) {
    return run(name + " s16, s8, s9", {a, b});
  }
  ScalarState op64(const std::string& name, uint64_t a, uint64_t b) {
    return run(name + " s[16:17], s[8:9], s[10:11]",
               {static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32), static_cast<uint32_t>(b),
                static_cast<uint32_t>(b >> 32)});
  }
  // The second source is one register: shift amounts and bit-field positions.
  void expect_shift64(const std::string& name, uint64_t a, uint32_t b, uint64_t result,
                      uint32_t scc) {
    expect1(name + " s[16:17], s[8:9], s10",
            {static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32), b}, result, scc, true);
  }
  void expect32(const std::string& name, uint32_t a, uint32_t b, uint32_t result, uint32_t scc) {
    const ScalarState s = op32(name, a, b);
    EXPECT_EQ(s.u32(), result) << name << " " << a << " " << b;
    EXPECT_EQ(s.scc, scc) << name << " " << a << " " << b;
  }
  void expect64(const std::string& name, uint64_t a, uint64_t b, uint64_t result, uint32_t scc) {
    const ScalarState s = op64(name, a, b);
    EXPECT_EQ(s.u64(), result) << name << " " << a << " " << b;
    EXPECT_EQ(s.scc, scc) << name << " " << a << " " << b;
  }
  void expect1(const std::string& text, std::vector<uint32_t> inputs, uint64_t result, uint32_t scc,
               bool wide = false) {
    const ScalarState s = run(text, std::move(inputs));
    EXPECT_EQ(wide ? s.u64() : s.u32(), result) << text;
    EXPECT_EQ(s.scc, scc) << text;
  }
};

TEST_F(Scalar, AddAndSubtractReportCarryBorrowAndOverflow) {
  expect32("s_add_u32", 0xffffffff, 1, 0, 1);
  expect32("s_add_u32", 0xfffffffe, 1, 0xffffffff, 0);
  expect32("s_sub_u32", 0, 1, 0xffffffff, 1);
  expect32("s_sub_u32", 5, 5, 0, 0);
  expect32("s_add_i32", 0x7fffffff, 1, 0x80000000, 1);
  expect32("s_add_i32", 0xffffffff, 1, 0, 0);
  expect32("s_sub_i32", 0x80000000, 1, 0x7fffffff, 1);
  expect32("s_sub_i32", 0, 0x80000000, 0x80000000, 1);
  expect32("s_sub_i32", 3, 7, 0xfffffffc, 0);
  expect32("s_absdiff_i32", 3, 7, 4, 1);
  expect32("s_absdiff_i32", 7, 7, 0, 0);
  expect32("s_absdiff_i32", 0x80000000, 0, 0x80000000, 1);
}

TEST_F(Scalar, CarryIsTakenIn) {
  const std::string set = "s_cmp_eq_u32 s8, s8\n";
  expect1(set + "s_addc_u32 s16, s8, s9", {0xffffffff, 0}, 0, 1);
  expect1(set + "s_addc_u32 s16, s8, s9", {1, 2}, 4, 0);
  expect1(set + "s_subb_u32 s16, s8, s9", {5, 5}, 0xffffffff, 1);
  expect1(set + "s_subb_u32 s16, s8, s9", {5, 0xffffffff}, 5, 1);
  expect1(set + "s_subb_u32 s16, s8, s9", {6, 5}, 0, 0);
  expect1("s_subb_u32 s16, s8, s9", {5, 5}, 0, 0);
}

TEST_F(Scalar, MinimumAndMaximumSayWhichWasChosen) {
  expect32("s_min_i32", 0xffffffff, 1, 0xffffffff, 1);
  expect32("s_min_u32", 0xffffffff, 1, 1, 0);
  expect32("s_max_i32", 0xffffffff, 1, 1, 0);
  expect32("s_max_u32", 0xffffffff, 1, 0xffffffff, 1);
}

TEST_F(Scalar, LogicSetsSccIfTheResultIsNotZero) {
  expect32("s_and_b32", 0xf0f0, 0x0f0f, 0, 0);
  expect32("s_or_b32", 0xf0f0, 0x0f0f, 0xffff, 1);
  expect32("s_xor_b32", 0xff, 0xff, 0, 0);
  expect32("s_andn2_b32", 0xff, 0x0f, 0xf0, 1);
  expect32("s_orn2_b32", 0, 0xffffffff, 0, 0);
  expect32("s_nand_b32", 0xffffffff, 0xffffffff, 0, 0);
  expect32("s_nor_b32", 0, 0, 0xffffffff, 1);
  expect32("s_xnor_b32", 0, 0xffffffff, 0, 0);
  expect64("s_and_b64", 0xff00000000, 0xf000000000, 0xf000000000, 1);
  expect64("s_andn2_b64", ~0ull, 0xffffffff, 0xffffffff00000000, 1);
  expect64("s_xor_b64", 1ull << 63, 1ull << 63, 0, 0);
  expect64("s_nor_b64", 0, 0, ~0ull, 1);
}

TEST_F(Scalar, ShiftsUseTheLowBitsOfTheAmount) {
  expect32("s_lshl_b32", 1, 31, 0x80000000, 1);
  expect32("s_lshl_b32", 1, 32, 1, 1);
  expect32("s_lshl_b32", 0x80000000, 1, 0, 0);
  expect32("s_lshr_b32", 0x80000000, 31, 1, 1);
  expect32("s_ashr_i32", 0x80000000, 31, 0xffffffff, 1);
  expect_shift64("s_lshl_b64", 1, 63, 1ull << 63, 1);
  expect_shift64("s_lshl_b64", 1, 64, 1, 1);
  expect_shift64("s_lshr_b64", 1ull << 63, 63, 1, 1);
  expect_shift64("s_ashr_i64", 1ull << 63, 62, ~1ull, 1);
}

TEST_F(Scalar, BitFieldsOfEveryWidth) {
  expect32("s_bfe_u32", 0xabcd1234, 8 << 16 | 4, 0x23, 1);
  expect32("s_bfe_u32", 0xabcd1234, 0, 0, 0);
  expect32("s_bfe_u32", 0xabcd1234, 32 << 16, 0xabcd1234, 1);
  expect32("s_bfe_u32", 0xabcd1234, 127 << 16 | 16, 0xabcd, 1);
  expect32("s_bfe_i32", 0x000000f0, 4 << 16 | 4, 0xffffffff, 1);
  expect32("s_bfe_i32", 0x00000070, 4 << 16 | 4, 7, 1);
  expect32("s_bfe_i32", 0x80000000, 16 << 16 | 24, 0xffffff80, 1);
  expect_shift64("s_bfe_u64", 0x123456789abcdef0, 32 << 16 | 32, 0x12345678, 1);
  expect_shift64("s_bfe_i64", 0xf0ull << 56, 4 << 16 | 60, ~0ull, 1);
  expect1("s_bfm_b32 s16, s8, s9", {5, 3}, 0xf8, 0);
  expect1("s_bfm_b32 s16, s8, s9", {32, 3}, 0, 0);
  expect1("s_bfm_b64 s[16:17], s8, s9", {40, 20}, ((1ull << 40) - 1) << 20, 0, true);
}

TEST_F(Scalar, MultiplicationAndPacking) {
  expect1("s_mul_i32 s16, s8, s9", {0xffffffff, 7}, 0xfffffff9, 0);
  expect1("s_mul_hi_u32 s16, s8, s9", {0xffffffff, 0xffffffff}, 0xfffffffe, 0);
  expect1("s_mul_hi_i32 s16, s8, s9", {0xffffffff, 0xffffffff}, 0, 0);
  expect1("s_mul_hi_i32 s16, s8, s9", {0x80000000, 2}, 0xffffffff, 0);
  expect1("s_pack_ll_b32_b16 s16, s8, s9", {0x11112222, 0x33334444}, 0x44442222, 0);
  expect1("s_pack_lh_b32_b16 s16, s8, s9", {0x11112222, 0x33334444}, 0x33332222, 0);
  expect1("s_pack_hh_b32_b16 s16, s8, s9", {0x11112222, 0x33334444}, 0x33331111, 0);
  expect32("s_lshl1_add_u32", 0x80000000, 5, 5, 1);
  expect32("s_lshl4_add_u32", 3, 5, 53, 0);
}

TEST_F(Scalar, SelectAndConditionalMoves) {
  const std::string set = "s_cmp_eq_u32 s8, s8\n";
  expect1("s_cselect_b32 s16, s8, s9", {1, 2}, 2, 0);
  expect1(set + "s_cselect_b32 s16, s8, s9", {1, 2}, 1, 1);
  expect1(set + "s_cselect_b64 s[16:17], s[8:9], s[10:11]", {1, 2, 3, 4}, 0x200000001, 1, true);
  expect1("s_cmov_b32 s16, s8", {7}, 0x51515151, 0);
  expect1(set + "s_cmov_b32 s16, s8", {7}, 7, 1);
  expect1("s_cmovk_i32 s16, -3", {}, 0x51515151, 0);
  expect1(set + "s_cmovk_i32 s16, -3", {}, 0xfffffffd, 1);
}

TEST_F(Scalar, BitCountingAndSearching) {
  expect1("s_bcnt1_i32_b32 s16, s8", {0xf0f0}, 8, 1);
  expect1("s_bcnt0_i32_b32 s16, s8", {0xffffffff}, 0, 0);
  expect1("s_bcnt1_i32_b64 s16, s[8:9]", {1, 0x80000000}, 2, 1);
  expect1("s_ff1_i32_b32 s16, s8", {0}, 0xffffffff, 0);
  expect1("s_ff1_i32_b32 s16, s8", {0x100}, 8, 0);
  expect1("s_ff0_i32_b32 s16, s8", {0xffffffff}, 0xffffffff, 0);
  expect1("s_ff0_i32_b64 s16, s[8:9]", {0xffffffff, 0xf}, 36, 0);
  expect1("s_ff1_i32_b64 s16, s[8:9]", {0, 2}, 33, 0);
  expect1("s_flbit_i32_b32 s16, s8", {1}, 31, 0);
  expect1("s_flbit_i32_b32 s16, s8", {0}, 0xffffffff, 0);
  expect1("s_flbit_i32_b64 s16, s[8:9]", {0, 1}, 31, 0);
  expect1("s_flbit_i32 s16, s8", {0xffffffff}, 0xffffffff, 0);
  expect1("s_flbit_i32 s16, s8", {0xfffffff0}, 28, 0);
  expect1("s_flbit_i32 s16, s8", {0}, 0xffffffff, 0);
  expect1("s_flbit_i32_i64 s16, s[8:9]", {0, 0xffffffff}, 32, 0);
  expect1("s_brev_b32 s16, s8", {1}, 0x80000000, 0);
  expect1("s_brev_b64 s[16:17], s[8:9]", {2, 0}, 1ull << 62, 0, true);
  expect1("s_not_b32 s16, s8", {0xffffffff}, 0, 0);
  expect1("s_not_b64 s[16:17], s[8:9]", {0, 0}, ~0ull, 1, true);
  expect1("s_wqm_b32 s16, s8", {0x00100201}, 0x00f00f0f, 1);
  expect1("s_wqm_b64 s[16:17], s[8:9]", {0, 0x80000000}, 0xf0000000ull << 32, 1, true);
  expect1("s_quadmask_b32 s16, s8", {0x00100201}, 0x25, 1);
  expect1("s_quadmask_b64 s[16:17], s[8:9]", {1, 0x80000000}, 0x8001, 1, true);
  expect1("s_abs_i32 s16, s8", {0x80000000}, 0x80000000, 1);
  expect1("s_abs_i32 s16, s8", {0xfffffffb}, 5, 1);
  expect1("s_sext_i32_i8 s16, s8", {0x180}, 0xffffff80, 0);
  expect1("s_sext_i32_i16 s16, s8", {0x18000}, 0xffff8000, 0);
  expect1("s_bitset1_b32 s16, s8", {33}, 0x51515153, 0);
  expect1("s_bitset0_b32 s16, s8", {0}, 0x51515150, 0);
  expect1("s_bitset1_b64 s[16:17], s8", {63}, 0xd151515151515151, 0, true);
  expect1("s_bitreplicate_b64_b32 s[16:17], s8", {0x80000005}, 0xc000000000000033, 0, true);
}

TEST_F(Scalar, Comparisons) {
  const auto scc = [&](const std::string& text, std::vector<uint32_t> in) {
    return run(text, std::move(in)).scc;
  };
  EXPECT_EQ(scc("s_cmp_lt_i32 s8, s9", {0xffffffff, 0}), 1u);
  EXPECT_EQ(scc("s_cmp_lt_u32 s8, s9", {0xffffffff, 0}), 0u);
  EXPECT_EQ(scc("s_cmp_ge_u32 s8, s9", {3, 3}), 1u);
  EXPECT_EQ(scc("s_cmp_lg_u64 s[8:9], s[10:11]", {1, 2, 1, 3}), 1u);
  EXPECT_EQ(scc("s_cmp_eq_u64 s[8:9], s[10:11]", {1, 2, 1, 2}), 1u);
  EXPECT_EQ(scc("s_cmpk_eq_i32 s8, 0xffff", {0xffffffff}), 1u);
  EXPECT_EQ(scc("s_cmpk_eq_u32 s8, 0xffff", {0xffff}), 1u);
  EXPECT_EQ(scc("s_cmpk_lt_i32 s8, -5", {0xfffffffa}), 1u);
  EXPECT_EQ(scc("s_cmpk_gt_u32 s8, 0xfffe", {0xffff}), 1u);
  EXPECT_EQ(scc("s_bitcmp1_b32 s8, s9", {0x10, 36}), 1u);
  EXPECT_EQ(scc("s_bitcmp0_b64 s[8:9], s10", {0, 1, 32}), 0u);
}

TEST_F(Scalar, ConstantsOfSixtyFourBitOperands) {
  EXPECT_EQ(run("s_mov_b64 s[16:17], -1").u64(), ~0ull);
  EXPECT_EQ(run("s_mov_b64 s[16:17], 64").u64(), 64u);
  EXPECT_EQ(run("s_mov_b64 s[16:17], 1.0").u64(), 0x3ff0000000000000u);
  EXPECT_EQ(run("s_mov_b32 s16, 1.0").u32(), 0x3f800000u);
  EXPECT_EQ(run("s_mov_b64 s[16:17], 0x12345678").u64(), 0x12345678u);
  EXPECT_EQ(run("s_ashr_i64 s[16:17], 0x80000000, 4").u64(), 0xfffffffff8000000u);
  EXPECT_EQ(run("s_movk_i32 s16, 0x8000").u32(), 0xffff8000u);
  EXPECT_EQ(run("s_movk_i32 s16, 100\ns_addk_i32 s16, 0xff00").u32(), 100u - 256u);
  EXPECT_EQ(run("s_brev_b32 s16, 1\ns_sub_u32 s16, s16, 1\ns_addk_i32 s16, 1").scc, 1u);
  EXPECT_EQ(run("s_movk_i32 s16, -3\ns_mulk_i32 s16, 7").u32(), static_cast<uint32_t>(-21));
}

TEST_F(Scalar, SaveExecKeepsTheOldMask) {
  const auto test = [&](const std::string& name, uint64_t exec) {
    const ScalarState s =
        run("s_mov_b64 exec, s[8:9]\n" + name + " s[16:17], s[10:11]", {0xff00, 0, 0xf0f0, 0});
    EXPECT_EQ(s.exec, exec) << name;
    EXPECT_EQ(s.u64(), 0xff00u) << name;
    EXPECT_EQ(s.scc, exec != 0) << name;
  };
  test("s_and_saveexec_b64", 0xf000);
  test("s_or_saveexec_b64", 0xfff0);
  test("s_xor_saveexec_b64", 0x0ff0);
  test("s_andn2_saveexec_b64", 0x00f0);
  test("s_orn2_saveexec_b64", 0xf0f0 | ~0xff00ull);
  test("s_nand_saveexec_b64", ~0xf000ull);
  test("s_nor_saveexec_b64", ~0xfff0ull);
  test("s_xnor_saveexec_b64", ~0x0ff0ull);
  test("s_andn1_saveexec_b64", 0x0f00);
  test("s_orn1_saveexec_b64", 0xff00 | ~0xf0f0ull);
  const ScalarState s =
      run("s_mov_b64 exec, s[8:9]\ns_andn1_wrexec_b64 s[16:17], s[10:11]", {0xff00, 0, 0xf0f0, 0});
  EXPECT_EQ(s.exec, 0x0f00u);
  EXPECT_EQ(s.u64(), 0x0f00u);
}

TEST_F(Scalar, BranchesFollowTheirConditions) {
  const auto taken = [&](const std::string& set, const std::string& branch) {
    return run(set + "\n" + branch + " 1f\ns_mov_b32 s16, 1\ns_branch 2f\n1:\ns_mov_b32 s16, 2\n2:")
               .u32() == 2;
  };
  EXPECT_TRUE(taken("", "s_branch"));
  EXPECT_TRUE(taken("", "s_cbranch_scc0"));
  EXPECT_FALSE(taken("", "s_cbranch_scc1"));
  EXPECT_TRUE(taken("s_mov_b64 vcc, 0", "s_cbranch_vccz"));
  EXPECT_FALSE(taken("s_mov_b64 vcc, 1", "s_cbranch_vccz"));
  EXPECT_TRUE(taken("s_mov_b32 vcc_lo, 0\ns_mov_b32 vcc_hi, 1", "s_cbranch_vccnz"));
  EXPECT_TRUE(taken("s_mov_b64 exec, 0", "s_cbranch_execz"));
  EXPECT_FALSE(taken("s_mov_b64 exec, 0", "s_cbranch_execnz"));
  EXPECT_FALSE(taken("", "s_cbranch_cdbgsys"));
}

TEST_F(Scalar, CallsReturnBehindThemselves) {
  EXPECT_EQ(run(R"(
      s_mov_b32 s16, 0
      s_call_b64 s[26:27], fn
      s_add_u32 s16, s16, 16
      s_getpc_b64 s[28:29]
      s_add_u32 s28, s28, fn-.
      s_addc_u32 s29, s29, 0
      s_sub_u32 s28, s28, 0
      s_swappc_b64 s[26:27], s[28:29]
      s_add_u32 s16, s16, 256
      s_branch done
    fn:
      s_add_u32 s16, s16, 1
      s_setpc_b64 s[26:27]
    done:)")
                .u32(),
            0x112u);
}

TEST_F(Scalar, ForkAndJoinRunBothSides) {
  // Four lanes add 1 to v1, the others 2. Both sides come to the join; the second goes on.
  auto* out = machine.allocate<uint32_t>(64);
  machine.expect_ok(R"(
      s_load_dwordx2 s[8:9], s[0:1], 0x0
      s_waitcnt lgkmcnt(0)
      s_mov_b64 s[20:21], 0xf
      v_mov_b32 v1, 0
      s_mov_b32 s22, 0
      s_mov_b64 s[24:25], exec
      s_cbranch_i_fork s[20:21], few
      v_add_u32 v1, v1, 2
      s_branch meet
    few:
      v_add_u32 v1, v1, 1
    meet:
      s_cbranch_join s22
      s_mov_b64 exec, s[24:25]
      v_lshlrev_b32 v0, 2, v0
      global_store_dword v0, v1, s[8:9])",
                    {address_of(out)});
  for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(out[l], l < 4 ? 1u : 2u) << l;
}

TEST_F(Scalar, IndirectRegistersAreDisplacedByM0) {
  EXPECT_EQ(run("s_mov_b32 m0, 2\ns_movrels_b32 s16, s8", {10, 11, 12, 13}).u32(), 12u);
  EXPECT_EQ(run("s_mov_b32 m0, 2\ns_movrels_b64 s[16:17], s[8:9]", {10, 11, 12, 13}).u64(),
            13ull << 32 | 12);
  EXPECT_EQ(run("s_mov_b32 m0, 3\ns_movreld_b32 s16, s8", {77}).s16[3], 77u);
  // Out of range: a source reads s0, a destination is not written.
  EXPECT_EQ(run("s_mov_b32 s0, 99\ns_mov_b32 m0, 200\ns_movrels_b32 s16, s8", {1}).u32(), 99u);
  EXPECT_EQ(run("s_mov_b32 m0, -16\ns_movreld_b32 s16, s8", {1}).u32(), 0x51515151u);
}

TEST_F(Scalar, ModeIsReadAndWrittenThroughHardwareRegisters) {
  EXPECT_EQ(run("s_getreg_b32 s16, hwreg(HW_REG_MODE, 0, 10)").u32(), 0x3f0u);
  EXPECT_EQ(run("s_getreg_b32 s16, hwreg(HW_REG_IB_STS)").u32(), 0u);
  EXPECT_EQ(run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0x5\n"
                "s_getreg_b32 s16, hwreg(HW_REG_MODE, 0, 8)")
                .u32(),
            0xf5u);
  EXPECT_EQ(
      run("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s8\ns_getreg_b32 s16, hwreg(HW_REG_MODE)", {0x3})
              .u32() &
          0xff,
      0x30u);
  EXPECT_EQ(run("s_getreg_b32 s16, hwreg(HW_REG_SH_MEM_BASES)").u32(),
            (Machine::kSharedHigh >> 16) << 16 | Machine::kPrivateHigh >> 16);
  EXPECT_EQ(run("s_mov_b64 s[16:17], src_shared_base").u64(), uint64_t{Machine::kSharedHigh} << 32);
  EXPECT_EQ(run("s_mov_b64 s[16:17], src_private_limit").u64(),
            uint64_t{Machine::kPrivateHigh} << 32 | 0xffffffff);
}

TEST_F(Scalar, LoadsOfEverySizeAndAddressForm) {
  auto* data = machine.allocate<uint32_t>(64);
  for (uint32_t n = 0; n < 64; ++n) data[n] = 1000 + n;
  const uint32_t low = static_cast<uint32_t>(address_of(data));
  const uint32_t high = static_cast<uint32_t>(address_of(data) >> 32);
  const auto load = [&](const std::string& text, uint32_t extra = 0) {
    return run(text + "\ns_waitcnt lgkmcnt(0)", {low, high, extra}).u64();
  };
  EXPECT_EQ(load("s_load_dword s16, s[8:9], 0x8") & 0xffffffff, 1002u);
  EXPECT_EQ(load("s_load_dwordx2 s[16:17], s[8:9], 0x8"), 1003ull << 32 | 1002);
  EXPECT_EQ(load("s_load_dword s16, s[8:9], s10", 12) & 0xffffffff, 1003u);
  EXPECT_EQ(load("s_load_dword s16, s[8:9], s10 offset:0x8", 12) & 0xffffffff, 1005u);
  EXPECT_EQ(load("s_add_u32 s8, s8, 16\ns_load_dword s16, s[8:9], -0x8") & 0xffffffff, 1002u);
  EXPECT_EQ(load("s_load_dword s16, s[8:9], s10", 15) & 0xffffffff, 1003u) << "low bits ignored";
  EXPECT_EQ(load("s_load_dwordx16 s[32:47], s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\n"
                 "s_mov_b32 s16, s47\ns_mov_b32 s17, s32"),
            1000ull << 32 | 1015);
}

TEST_F(Scalar, BufferLoadsReadZeroBeyondTheBuffer) {
  auto* data = machine.allocate<uint32_t>(64);
  for (uint32_t n = 0; n < 64; ++n) data[n] = 1000 + n;
  const std::vector<uint32_t> descriptor = {static_cast<uint32_t>(address_of(data)),
                                            static_cast<uint32_t>(address_of(data) >> 32), 16, 0};
  EXPECT_EQ(run("s_buffer_load_dword s16, s[8:11], 0xc", descriptor).u32(), 1003u);
  EXPECT_EQ(run("s_buffer_load_dword s16, s[8:11], 0x10", descriptor).u32(), 0u);
  EXPECT_EQ(run("s_buffer_load_dwordx2 s[16:17], s[8:11], 0xc", descriptor).u64(), 1003u);
}

TEST_F(Scalar, StoresAndAtomics) {
  auto* data = machine.allocate<uint32_t>(16);
  data[0] = 5;
  data[4] = 100;
  const std::vector<uint32_t> in = {static_cast<uint32_t>(address_of(data)),
                                    static_cast<uint32_t>(address_of(data) >> 32),
                                    7,
                                    0,
                                    100,
                                    0};
  EXPECT_EQ(run("s_mov_b32 s16, s10\ns_atomic_add s16, s[8:9], 0x0 glc", in).u32(), 5u);
  EXPECT_EQ(data[0], 12u);
  EXPECT_EQ(run("s_mov_b32 s16, s10\ns_atomic_add s16, s[8:9], 0x0", in).u32(), 7u) << "no glc";
  EXPECT_EQ(data[0], 19u);
  EXPECT_EQ(
      run("s_mov_b32 s16, s10\ns_mov_b32 s17, s12\ns_atomic_cmpswap s[16:17], s[8:9], 0x10 glc", in)
          .u32(),
      100u);
  EXPECT_EQ(data[4], 7u);
  run("s_store_dwordx2 s[10:11], s[8:9], 0x20", in);
  EXPECT_EQ(data[8], 7u);
}

TEST_F(Scalar, AddressProbesChangeNothingWhateverTheAddress) {
  expect1(
      "s_mov_b32 s16, 5\ns_cmp_eq_u32 s16, s16\ns_mov_b64 s[10:11], 0x1234\n"
      "s_atc_probe 7, s[10:11], 0x64\ns_atc_probe_buffer 0, s[8:11], s8",
      {1, 2}, 5, 1);
}

TEST_F(Scalar, ClocksAdvance) {
  const ScalarState s = run(R"(
      s_memrealtime s[16:17]
      s_memtime s[18:19]
      s_sleep 1
      s_memrealtime s[26:27]
      s_sub_u32 s26, s26, s16
      s_subb_u32 s27, s27, s17
      s_cmp_lt_i32 s27, 0)");
  EXPECT_NE(s.u64(), 0u);
  EXPECT_EQ(s.scc, 0u);
}

TEST_F(Scalar, AnInterruptMessageRaisesTheEventInM0) {
  run("s_mov_b32 m0, 0x2a\ns_sendmsg sendmsg(1)");
  EXPECT_THAT(machine.events, ElementsAre(0x2a));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
