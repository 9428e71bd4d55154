// What orders accesses of waves: barriers are in race_check_test.cpp, here are atomics.
#include "vgpu/races/tests/watched_dispatch.h"

namespace halyard::vgpu::races::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OrdersTest : public RacesTest {
 protected:
  explicit OrdersTest(const char* processor = "gfx900")
      : RacesTest(false, uint64_t{1} << 26, processor) {}

  // The first work-group (of one wave) does `first`, the second one `second`.
  void pass(const std::string& first, const std::string& second) {
    std::fill_n(data, kDwords, 0);
    run("v_mov_b32 v8, 1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc0 second\n" + first +
            "\ns_branch end\nsecond:\n" + second + "\nend:",
        2, 1);
  }

  const std::string store = "global_store_dword v1, v0, s[6:7] offset:1024\ns_waitcnt vmcnt(0)\n";
  const std::string load = "global_load_dword v3, v1, s[6:7] offset:1024\ns_waitcnt vmcnt(0)\n";
  const std::string add = "global_atomic_add v2, v8, s[6:7]\n";
  const std::string take = "global_atomic_add v4, v2, v8, s[6:7] glc\ns_waitcnt vmcnt(0)\n";
  const std::string raise = "global_store_dword v2, v8, s[6:7]\n";
  // Until the flag is not 0.
  const std::string poll =
      "poll:\ns_sleep 1\nglobal_load_dword v4, v2, s[6:7] glc\ns_waitcnt vmcnt(0)\n"
      "v_readfirstlane_b32 s12, v4\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc1 poll\n"
      "buffer_wbinvl1_vol\n";
};

TEST_F(OrdersTest, AnAtomicThatReadsWhatAnotherHasLeftComesBehindIt) {
  pass(store + add, take + load);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(OrdersTest, SoDoesAnAtomicLoad) {
  pass(store + add, poll + load);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(OrdersTest, SoDoesAnAtomicLoadOfAPlainStore) {
  pass(store + raise, poll + load);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(OrdersTest, SoDoesACompareAndSwapBehindAPlainStore) {
  pass(store + raise, "global_atomic_cmpswap v4, v2, v[8:9], s[6:7] glc\n" + load);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(OrdersTest, AScalarAtomicOrdersToo) {
  pass(store + "s_mov_b32 s12, 1\ns_atomic_add s12, s[6:7], 0x0\n",
       "s_mov_b32 s12, 1\ns_atomic_add s12, s[6:7], 0x0 glc\ns_waitcnt lgkmcnt(0)\n" + load);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(OrdersTest, WhatIsDoneBehindTheReleaseIsNotTold) {
  pass(add + store, take + load);
  EXPECT_THAT(findings, ElementsAre(HasSubstr("work-group (1, 0, 0), wave 0, lane 1 reads")));
}

TEST_F(OrdersTest, AnAtomicWithoutAResultLearnsNothing) {
  pass(store + add, add + load);
  EXPECT_THAT(findings, ElementsAre(HasSubstr("race in global memory")));
}

TEST_F(OrdersTest, AtomicsOfTwoPlacesOrderNothing) {
  pass(store + add, "global_atomic_add v4, v2, v8, s[6:7] offset:64 glc\n" + load);
  EXPECT_THAT(findings, ElementsAre(HasSubstr("race in global memory")));
}

TEST_F(OrdersTest, APlainLoadOfAFlagOrdersNothing) {
  pass(store + raise, "global_load_dword v4, v2, s[6:7]\n" + load);
  EXPECT_THAT(findings,
              ElementsAre(AllOf(HasSubstr("reads 4 bytes"), HasSubstr("global_load_dword v4")),
                          AllOf(HasSubstr("reads 4 bytes"), HasSubstr("global_load_dword v3"))));
}

TEST_F(OrdersTest, ANontemporalLoadIsAPlainOne) {
  pass(store, "global_load_dword v3, v1, s[6:7] offset:1024 glc slc");
  EXPECT_THAT(findings, ElementsAre(HasSubstr("glc slc")));
}

// Where encodings tell what an atomic store is.
class ScopeBitsTest : public OrdersTest {
 protected:
  ScopeBitsTest() : OrdersTest("gfx942") {}

  const std::string poll_agent =
      "poll:\ns_sleep 1\nglobal_load_dword v4, v2, s[6:7] sc1\ns_waitcnt vmcnt(0)\n"
      "v_readfirstlane_b32 s12, v4\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc1 poll\n";
};

TEST_F(ScopeBitsTest, AnAtomicStoreTellsAnAtomicLoad) {
  pass(store + "global_store_dword v2, v8, s[6:7] sc1\n", poll_agent + load);
  EXPECT_THAT(findings, IsEmpty());
  pass("global_store_dword v2, v8, s[6:7] sc0 sc1\n" + store, poll_agent + load);
  EXPECT_THAT(findings, ElementsAre(HasSubstr("race in global memory in kernel sum on gfx942")));
}

TEST_F(ScopeBitsTest, APlainStoreBesideAnAtomicIsARace) {
  pass("global_store_dword v2, v8, s[6:7] sc1\n", add);
  EXPECT_THAT(findings, IsEmpty());
  pass(raise, add);
  EXPECT_THAT(findings, ElementsAre(HasSubstr("lane 0 updates 4 bytes")));
}

// Each work-group adds to a counter; the last one reads what all have stored.
TEST_F(OrdersTest, TheLastWorkGroupReadsWhatAllHaveStored) {
  const std::string own =
      "s_lshl_b32 s11, s2, 8\nv_add_u32 v3, s11, v1\nv_mov_b32 v8, 1\n"
      "global_store_dword v3, v0, s[6:7] offset:1024\ns_waitcnt vmcnt(0)\n";
  const std::string all =
      "global_load_dword v4, v1, s[6:7] offset:1024\n"
      "global_load_dword v4, v1, s[6:7] offset:1280\n"
      "global_load_dword v4, v1, s[6:7] offset:1536\n";
  run(own +
          "s_mov_b64 exec, 1\nglobal_atomic_add v4, v2, v8, s[6:7] glc\ns_waitcnt vmcnt(0)\n"
          "v_readfirstlane_b32 s12, v4\ns_mov_b64 exec, -1\ns_cmp_lg_u32 s12, 3\n"
          "s_cbranch_scc1 end\n" +
          all + "end:",
      4, 1);
  EXPECT_THAT(findings, IsEmpty());
}

// A work-group waits for the one before it, and knows then what all before have done.
TEST_F(OrdersTest, ALookBackKnowsAllThatCameBefore) {
  run("v_mov_b32 v8, 1\ns_lshl_b32 s11, s2, 2\nv_mov_b32 v5, s11\n"
      "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 first\n"
      "poll:\ns_sleep 1\nglobal_load_dword v4, v5, s[6:7] glc\ns_waitcnt vmcnt(0)\n"
      "v_readfirstlane_b32 s12, v4\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc1 poll\n"
      "buffer_wbinvl1_vol\ns_barrier\n"
      "first:\nglobal_load_dword v3, v1, s[6:7] offset:2048\ns_waitcnt vmcnt(0)\n"
      "v_add_u32 v3, 1, v3\nglobal_store_dword v1, v3, s[6:7] offset:2048\ns_waitcnt vmcnt(0)\n"
      "s_barrier\nglobal_store_dword v5, v8, s[6:7] offset:4",
      100, 2);
  EXPECT_THAT(findings, IsEmpty());
  // Both waves of a work-group add without a barrier between the two only where they are told of
  // the work-group before: they add to dwords of their own.
  EXPECT_EQ(data[512], 100U);
  EXPECT_EQ(data[512 + 64], 100U);
}

TEST_F(OrdersTest, ABarrierPassesOnWhatOneWaveHasLearned) {
  pass(store + add, "s_nop 0");
  run("v_mov_b32 v8, 1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc0 second\n"
      "global_store_dword v1, v0, s[6:7] offset:1024\ns_waitcnt vmcnt(0)\ns_barrier\n"
      "s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 end\nglobal_atomic_add v2, v8, s[6:7]\ns_branch end\n"
      "second:\ns_cmp_eq_u32 s10, 1\ns_cbranch_scc0 wait\n"
      "global_atomic_add v4, v2, v8, s[6:7] glc\n"
      "wait:\ns_barrier\nglobal_load_dword v3, v1, s[6:7] offset:1024\nend:",
      2, 2);
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(OrdersTest, WithoutABarrierOneWaveTellsOnlyOfItself) {
  run("v_mov_b32 v8, 1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc0 second\n"
      "global_store_dword v1, v0, s[6:7] offset:1024\ns_waitcnt vmcnt(0)\n"
      "s_cmp_eq_u32 s10, 1\ns_cbranch_scc0 end\nglobal_atomic_add v2, v8, s[6:7]\ns_branch end\n"
      "second:\nglobal_atomic_add v4, v2, v8, s[6:7] glc\n"
      "global_load_dword v3, v1, s[6:7] offset:1024\nend:",
      2, 2);
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("work-group (1, 0, 0), wave 0, lane 1 reads"),
                                          HasSubstr("work-group (0, 0, 0), wave 0 has written"))));
}

TEST_F(OrdersTest, AtomicsInLdsOrderTheWavesOfAWorkGroup) {
  const std::string text =
      "v_mov_b32 v8, 1\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc0 second\n"
      "global_store_dword v1, v0, s[6:7]\ns_waitcnt vmcnt(0)\nds_add_u32 v2, v8\ns_branch end\n"
      "second:\nds_add_rtn_u32 v4, v2, v8 offset:OFFSET\ns_waitcnt lgkmcnt(0)\n"
      "v_subrev_u32 v1, 0x100, v1\nglobal_load_dword v3, v1, s[6:7]\nend:";
  const auto with = [&](const char* offset) {
    std::fill_n(data, kDwords, 0);
    std::string kernel = text;
    kernel.replace(kernel.find("OFFSET"), 6, offset);
    isa::Dispatch dispatch = Machine::grid(128, 128);
    dispatch.group_segment_size = 256;
    machine.expect_ok(
        "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n"
        "v_mov_b32 v2, 0\nv_readfirstlane_b32 s10, v0\ns_lshr_b32 s10, s10, 6\n"
        "s_waitcnt lgkmcnt(0)\n" +
            kernel,
        {address_of(data)}, dispatch);
  };
  with("0");
  EXPECT_THAT(findings, IsEmpty());
  with("4");
  EXPECT_THAT(findings, ElementsAre(HasSubstr("race in global memory")));
}

}  // namespace
}  // namespace halyard::vgpu::races::testing
