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
      Instruction instruction;
      decoder_->decode(bytes, 0, instruction);
      EXPECT_NE(instruction.opcode, nullptr) << instruction.mnemonic;
      EXPECT_EQ(instruction.size, 8);
      EXPECT_EQ(decoder_->text(bytes, 0), fmt::format(fmt::runtime(text), constant));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Decode,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a"));

}  // namespace
}  // namespace halyard::vgpu::isa
