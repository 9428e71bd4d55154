// Every instruction that a processor executes is compared with a model, or stands here with the
// reason why not. Tests that compare say which (tests/covered.h), and fail if they do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {
namespace {

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
        "buffer_invl2",
        "buffer_inv"}},
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

constexpr const char* kProcessors[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"};

class Completeness : public ::testing::TestWithParam<const char*> {};

TEST_P(Completeness, EveryInstructionHasAModelOrAReason) {
  for (const std::string& name : find_coverage(GetParam()).implemented) {
    EXPECT_TRUE(testing::covered_names().contains(name) || has_reason(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Completeness, ::testing::ValuesIn(kProcessors),
                         [](const auto& info) { return std::string(info.param); });

TEST(CompletenessOfRows, EachExceptionIsNeeded) {
  std::set<std::string> found;
  for (const char* processor : kProcessors) found.merge(find_coverage(processor).implemented);
  for (const Exception& e : exceptions()) {
    for (const char* const name : e.names)
      EXPECT_TRUE(found.contains(name) && !testing::covered_names().contains(name)) << name;
  }
}

TEST(CompletenessOfRows, EachIsOfSomeProcessorAndThereOnce) {
  std::set<std::string> found, seen;
  for (const char* processor : kProcessors) found.merge(find_coverage(processor).implemented);
  for (const Row& row : vector_rows()) {
    EXPECT_TRUE(found.contains(row.name)) << row.name;
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::model
