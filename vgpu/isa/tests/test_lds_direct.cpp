// src_lds_direct: what M0 makes of it, and the instructions that may not have it.

#include <gmock/gmock.h>

#include <array>
#include <span>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kDirectLdsSize = 512;

class LdsDirect : public ::testing::Test {
 protected:
  Machine machine;

  // The last lane's v8..v11 and s8. LDS starts as bytes 0x80 + n.
  std::array<uint32_t, 5> run(const std::string& text) {
    auto* const out = machine.allocate<uint32_t>(5);
    const std::string prologue = R"(
      s_load_dwordx2 s[6:7], s[0:1], 0x0
      v_lshlrev_b32 v1, 2, v0
      v_xor_b32 v2, 0x80, v1
      ds_write_b8 v1, v2
      v_add_u32 v2, 1, v2
      ds_write_b8 v1, v2 offset:1
      v_add_u32 v2, 1, v2
      ds_write_b8 v1, v2 offset:2
      v_add_u32 v2, 1, v2
      ds_write_b8 v1, v2 offset:3
      s_mov_b32 s8, 0
      v_mov_b32 v8, 0
      v_mov_b32 v9, 0
      v_mov_b32 v10, 0
      v_mov_b32 v11, 0
      s_waitcnt lgkmcnt(0)
      )";
    std::string epilogue =
        "\ns_mov_b32 exec_lo, 0\ns_brev_b32 exec_hi, 1\nv_mov_b32 v2, 0\nv_mov_b32 v1, s8\n";
    for (int r = 0; r < 4; ++r) {
      epilogue += "global_store_dword v2, v" + std::to_string(8 + r) +
                  ", s[6:7] offset:" + std::to_string(4 * r) + "\n";
    }
    epilogue += "global_store_dword v2, v1, s[6:7] offset:16";
    Dispatch dispatch = Machine::grid(64, 64);
    dispatch.group_segment_size = kDirectLdsSize;
    machine.expect_ok(prologue + text + epilogue, {address_of(out)}, dispatch);
    return {out[0], out[1], out[2], out[3], out[4]};
  }
};

TEST_F(LdsDirect, M0SaysWhereAndOfWhichType) {
  EXPECT_THAT(run(R"(
      s_mov_b32 m0, 0x00005
      v_mov_b32 v8, src_lds_direct
      s_mov_b32 m0, 0x40005
      v_mov_b32 v9, src_lds_direct
      s_mov_b32 m0, 0x10006
      v_mov_b32 v10, src_lds_direct
      s_mov_b32 m0, 0x50006
      v_mov_b32 v11, src_lds_direct
      s_mov_b32 m0, 0x20008
      v_readfirstlane_b32 s8, src_lds_direct)"),
              ElementsAre(0x85, 0xffffff85, 0x8786, 0xffff8786, 0x8b8a8988));
}

TEST_F(LdsDirect, AddressesAreAlignedAndHigherBitsOfM0PlayNoPart) {
  EXPECT_THAT(run(R"(
      s_mov_b32 m0, 0xfff2000b
      v_mov_b32 v8, src_lds_direct
      s_mov_b32 m0, 0x10007
      v_mov_b32 v9, src_lds_direct
      s_mov_b32 m0, 0x30008
      v_mov_b32 v10, src_lds_direct)"),
              ElementsAre(0x8b8a8988, 0x8786, 0x8b8a8988, 0, 0));
}

TEST_F(LdsDirect, OutsideOfTheWorkGroupsLdsIsZero) {
  EXPECT_THAT(run(R"(
      v_mov_b32 v8, -1
      v_mov_b32 v9, -1
      s_mov_b32 m0, 0x20200
      v_mov_b32 v8, src_lds_direct
      s_mov_b32 m0, 0x0ffff
      v_mov_b32 v9, src_lds_direct
      s_mov_b32 m0, 0x200fc
      v_mov_b32 v10, src_lds_direct)"),
              ElementsAre(0, 0, 0x7f7e7d7c, 0, 0));
}

TEST_F(LdsDirect, IsAFirstSourceOfEveryVectorFormat) {
  EXPECT_THAT(run(R"(
      s_mov_b32 m0, 0x20008
      v_add_u32 v8, src_lds_direct, v8
      v_mad_u32_u24 v9, src_lds_direct, 2, v9
      v_min_f32 v10, -|src_lds_direct|, v10
      v_pk_add_u16 v11, src_lds_direct, v11 op_sel:[1,0] op_sel_hi:[0,1]
      v_cmp_eq_u32 vcc, src_lds_direct, v8
      s_mov_b32 s8, vcc_hi)"),
              ElementsAre(0x8b8a8988, 0x1151310, 0x8b8a8988, 0x89888b8a, 0xffffffff));
}

TEST_F(LdsDirect, OnlyActiveLanesAreWritten) {
  EXPECT_THAT(run(R"(
      s_mov_b32 m0, 0x20008
      s_mov_b64 exec, 1
      v_mov_b32 v8, src_lds_direct
      s_mov_b64 exec, 0
      v_mov_b32 v9, src_lds_direct
      v_readfirstlane_b32 s8, src_lds_direct)"),
              ElementsAre(0, 0, 0, 0, 0x8b8a8988));
}

// Words that LLVM's assembler refuses, and its disassembler may take.
class LdsDirectRefused : public ::testing::Test {
 protected:
  static std::string reason(const std::string& processor, const std::string& words) {
    EngineOptions options;
    options.processor = processor;
    Machine machine(options);
    const DispatchResult result = machine.run(machine.kernel(".long " + words), {});
    EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction) << words;
    return result.fault.message;
  }
};

TEST_F(LdsDirectRefused, WhereTheOperandIsNotTheFirst) {
  EXPECT_EQ(reason("gfx900", "0xd1340001, 0x0001fd00"),
            "v_add_u32 reads src_lds_direct as another source than the first");
  EXPECT_EQ(reason("gfx906", "0xd1c10001, 0x03fa0500"),
            "v_mad_f32 reads src_lds_direct as another source than the first");
}

TEST_F(LdsDirectRefused, WhereTheInstructionCannotHaveIt) {
  for (const auto& [name, words] : {std::pair{"v_lshlrev_b32", "0x240204fe"},
                                    {"v_subrev_u32", "0x6c0204fe"},
                                    {"v_pk_lshrrev_b16", "0xd3854001, 0x180204fe"},
                                    {"v_add_u32", "0x680204f9, 0x068606fe"},  // SDWA
                                    {"v_writelane_b32", "0xd28a0001, 0x000002fe"},
                                    {"v_swap_b32", "0x7e00a2fe"},
                                    {"s_mov_b32", "0xbe8000fe"},
                                    {"buffer_load_dword", "0xe0500000, 0xfe010000"}}) {
    EXPECT_EQ(reason("gfx908", words), std::string(name) + " cannot read src_lds_direct");
  }
  EXPECT_EQ(reason("gfx908", "0xd3d84000, 0x180000fe"),
            "v_accvgpr_read_b32 cannot read src_lds_direct");
  EXPECT_THAT(reason("gfx908", "0xd3c08000, 0x040202fe"), HasSubstr("v_mfma_f32_32x32x1f32 needs"));
}

TEST_F(LdsDirectRefused, OnGfx90a) {
  EXPECT_EQ(reason("gfx90a", "0x7e0002fe"),
            "v_mov_b32 reads src_lds_direct, which this processor does not have");
}

// All that LLVM's assembler takes is executed.
TEST(LdsDirectDecoding, WhatLlvmAssembles) {
  for (const char* processor : {"gfx900", "gfx906", "gfx908"}) {
    std::string error;
    const auto decoder = Decoder::create(processor, "", error);
    ASSERT_NE(decoder, nullptr) << error;
    for (const char* text :
         {"v_bfrev_b32_e32 v0, src_lds_direct", "v_cvt_f64_f32_e32 v[2:3], src_lds_direct",
          "v_cndmask_b32_e32 v1, src_lds_direct, v2, vcc",
          "v_madmk_f32 v0, src_lds_direct, 0x1234, v1", "v_readlane_b32 s0, src_lds_direct, s1",
          "v_div_scale_f32 v0, vcc, src_lds_direct, v1, v1"}) {
      const std::vector<uint8_t> code = assemble(text, processor, error);
      ASSERT_EQ(error, "") << text;
      DecodedInstruction instruction;
      decoder->decode(code, instruction);
      EXPECT_NE(instruction.op, Op::none) << text;
      EXPECT_EQ(instruction.src[0].kind, OperandKind::kLdsDirect) << text;
      EXPECT_THAT(decoder->text(code, 0), HasSubstr("src_lds_direct")) << text;
    }
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
