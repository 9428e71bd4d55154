// AGPRs: gfx908's second file, and gfx90a's one file that ACCUM_OFFSET divides.

#include <gmock/gmock.h>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::HasSubstr;

// rsrc3's ACCUM_OFFSET: AGPRs start behind so many VGPRs.
constexpr uint32_t accum_offset(uint32_t vgprs) {
  return vgprs / 4 - 1;
}

EngineOptions processor(const char* name) {
  EngineOptions options;
  options.processor = name;
  return options;
}

// s[2:3] and s[4:5] become the two pointers of the arguments, v0 (gfx90a's packed ids: x is in bits
// 9:0) four times the work-item's number.
constexpr const char* kProlog = R"(
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
)";

class Accumulators : public ::testing::TestWithParam<const char*> {
 protected:
  Machine m{processor(GetParam())};
  KernelOptions options(uint32_t vgprs = 64) const {
    KernelOptions o;
    o.vgprs = vgprs;
    o.rsrc3 = accum_offset(32);
    return o;
  }
};

TEST_P(Accumulators, WritesAndReadsObeyExec) {
  auto* const out = m.allocate<uint32_t>(64);
  m.expect_ok(std::string(kProlog) + R"(
    v_accvgpr_write_b32 a7, v0
    s_mov_b64 exec, 0xff
    v_accvgpr_write_b32 a7, -2
    s_mov_b64 exec, -1
    v_mov_b32 v1, 0x1234
    s_mov_b64 exec, 0xffff
    v_accvgpr_read_b32 v1, a7
    s_mov_b64 exec, -1
    global_store_dword v0, v1, s[8:9]
  )",
              {address_of(out), 0}, {}, options());
  for (uint32_t lane = 0; lane < 64; ++lane) {
    const uint32_t expected = lane < 8 ? 0xfffffffe : lane < 16 ? lane * 4 : 0x1234;
    EXPECT_EQ(out[lane], expected) << lane;
  }
}

TEST_P(Accumulators, AreNotTheVgprsOfTheSameNumber) {
  auto* const out = m.allocate<uint32_t>(128);
  m.expect_ok(std::string(kProlog) + R"(
    v_mov_b32 v5, 1
    v_accvgpr_write_b32 a5, v0
    v_accvgpr_read_b32 v6, a5
    global_store_dword v0, v5, s[8:9]
    global_store_dword v0, v6, s[8:9] offset:256
  )",
              {address_of(out), 0}, {}, options());
  for (uint32_t lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[lane], 1u);
    EXPECT_EQ(out[64 + lane], lane * 4);
  }
}

TEST_P(Accumulators, OutsideTheAllocationAreRefused) {
  const DispatchResult result = m.run(m.kernel("v_accvgpr_write_b32 a200, 0", options()), {0, 0});
  EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction);
  EXPECT_THAT(result.report, HasSubstr("201 AGPRs"));
}

INSTANTIATE_TEST_SUITE_P(Processors, Accumulators, ::testing::Values("gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

class Unified : public ::testing::Test {
 protected:
  Machine m{processor("gfx90a")};
  KernelOptions options() const {
    KernelOptions o;
    o.vgprs = 64;
    o.rsrc3 = accum_offset(32);
    return o;
  }
};

TEST_F(Unified, MemoryInstructionsReachAccumulators) {
  auto* const in = m.allocate<uint32_t>(256);
  auto* const out = m.allocate<uint32_t>(512);
  for (uint32_t i = 0; i < 256; ++i) in[i] = 1000 + i;
  Dispatch dispatch;
  dispatch.group_segment_size = 1024;
  m.expect_ok(std::string(kProlog) + R"(
    v_lshlrev_b32 v1, 1, v0
    global_load_dwordx2 a[2:3], v1, s[10:11]
    s_waitcnt vmcnt(0)
    v_accvgpr_mov_b32 a4, a3
    global_store_dword v0, a2, s[8:9]
    global_store_dword v0, a4, s[8:9] offset:256
    ds_write_b64 v1, a[2:3]
    ds_read_b64 a[6:7], v1
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s4, s8
    s_and_b32 s5, s9, 0xffff
    s_mov_b32 s6, -1
    s_mov_b32 s7, 0
    buffer_store_dword a7, v0, s[4:7], 0 offen offset:512
    v_accvgpr_write_b32 a8, 1
    global_atomic_add a9, v0, a8, s[10:11] glc
    s_waitcnt vmcnt(0)
    global_store_dword v0, a9, s[8:9] offset:768
  )",
              {address_of(out), address_of(in)}, dispatch, options());
  for (uint32_t lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[lane], 1000 + 2 * lane);
    EXPECT_EQ(out[64 + lane], 1001 + 2 * lane);
    EXPECT_EQ(out[128 + lane], 1001 + 2 * lane);
    EXPECT_EQ(out[192 + lane], 1000 + lane);
    EXPECT_EQ(in[lane], 1001 + lane);
  }
}

TEST_F(Unified, PairsThatStartAtAnOddRegisterAreRefused) {
  // v_add_f64 v[1:2], v[2:3], v[4:5]: the assembler refuses it too.
  const std::vector<uint8_t> code = {0x01, 0x00, 0x80, 0xd2, 0x02, 0x09, 0x02, 0x00};
  const DispatchResult result = m.run(m.kernel_from_bytes(code, options()), {0, 0});
  EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction);
  EXPECT_THAT(result.report, HasSubstr("starts at an odd one"));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
