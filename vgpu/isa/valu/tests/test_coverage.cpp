// Every vector ALU mnemonic that LLVM's assembler knows for a processor has a handler, except those
// listed here with the reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {
namespace {

const std::map<std::string, std::string>& left_out() {
  static const std::map<std::string, std::string> reasons = [] {
    const std::string interp = "reads interpolation parameters, which only pixel shaders have";
    std::map<std::string, std::string> r;
    for (const char* name :
         {"v_interp_mov_f32", "v_interp_p1_f32", "v_interp_p2_f32", "v_interp_p1ll_f16",
          "v_interp_p1lv_f16", "v_interp_p2_f16", "v_interp_p2_legacy_f16"}) {
      r[name] = interp;
    }
    r["v_screen_partition_4se_b32"] = "looks up the rasteriser's screen partition";
    return r;
  }();
  return reasons;
}

std::set<std::string> mnemonics(const std::string& processor) {
  std::ifstream file(std::string(HALYARD_TEST_DATA) + "/mnemonics_" + processor + ".txt");
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) names.insert(line);
  return names;
}

std::set<std::string> implemented() {
  std::set<std::string> names;
  for (const Opcode& o : vector_opcodes()) names.insert(row_of(o.op).name);
  return names;
}

class Coverage : public testing::TestWithParam<const char*> {};

TEST_P(Coverage, EveryMnemonicIsImplementedOrLeftOutWithAReason) {
  const auto listed = mnemonics(GetParam());
  ASSERT_GT(listed.size(), 400u);
  const auto have = implemented();
  for (const std::string& name : listed) {
    // In matrix_opcodes().
    if (name.starts_with("v_mfma_") || name.starts_with("v_smfmac_")) continue;
    EXPECT_NE(have.contains(name), left_out().contains(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Coverage,
                         testing::Values("gfx900", "gfx906", "gfx90a", "gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Opcodes, NoMnemonicAppearsTwice) {
  std::set<std::string> seen;
  for (const Opcode& o : vector_opcodes())
    EXPECT_TRUE(seen.insert(row_of(o.op).name).second) << row_of(o.op).name;
}

TEST(Opcodes, EveryOpcodeHasAGeneralHandler) {
  for (const Opcode& o : vector_opcodes()) EXPECT_NE(o.general, nullptr) << row_of(o.op).name;
}

TEST(Opcodes, NothingIsImplementedThatNoProcessorHas) {
  std::set<std::string> listed;
  for (const char* processor : {"gfx900", "gfx906", "gfx90a", "gfx942", "gfx950"}) {
    listed.merge(mnemonics(processor));
  }
  for (const std::string& name : implemented()) EXPECT_TRUE(listed.contains(name)) << name;
}

}  // namespace
}  // namespace halyard::vgpu::isa
