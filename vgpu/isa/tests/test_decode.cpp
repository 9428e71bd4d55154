// What LLVM's disassembler gets wrong, the decoder does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "vgpu/isa/decode.h"

namespace halyard::vgpu::isa {
namespace {

std::array<uint8_t, 8> bytes_of(uint32_t first, uint32_t second) {
  const uint32_t words[2] = {first, second};
  std::array<uint8_t, 8> bytes;
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

class Decode : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    decoder_ = Decoder::create(GetParam(), "", error_);
    ASSERT_NE(decoder_, nullptr) << error_;
  }
  std::string error_;
  std::unique_ptr<Decoder> decoder_;
};

// The constant is the second word (Vega ISA 13.3.1, V_MADMK_F16 and its kin). LLVM takes 255 there
// for "a literal follows".
TEST_P(Decode, TakesEveryConstantOfMultiplyAdd) {
  const struct {
    uint32_t opcode;
    const char* text;
  } kOpcodes[] = {{23, "v_madmk_f32 v3, s1, {:#x}, v2"},
                  {24, "v_madak_f32 v3, s1, v2, {:#x}"},
                  {36, "v_madmk_f16 v3, s1, {:#x}, v2"},
                  {37, "v_madak_f16 v3, s1, v2, {:#x}"}};
  for (const auto& [opcode, text] : kOpcodes) {
    for (const uint32_t constant : {0xffu, 0xfeu, 0x1ffu, 0x100ffu, 0x800000ffu}) {
      const auto bytes = bytes_of(opcode << 25 | 3 << 17 | 2 << 9 | 1, constant);
      DecodedInstruction instruction;
      decoder_->decode(bytes, instruction);
      EXPECT_NE(instruction.op, Op::none) << instruction.extra->mnemonic;
      EXPECT_EQ(instruction.size, 8);
      EXPECT_EQ(decoder_->text(bytes, 0), fmt::format(fmt::runtime(text), constant));
    }
  }
}

// What NEG_LO and NEG_HI make of an integer is not documented.
TEST_P(Decode, RefusesToNegateIntegers) {
  struct Case {
    uint32_t opcode;  // VOP3P's
    bool integer;
    uint32_t sources = 3;  // LLVM 19 refuses a source too many
    bool since_gfx906 = false;
  };
  constexpr Case kCases[] = {
      {0, true},             // v_pk_mad_i16
      {10, true, 2},         // v_pk_add_u16
      {15, false, 2},        // v_pk_add_f16
      {35, false, 3, true},  // v_dot2_f32_f16
      {38, true, 3, true},   // v_dot2_i32_i16
      {40, true, 3, true},   // v_dot4_i32_i8
  };
  for (const Case& c : kCases) {
    if (c.since_gfx906 && decoder_->target().processor == "gfx900") continue;
    for (const uint32_t high : {0u, 1u}) {
      const uint32_t first = 0xd3800000 | c.opcode << 16 | high << 8 | 1;
      const uint32_t second = 0x18000000 | 259u << 9 | 258u | (high == 0 ? 1u << 29 : 0);
      DecodedInstruction instruction;
      const uint32_t third = c.sources == 3 ? 260u << 18 : 0;
      decoder_->decode(bytes_of(first | 1u << 14, second | third), instruction);
      ASSERT_NE(instruction.execute, nullptr);
      EXPECT_EQ((instruction.op == Op::none), c.integer)
          << instruction.extra->mnemonic << " " << high;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Decode,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a"));

}  // namespace
}  // namespace halyard::vgpu::isa
