// DS: transfers, atomics, cross-lane moves and the edge of LDS.

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <functional>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr uint32_t kLdsLanes = 64;
constexpr uint32_t kLdsSize = 4096;

struct LdsOutcome {
  uint32_t v[8][kLdsLanes];    // v8..v15
  uint32_t lds[kLdsSize / 4];  // afterwards
  uint8_t byte(uint32_t at) const { return reinterpret_cast<const uint8_t*>(lds)[at]; }
};

class Lds : public ::testing::Test {
 protected:
  Machine machine;

  // LDS starts as dword n = 1000 + n, v0 = lane, v1 = lane * 4, v2 = lane * 8, v8..v15 =
  // 0xd0d0d0d0.
  LdsOutcome run(const std::string& text) {
    auto* out = machine.allocate<LdsOutcome>(1);
    std::string prologue = R"(
      s_load_dwordx2 s[6:7], s[0:1], 0x0
      s_mov_b32 m0, -1
      v_lshlrev_b32 v1, 2, v0
      v_lshlrev_b32 v2, 3, v0
      s_movk_i32 s8, 0
    fill:
      v_mov_b32 v3, s8
      v_add_u32 v4, 1000, v0
      v_add_u32 v4, v4, v3
      v_lshlrev_b32 v3, 2, v3
      v_add_u32 v3, v3, v1
      ds_write_b32 v3, v4
      s_add_u32 s8, s8, 64
      s_cmp_lt_u32 s8, 1024
      s_cbranch_scc1 fill
      )";
    std::string epilogue = "\ns_mov_b64 exec, -1\nv_lshlrev_b32 v1, 2, v0\n";
    for (int r = 0; r < 8; ++r) {
      prologue += "v_mov_b32 v" + std::to_string(8 + r) + ", 0xd0d0d0d0\n";
      epilogue += "global_store_dword v1, v" + std::to_string(8 + r) +
                  ", s[6:7] offset:" + std::to_string(r * 256) + "\n";
    }
    epilogue += R"(
      s_add_u32 s6, s6, 2048
      s_addc_u32 s7, s7, 0
      s_movk_i32 s8, 0
    dump:
      v_mov_b32 v3, s8
      v_add_u32 v3, v3, v1
      ds_read_b32 v4, v3
      global_store_dword v3, v4, s[6:7]
      s_add_u32 s8, s8, 0x100
      s_cmp_lt_u32 s8, 0x1000
      s_cbranch_scc1 dump)";
    Dispatch dispatch = Machine::grid(64, 64);
    dispatch.group_segment_size = kLdsSize;
    machine.expect_ok(prologue + text + epilogue, {address_of(out)}, dispatch);
    return *out;
  }
};

TEST_F(Lds, ReadsOfEveryWidth) {
  const LdsOutcome r = run(R"(
      ds_read_u8 v8, v1 offset:1
      ds_read_i8 v9, v1
      ds_read_u16 v10, v1
      ds_read_i16 v11, v1
      ds_read_b64 v[12:13], v2
      ds_read_b64 v[14:15], v1 offset:4)");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    const uint32_t value = 1000 + l;
    ASSERT_EQ(r.v[0][l], value >> 8);
    ASSERT_EQ(r.v[1][l], static_cast<uint32_t>(static_cast<int8_t>(value)));
    ASSERT_EQ(r.v[2][l], value);
    ASSERT_EQ(r.v[3][l], value);
    ASSERT_EQ(r.v[4][l], 1000 + 2 * l);
    ASSERT_EQ(r.v[5][l], 1001 + 2 * l);
    ASSERT_EQ(r.v[6][l], 1001 + l);
    ASSERT_EQ(r.v[7][l], 1002 + l);
  }
}

TEST_F(Lds, WideReadsAndTheirHalves) {
  const LdsOutcome r = run(R"(
      v_lshlrev_b32 v3, 4, v0
      ds_read_b128 v[8:11], v3
      ds_read_b96 v[12:14], v3 offset:4
      ds_read_u8_d16_hi v15, v1)");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    for (uint32_t k = 0; k < 4; ++k) ASSERT_EQ(r.v[k][l], 1000 + 4 * l + k);
    for (uint32_t k = 0; k < 3; ++k) ASSERT_EQ(r.v[4 + k][l], 1001 + 4 * l + k);
    ASSERT_EQ(r.v[7][l], ((1000 + l) & 0xff) << 16 | 0xd0d0);
  }
}

TEST_F(Lds, TwoAddressFormsScaleTheirOffsets) {
  const LdsOutcome r = run(R"(
      ds_read2_b32 v[8:9], v1 offset0:1 offset1:3
      ds_read2st64_b32 v[10:11], v1 offset0:1 offset1:2
      ds_read2_b64 v[12:15], v2 offset1:64
      v_mov_b32 v4, 1
      v_mov_b32 v5, 2
      v_mov_b32 v6, 3
      v_mov_b32 v7, 4
      s_mov_b64 exec, 1
      ds_write2_b32 v1, v4, v5 offset0:100 offset1:101
      ds_write2st64_b64 v1, v[4:5], v[6:7] offset0:3 offset1:4)");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 1001 + l);
    ASSERT_EQ(r.v[1][l], 1003 + l);
    ASSERT_EQ(r.v[2][l], 1064 + l);
    ASSERT_EQ(r.v[3][l], 1128 + l);
    ASSERT_EQ(r.v[4][l], 1000 + 2 * l);
    ASSERT_EQ(r.v[6][l], 1128 + 2 * l);
  }
  EXPECT_EQ(r.lds[100], 1u);
  EXPECT_EQ(r.lds[101], 2u);
  EXPECT_EQ(r.lds[3 * 128], 1u);
  EXPECT_EQ(r.lds[3 * 128 + 1], 2u);
  EXPECT_EQ(r.lds[4 * 128], 3u);
  EXPECT_EQ(r.lds[4 * 128 + 1], 4u);
}

TEST_F(Lds, NarrowWritesLeaveTheRest) {
  const LdsOutcome r = run(R"(
      v_mov_b32 v4, 0x11223344
      s_mov_b64 exec, 1
      ds_write_b8 v1, v4
      ds_write_b8_d16_hi v1, v4 offset:1
      ds_write_b16 v1, v4 offset:4
      ds_write_b16_d16_hi v1, v4 offset:6)");
  EXPECT_EQ(r.byte(0), 0x44);
  EXPECT_EQ(r.byte(1), 0x22);
  EXPECT_EQ(r.byte(2), 0);
  EXPECT_EQ(r.lds[1], 0x11223344u);
}

struct DsCase {
  const char* name;
  uint32_t before, data0, data1, after;
};

TEST_F(Lds, AtomicsChangeMemoryAndReturnWhatWasThere) {
  const uint32_t one = 0x3f800000, two = 0x40000000, three = 0x40400000, nan = 0x7fc00000;
  const DsCase cases[] = {
      {"add_rtn_u32", 7, 5, 0, 12},
      {"sub_rtn_u32", 7, 9, 0, 0xfffffffe},
      {"rsub_rtn_u32", 7, 9, 0, 2},
      {"inc_rtn_u32", 7, 7, 0, 0},
      {"inc_rtn_u32", 6, 7, 0, 7},
      {"dec_rtn_u32", 0, 7, 0, 7},
      {"dec_rtn_u32", 3, 7, 0, 2},
      {"min_rtn_i32", 0xffffffff, 1, 0, 0xffffffff},
      {"max_rtn_i32", 0xffffffff, 1, 0, 1},
      {"min_rtn_u32", 0xffffffff, 1, 0, 1},
      {"max_rtn_u32", 0xffffffff, 1, 0, 0xffffffff},
      {"and_rtn_b32", 12, 10, 0, 8},
      {"or_rtn_b32", 12, 10, 0, 14},
      {"xor_rtn_b32", 12, 10, 0, 6},
      {"wrxchg_rtn_b32", 12, 10, 0, 10},
      {"mskor_rtn_b32", 0xffff, 0xff, 0x12, 0xff12},
      {"cmpst_rtn_b32", 12, 12, 99, 99},
      {"cmpst_rtn_b32", 12, 13, 99, 12},
      {"cmpst_rtn_f32", 0x80000000, 0, 99, 99},
      {"cmpst_rtn_f32", nan, nan, 99, nan},
      {"min_rtn_f32", two, one, 0, one},
      {"min_rtn_f32", two, nan, 0, two},
      {"max_rtn_f32", two, three, 0, three},
      {"add_rtn_f32", two, one, 0, three},
      {"wrap_rtn_b32", 12, 10, 100, 2},
      {"wrap_rtn_b32", 9, 10, 100, 109},
  };
  for (const DsCase& c : cases) {
    const std::string name = c.name;
    const bool second =
        name.starts_with("mskor") || name.starts_with("cmpst") || name.starts_with("wrap");
    const LdsOutcome r =
        run("v_mov_b32 v3, " + std::to_string(c.before) + "\nds_write_b32 v1, v3\nv_mov_b32 v4, " +
            std::to_string(c.data0) + "\nv_mov_b32 v5, " + std::to_string(c.data1) + "\nds_" +
            name + " v8, v1, v4" + (second ? ", v5" : ""));
    for (uint32_t l = 0; l < kLdsLanes; ++l) {
      ASSERT_EQ(r.v[0][l], c.before) << name;
      ASSERT_EQ(r.lds[l], c.after) << name;
    }
  }
}

TEST_F(Lds, SixtyFourBitAtomics) {
  const LdsOutcome r = run(R"(
      v_mov_b32 v4, -1
      v_mov_b32 v5, 0
      ds_write_b64 v2, v[4:5]
      v_mov_b32 v6, 2
      v_mov_b32 v7, 0
      ds_add_rtn_u64 v[8:9], v2, v[6:7]
      ds_max_i64 v2, v[4:5]
      v_mov_b32 v4, 1
      v_mov_b32 v5, 1
      ds_cmpst_rtn_b64 v[10:11], v2, v[4:5], v[6:7])");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 0xffffffffu);
    ASSERT_EQ(r.v[1][l], 0u);
    ASSERT_EQ(r.v[2][l], 1u);
    ASSERT_EQ(r.v[3][l], 1u);
    ASSERT_EQ(r.lds[2 * l], 2u);
    ASSERT_EQ(r.lds[2 * l + 1], 0u);
  }
}

TEST_F(Lds, AtomicsOnOneAddressRunInLaneOrder) {
  const LdsOutcome r =
      run("v_mov_b32 v3, 0\nv_mov_b32 v4, 1\nds_write_b32 v3, v3\n"
          "ds_add_rtn_u32 v8, v3, v4");
  for (uint32_t l = 0; l < kLdsLanes; ++l) ASSERT_EQ(r.v[0][l], l);
  EXPECT_EQ(r.lds[0], 64u);
}

TEST_F(Lds, ExchangesOfTwoAddresses) {
  const LdsOutcome r =
      run("v_mov_b32 v4, 5\nv_mov_b32 v5, 6\n"
          "ds_wrxchg2_rtn_b32 v[8:9], v2, v4, v5 offset0:0 offset1:1\n"
          "v_mov_b32 v6, 0x80000007\nv_mov_b32 v7, 9\n"
          "ds_condxchg32_rtn_b64 v[10:11], v2, v[6:7]");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 1000 + 2 * l);
    ASSERT_EQ(r.v[1][l], 1001 + 2 * l);
    ASSERT_EQ(r.v[2][l], 5u);
    ASSERT_EQ(r.v[3][l], 6u);
    ASSERT_EQ(r.lds[2 * l], 7u);
    ASSERT_EQ(r.lds[2 * l + 1], 6u) << "its top bit is clear";
  }
}

TEST_F(Lds, AppendAndConsumeCountActiveLanes) {
  const LdsOutcome r =
      run("s_mov_b32 m0, 0x100000\ns_mov_b64 exec, 0x7\nds_append v8 offset:4\n"
          "s_mov_b64 exec, 0x1\nds_consume v9 offset:4");
  EXPECT_EQ(r.v[0][0], 1005u);  // dword (16 + 4) / 4
  EXPECT_EQ(r.v[0][2], 1005u);
  EXPECT_EQ(r.v[0][3], 0xd0d0d0d0u);
  EXPECT_EQ(r.v[1][0], 1008u);
  EXPECT_EQ(r.lds[5], 1007u);
}

TEST_F(Lds, BeyondTheEndReadsZeroAndWritesNothing) {
  const LdsOutcome r = run(R"(
      s_movk_i32 s8, 0xf80
      v_add_u32 v3, s8, v1
      ds_read_b32 v8, v3
      v_mov_b32 v4, 77
      ds_write_b32 v3, v4
      ds_read2_b32 v[10:11], v3 offset0:0 offset1:255
      v_mov_b32 v5, -4
      ds_read_b32 v12, v5
      ds_add_rtn_u32 v13, v5, v4
      ds_write_b64 v5, v[4:5])");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], l < 32 ? 1000 + 992 + l : 0u) << l;
    ASSERT_EQ(r.v[2][l], l < 32 ? 77u : 0u) << l;
    ASSERT_EQ(r.v[3][l], 0u);
    ASSERT_EQ(r.v[4][l], 0u);
    ASSERT_EQ(r.v[5][l], 0u);
  }
  EXPECT_EQ(r.lds[0], 1000u) << "an address does not wrap";
}

// LLVM gives offsets to bases that may be negative (AMDGPUISelDAGToDAG, isDSOffsetLegal).
TEST_F(Lds, BaseAndOffsetAddUpIn32Bits) {
  const LdsOutcome r = run(R"(
      v_sub_u32 v3, 0, v1
      v_add_u32 v3, -4, v3
      v_mov_b32 v5, -16
      ds_read_b32 v12, v5 offset:56
      ds_read_b32 v8, v3 offset:1024
      ds_read2_b32 v[9:10], v3 offset0:200 offset1:201
      v_mov_b32 v4, 5
      ds_add_rtn_u32 v11, v3, v4 offset:2048
      ds_write_b32 v3, v4 offset:256
      ds_write2_b32 v3, v4, v0 offset0:128 offset1:254)");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 1255 - l);
    ASSERT_EQ(r.v[1][l], 1199 - l);
    ASSERT_EQ(r.v[2][l], 1200 - l);
    ASSERT_EQ(r.v[3][l], 1511 - l);
    ASSERT_EQ(r.v[4][l], 1010u);
    ASSERT_EQ(r.lds[511 - l], 1516 - l);
    ASSERT_EQ(r.lds[63 - l], 5u);
    ASSERT_EQ(r.lds[127 - l], 5u);
    ASSERT_EQ(r.lds[253 - l], l);
  }
}

TEST_F(Lds, SwizzleModes) {
  struct Case {
    const char* pattern;
    std::function<uint32_t(uint32_t)> source;
  };
  const auto reverse = [](uint32_t v, int bits) {
    uint32_t out = 0;
    for (int b = 0; b < bits; ++b) out |= ((v >> b) & 1) << (bits - 1 - b);
    return out;
  };
  const Case cases[] = {
      {"swizzle(QUAD_PERM,3,0,2,1)",
       [](uint32_t l) { return (l & ~3u) | std::array{3u, 0u, 2u, 1u}[l & 3]; }},
      {"swizzle(SWAP,16)", [](uint32_t l) { return l ^ 16; }},
      {"swizzle(REVERSE,8)", [](uint32_t l) { return l ^ 7; }},
      {"swizzle(BROADCAST,32,5)", [](uint32_t l) { return (l & 32) | 5; }},
      {"swizzle(BITMASK_PERM,\"01pip\")",
       [](uint32_t l) { return (l & 32) | 8 | (l & 4) | (~l & 2) | (l & 1); }},
      {"0xe000", [&](uint32_t l) { return (l & 32) | reverse(l & 31, 5); }},
      {"0xe010", [&](uint32_t l) { return (l & 48) | reverse(l & 15, 4); }},
      {"0xc060", [](uint32_t l) { return (l & 32) | ((l + 3) & 31); }},
      {"0xc460", [](uint32_t l) { return (l & 32) | ((l - 3) & 31); }},
  };
  for (const Case& c : cases) {
    const LdsOutcome r =
        run(std::string("v_add_u32 v3, 500, v0\nds_swizzle_b32 v8, v3 offset:") + c.pattern);
    for (uint32_t l = 0; l < kLdsLanes; ++l)
      ASSERT_EQ(r.v[0][l], 500 + c.source(l)) << c.pattern << " " << l;
  }
}

TEST_F(Lds, PermuteSendsAndBpermuteFetches) {
  const LdsOutcome r = run(R"(
      v_add_u32 v3, 500, v0
      v_sub_u32 v4, 63, v0
      v_lshlrev_b32 v4, 2, v4
      ds_bpermute_b32 v8, v4, v3
      ds_permute_b32 v9, v4, v3
      ds_bpermute_b32 v10, v1, v3 offset:8
      v_and_b32 v5, 7, v0
      v_lshlrev_b32 v5, 2, v5
      ds_permute_b32 v11, v5, v3
      s_mov_b64 exec, 0x5
      ds_bpermute_b32 v12, v1, v3 offset:4)");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 500 + 63 - l);
    ASSERT_EQ(r.v[1][l], 500 + 63 - l);
    ASSERT_EQ(r.v[2][l], 500 + (l + 2) % 64);
    ASSERT_EQ(r.v[3][l], l < 8 ? 500 + 56 + l : 0u) << "the highest sender wins";
  }
  EXPECT_EQ(r.v[4][0], 0u) << "lane 1 is not active";
  EXPECT_EQ(r.v[4][1], 0xd0d0d0d0u);
}

TEST_F(Lds, LaneAddressedTransfers) {
  const LdsOutcome r =
      run("s_movk_i32 m0, 16\nds_read_addtid_b32 v8 offset:4\nv_mov_b32 v4, 3\n"
          "ds_write_addtid_b32 v4 offset:0x400");
  for (uint32_t l = 0; l < kLdsLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 1005 + l);
    ASSERT_EQ(r.lds[(0x400 + 16) / 4 + l], 3u);
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
