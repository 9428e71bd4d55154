// The TFE bit of buffer instructions (gfx900 to gfx908): one more VGPR, which hardware writes only
// when a fetch meets a page of a partially resident texture that is not there. Memory of a compute
// process has none.

#include <gmock/gmock.h>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kTextureLanes = 64, kStatus = 0x57a7u;

class TextureFail : public ::testing::Test {
 protected:
  Machine machine;
  uint32_t* memory = machine.allocate<uint32_t>(kTextureLanes);

  // v1 = lane * 4, s[12:15] = a buffer over memory, v8..v11 = kStatus; then v8..v11 of each lane.
  // The kernel has 12 VGPRs.
  std::vector<uint32_t> run(const std::string& text) {
    for (uint32_t n = 0; n < kTextureLanes; ++n) memory[n] = 100 + n;
    auto* const out = machine.allocate<uint32_t>(4 * kTextureLanes);
    std::string all = R"(
      s_load_dwordx4 s[12:15], s[0:1], 0x0
      s_load_dwordx2 s[6:7], s[0:1], 0x10
      v_lshlrev_b32 v1, 2, v0
      s_waitcnt lgkmcnt(0)
      )";
    for (int r = 8; r < 12; ++r) all += "v_mov_b32 v" + std::to_string(r) + ", 0x57a7\n";
    all += text + "\n";
    for (int r = 0; r < 4; ++r) {
      all += "global_store_dword v1, v" + std::to_string(8 + r) +
             ", s[6:7] offset:" + std::to_string(r * 256) + "\n";
    }
    KernelOptions options;
    options.vgprs = 12;
    // Destination select x, format 32, uint.
    machine.expect_ok(all,
                      {address_of(memory),
                       4 * kTextureLanes | uint64_t{4 | 4 << 12 | 4 << 15} << 32, address_of(out)},
                      Machine::grid(64, 64), options);
    return {out, out + 4 * kTextureLanes};
  }
  static uint32_t at(const std::vector<uint32_t>& v, uint32_t reg, uint32_t lane) {
    return v[(reg - 8) * kTextureLanes + lane];
  }
};

TEST_F(TextureFail, LoadsLeaveTheStatusAlone) {
  const auto r = run(R"(
      buffer_load_dword v[8:9], v1, s[12:15], 0 offen tfe
      buffer_load_format_x v[10:11], v1, s[12:15], 0 offen tfe)");
  for (uint32_t l = 0; l < kTextureLanes; ++l) {
    ASSERT_EQ(at(r, 8, l), 100 + l);
    ASSERT_EQ(at(r, 9, l), kStatus);
    ASSERT_EQ(at(r, 10, l), 100 + l);
    ASSERT_EQ(at(r, 11, l), kStatus);
  }
}

TEST_F(TextureFail, OutOfRangeIsNoFailure) {
  const auto r =
      run("v_add_u32 v1, 0x80, v1\nbuffer_load_dword v[8:9], v1, s[12:15], 0 offen tfe\n"
          "v_subrev_u32 v1, 0x80, v1");
  for (uint32_t l = 0; l < kTextureLanes; ++l) {
    ASSERT_EQ(at(r, 8, l), l < 32 ? 132 + l : 0) << l;
    ASSERT_EQ(at(r, 9, l), kStatus);
  }
}

// tbuffer_load_format_x and buffer_atomic_add … glc, which LLVM does not know with the bit.
TEST_F(TextureFail, TypedLoadsAndAtomicsHaveTheBitToo) {
  const auto r = run(R"(
      .long 0xea201000, 0x80830801
      v_mov_b32 v10, 3
      .long 0xe1085000, 0x80830a01)");
  for (uint32_t l = 0; l < kTextureLanes; ++l) {
    ASSERT_EQ(at(r, 8, l), 100 + l);
    ASSERT_EQ(at(r, 9, l), kStatus);
    ASSERT_EQ(at(r, 10, l), 100 + l);
    ASSERT_EQ(at(r, 11, l), kStatus);
    ASSERT_EQ(memory[l], 103 + l);
  }
}

TEST_F(TextureFail, StoresWriteTheDataAlone) {
  // buffer_store_dword, to which LLVM's assembler does not give the bit.
  run(".long 0xe0701000, 0x80830801");
  for (uint32_t l = 0; l < kTextureLanes; ++l) ASSERT_EQ(memory[l], kStatus);
}

TEST_F(TextureFail, TheStatusIsARegisterThatTheKernelNeeds) {
  KernelOptions options;
  options.vgprs = 8;
  const DispatchResult result =
      machine.run(machine.kernel("buffer_load_dword v[7:8], off, s[12:15], 0 tfe", options), {});
  EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction);
  EXPECT_THAT(result.fault.message, HasSubstr("uses 9 VGPRs"));
}

TEST(TextureFailText, NamesTheBit) {
  constexpr uint8_t kTyped[] = {0x00, 0x10, 0x20, 0xea, 0x01, 0x08, 0x83, 0x80};
  std::string error;
  EXPECT_THAT(Decoder::create("gfx906", "", error)->text(kTyped, 0),
              ::testing::AllOf(HasSubstr("tbuffer_load_format_x v8, v1"), HasSubstr(" tfe")));
  // gfx90a has AGPRs in its place.
  EXPECT_THAT(Decoder::create("gfx90a", "", error)->text(kTyped, 0),
              ::testing::AllOf(HasSubstr("tbuffer_load_format_x a8, v1"),
                               ::testing::Not(HasSubstr("tfe"))));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
