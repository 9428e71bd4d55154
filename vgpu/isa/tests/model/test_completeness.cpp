// Every instruction that a processor executes has a model, or stands here with the reason why not.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/tests/model/memory_operation.h"
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
    for (const auto& family : {memory_opcodes(), lds_opcodes()}) {
      for (const Opcode& o : family) {
        MemoryOperation operation;
        if (parse_memory(o.mnemonic, operation)) all.insert(o.mnemonic);  // test_memory_model.cpp
        const std::string name = o.mnemonic;
        if (name.find("_format_") != name.npos) all.insert(name);  // test_format_model.cpp
      }
    }
    for (const char* const name : {"ds_read2_b32",
                                   "ds_read2_b64",
                                   "ds_read2st64_b32",
                                   "ds_read2st64_b64",
                                   "ds_write2_b32",
                                   "ds_write2_b64",
                                   "ds_write2st64_b32",
                                   "ds_write2st64_b64",
                                   "ds_wrxchg2_rtn_b32",
                                   "ds_wrxchg2_rtn_b64",
                                   "ds_wrxchg2st64_rtn_b32",
                                   "ds_wrxchg2st64_rtn_b64",
                                   "ds_append",
                                   "ds_consume",
                                   "ds_read_addtid_b32",
                                   "ds_write_addtid_b32",
                                   "ds_condxchg32_rtn_b64",
                                   "ds_swizzle_b32",
                                   "ds_permute_b32",
                                   "ds_bpermute_b32",
                                   "ds_nop"})
      all.insert(name);  // test_lds_model.cpp
    for (const Opcode& o : matrix_opcodes()) {
      const std::string name = o.mnemonic;
      if (name.starts_with("v_mfma_")) all.insert(name);  // test_matrix.cpp
    }
    return all;
  }();
  return names;
}

// By the beginning of a name.
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
      {"buffer_wbinvl1", "nothing to see: the host's caches are coherent"},
      {"buffer_wbl2", "nothing to see: the host's caches are coherent"},
      {"buffer_invl2", "nothing to see: the host's caches are coherent"},
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
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Completeness,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CompletenessOfRows, EachReasonIsNeeded) {
  std::set<std::string> found;
  for (const char* processor : {"gfx900", "gfx906", "gfx908", "gfx90a"})
    found.merge(find_coverage(processor).implemented);
  for (const auto& [prefix, reason] : without_model()) {
    bool needed = false;
    for (const std::string& name : found)
      needed |= name.starts_with(prefix) && !modelled().contains(name);
    EXPECT_TRUE(needed) << prefix;
  }
}

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
