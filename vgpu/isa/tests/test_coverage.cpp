// Every instruction of a processor is executed, but for those that are left out for good; and
// docs/isa-coverage.md says so. (tests/decoding compares the rows with LLVM.)

#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa::testing {
namespace {

class CoverageOf : public ::testing::TestWithParam<const char*> {};

TEST_P(CoverageOf, EveryOpcodeIsExecutedOrLeftOutForGood) {
  const Coverage coverage = find_coverage(GetParam());
  // A floor, so that a sweep that finds nothing does not pass.
  EXPECT_GT(coverage.implemented.size(), 870u);
  for (const std::string& name : coverage.missing) EXPECT_NE(left_out(name), nullptr) << name;
  for (const std::string& name : coverage.implemented) EXPECT_EQ(left_out(name), nullptr) << name;
}

INSTANTIATE_TEST_SUITE_P(Processors, CoverageOf,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Coverage, TheSweepFindsWhatIsNewInEachProcessor) {
  const auto has = [](const char* processor, const char* name) {
    return find_coverage(processor).implemented.contains(name);
  };
  EXPECT_FALSE(has("gfx900", "v_dot4_i32_i8"));
  EXPECT_TRUE(has("gfx906", "v_dot4_i32_i8"));
  EXPECT_FALSE(has("gfx906", "v_mfma_f32_32x32x1f32"));
  EXPECT_TRUE(has("gfx908", "v_mfma_f32_32x32x1f32"));
  EXPECT_TRUE(has("gfx908", "global_atomic_pk_add_f16"));
  EXPECT_FALSE(has("gfx908", "v_mfma_f64_4x4x4f64"));
  EXPECT_TRUE(has("gfx90a", "v_mfma_f64_4x4x4f64"));
  EXPECT_TRUE(has("gfx90a", "v_pk_fma_f32"));
  EXPECT_TRUE(has("gfx90a", "ds_add_rtn_f64"));
}

TEST(Coverage, EveryOpcodeOfTheTablesIsOfSomeProcessor) {
  std::set<std::string> found;
  for (const char* processor : {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"})
    found.merge(find_coverage(processor).implemented);
  // Of 16 bytes.
  found.insert({"v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4"});
  for (const auto& family :
       {scalar_opcodes(), vector_opcodes(), matrix_opcodes(), memory_opcodes(), lds_opcodes()}) {
    for (const Opcode& opcode : family) {
      const bool has_encoding = !row_of(opcode.op).all_encodings().empty();
      EXPECT_TRUE(!has_encoding || found.contains(row_of(opcode.op).name))
          << row_of(opcode.op).name;
    }
  }
}

TEST(Coverage, ThePageIsWhatTheCodeSays) {
  std::ifstream file(HALYARD_COVERAGE_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(page.str() == coverage_page())
      << "Run halyard-isa-table --write " << HALYARD_COVERAGE_PAGE;
}

TEST(Coverage, NoMnemonicIsInTwoTables) {
  std::set<std::string> seen;
  for (const auto& family :
       {scalar_opcodes(), vector_opcodes(), matrix_opcodes(), memory_opcodes(), lds_opcodes()}) {
    for (const Opcode& opcode : family)
      EXPECT_TRUE(seen.insert(row_of(opcode.op).name).second) << row_of(opcode.op).name;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
