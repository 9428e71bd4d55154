// Every instruction that a processor executes has a model, or stands here with the reason why not.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {
namespace {

const std::set<std::string>& modelled() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const Row& row : vector_rows()) all.insert(row.name);
    for (const Opcode& o : scalar_alu_opcodes()) all.insert(o.mnemonic);  // test_scalar_model.cpp
    for (const char* const name :
         {"v_readlane_b32", "v_readfirstlane_b32", "v_writelane_b32", "v_swap_b32", "v_nop",
          "v_clrexcp", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
      all.insert(name);  // test_lane_moves.cpp
    for (const Opcode& o : matrix_opcodes()) {
      const std::string name = o.mnemonic;
      if (name.starts_with("v_mfma_")) all.insert(name);  // test_matrix.cpp
    }
    return all;
  }();
  return names;
}

// By the beginning of a name; the longest that fits counts.
const std::map<std::string, std::string>& without_model() {
  static const std::map<std::string, std::string> reasons = {
      {"s_",
       "control flow and messages: test_scalar.cpp and test_scheduling.cpp say what is to "
       "happen, case by case"},
      {"s_load_", "scalar memory: test_scalar.cpp and test_memory.cpp, case by case"},
      {"s_store_", "scalar memory: test_scalar.cpp and test_memory.cpp, case by case"},
      {"s_buffer_", "scalar memory: test_scalar.cpp and test_memory.cpp, case by case"},
      {"s_scratch_", "scalar memory: test_scalar.cpp and test_memory.cpp, case by case"},
      {"s_atomic_", "test_integer_atomics.cpp has a model of its own"},
      {"s_buffer_atomic_", "test_integer_atomics.cpp has a model of its own"},
      {"ds_", "LDS: test_lds.cpp, test_integer_atomics.cpp and test_float_atomics.cpp"},
      {"flat_", "memory: test_memory.cpp, test_integer_atomics.cpp and test_float_atomics.cpp"},
      {"global_", "memory: test_memory.cpp, test_integer_atomics.cpp and test_float_atomics.cpp"},
      {"scratch_", "memory: test_memory.cpp"},
      {"buffer_", "memory: test_memory.cpp, test_integer_atomics.cpp and test_float_atomics.cpp"},
      {"tbuffer_", "formats: test_memory.cpp"},
  };
  return reasons;
}
bool has_reason(const std::string& name) {
  for (const auto& [prefix, reason] : without_model()) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

class Completeness : public ::testing::TestWithParam<const char*> {};

TEST_P(Completeness, EveryInstructionHasAModelOrAReason) {
  for (const std::string& name : find_coverage(GetParam()).implemented) {
    EXPECT_TRUE(modelled().contains(name) || has_reason(name)) << name;
    // Vector instructions all have one.
    if (name.starts_with("v_")) {
      EXPECT_FALSE(has_reason(name)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Completeness,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CompletenessOfRows, EachIsOfSomeProcessorAndThereOnce) {
  std::set<std::string> found, seen;
  for (const char* processor : {"gfx900", "gfx906", "gfx908", "gfx90a"})
    found.merge(find_coverage(processor).implemented);
  for (const Row& row : vector_rows()) {
    EXPECT_TRUE(found.contains(row.name)) << row.name;
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::model
