// Every instruction that a processor executes has a model, or stands here with the reason why not.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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
    for (const Opcode& o : scalar_alu_opcodes())
      all.insert(row_of(o.op).name);  // test_scalar_model.cpp
    for (const Opcode& o : scalar_opcodes()) {
      const std::string name = row_of(o.op).name;
      // test_integer_atomics.cpp
      if (name.starts_with("s_atomic_") || name.starts_with("s_buffer_atomic_")) all.insert(name);
      // test_scalar_memory_model.cpp
      if (name.find("_load_dword") != name.npos || name.find("_store_dword") != name.npos)
        all.insert(name);
    }
    for (const char* const name :
         {"v_readlane_b32", "v_readfirstlane_b32", "v_writelane_b32", "v_swap_b32", "v_nop",
          "v_clrexcp", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
      all.insert(name);  // test_lane_moves.cpp
    for (const auto& family : {memory_opcodes(), lds_opcodes()}) {
      for (const Opcode& o : family) {
        MemoryOperation operation;
        if (parse_memory(row_of(o.op).name, operation))
          all.insert(row_of(o.op).name);  // test_memory_model.cpp
        const std::string name = row_of(o.op).name;
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
    // test_matrix.cpp and test_matrix_model.cpp
    for (const Opcode& o : matrix_opcodes()) all.insert(row_of(o.op).name);
    return all;
  }();
  return names;
}

struct Exception {
  const char* reason;
  std::vector<const char*> names;
};
const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> all = {
      {"where a wave goes on, case by case: test_scalar.cpp, test_scheduling.cpp, test_faults.cpp",
       {"s_barrier",
        "s_branch",
        "s_call_b64",
        "s_cbranch_cdbgsys",
        "s_cbranch_cdbgsys_and_user",
        "s_cbranch_cdbgsys_or_user",
        "s_cbranch_cdbguser",
        "s_cbranch_execnz",
        "s_cbranch_execz",
        "s_cbranch_g_fork",
        "s_cbranch_i_fork",
        "s_cbranch_join",
        "s_cbranch_scc0",
        "s_cbranch_scc1",
        "s_cbranch_vccnz",
        "s_cbranch_vccz",
        "s_endpgm",
        "s_endpgm_saved",
        "s_getpc_b64",
        "s_sendmsg",
        "s_sendmsghalt",
        "s_sethalt",
        "s_setpc_b64",
        "s_sleep",
        "s_swappc_b64",
        "s_trap",
        "s_wakeup"}},
      {"the wave's own state, case by case: test_scalar.cpp, test_engine.cpp",
       {"s_getreg_b32", "s_movreld_b32", "s_movreld_b64", "s_movrels_b32", "s_movrels_b64",
        "s_set_gpr_idx_idx", "s_set_gpr_idx_mode", "s_set_gpr_idx_off", "s_set_gpr_idx_on",
        "s_setreg_b32", "s_setreg_imm32_b32", "s_setvskip"}},
      {"no effect that a program can see here",
       {"s_nop",
        "s_waitcnt",
        "s_setprio",
        "s_setkill",
        "s_incperflevel",
        "s_decperflevel",
        "s_ttracedata",
        "s_icache_inv",
        "s_dcache_inv",
        "s_dcache_inv_vol",
        "s_dcache_wb",
        "s_dcache_wb_vol",
        "s_dcache_discard",
        "s_dcache_discard_x2",
        "s_atc_probe",
        "s_atc_probe_buffer",
        "buffer_wbinvl1",
        "buffer_wbinvl1_vol",
        "buffer_wbl2",
        "buffer_invl2"}},
      {"clocks: test_scalar.cpp", {"s_memtime", "s_memrealtime"}},
  };
  return all;
}
bool has_reason(const std::string& name) {
  for (const Exception& e : exceptions()) {
    if (std::ranges::find(e.names, name) != e.names.end()) return true;
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

TEST(CompletenessOfRows, EachExceptionIsNeeded) {
  std::set<std::string> found;
  for (const char* processor : {"gfx900", "gfx906", "gfx908", "gfx90a"})
    found.merge(find_coverage(processor).implemented);
  for (const Exception& e : exceptions()) {
    for (const char* const name : e.names)
      EXPECT_TRUE(found.contains(name) && !modelled().contains(name)) << name;
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
