#include "vgpu/observe/trace.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::observe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TraceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const int file = mkstemp(path_.data());
    ASSERT_GE(file, 0);
    close(file);
  }
  void TearDown() override { unlink(path_.c_str()); }

  std::string trace_of(const std::string& text, const isa::Dispatch& dispatch = one_group(1, 0)) {
    std::string error;
    auto file = OutputFile::open(path_, [](const std::string&) {}, error);
    EXPECT_TRUE(file) << error;
    if (!file) return {};
    const auto trace = make_trace(std::move(file), one_name("steps"));
    Machine machine(watched_by(*trace));
    machine.run(machine.kernel(text), {}, dispatch);
    std::ifstream written(path_);
    std::ostringstream all;
    all << written.rdbuf();
    return all.str();
  }

  std::string path_ = ::testing::TempDir() + "halyard-trace-XXXXXX";
};

TEST_F(TraceTest, SaysWhatEachInstructionChanged) {
  const std::string text = trace_of(
      "s_mov_b32 s8, 7\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, s8\n"
      "v_cmp_gt_u32 vcc, 2, v0\ns_and_b64 exec, exec, vcc\nv_mul_u32_u24 v3, v0, v0\n"
      "s_mov_b32 m0, 3");
  EXPECT_THAT(text, StartsWith("dispatch 1: kernel steps on gfx900, grid 64x1x1, work-groups of "
                               "64x1x1, kernarg 0x"));
  EXPECT_THAT(text, HasSubstr("1 (0, 0, 0) w0 +0x0000  s_mov_b32 s8, 7  | s8=0x7\n"));
  EXPECT_THAT(text, HasSubstr("v_lshlrev_b32_e32 v1, 2, v0  | v1=0x0+0x4*lane\n"));
  EXPECT_THAT(text, HasSubstr("v_mov_b32_e32 v2, s8  | v2=0x7\n"));
  EXPECT_THAT(text, HasSubstr("vcc=0x0000000000000003\n"));
  EXPECT_THAT(text, HasSubstr("exec=0x0000000000000003, scc=1\n"));
  EXPECT_THAT(text, HasSubstr("m0=0x3\n"));
  EXPECT_THAT(text, HasSubstr("dispatch 1 ends\n"));
}

TEST_F(TraceTest, ListsLanesThatFollowNoRule) {
  EXPECT_THAT(trace_of("s_mov_b64 exec, 7\nv_mul_u32_u24 v3, v0, v0"),
              HasSubstr("| v3={0: 0x0, 1: 0x1, 2: 0x4}\n"));
}

TEST_F(TraceTest, AStoresDataIsNoResult) {
  EXPECT_THAT(trace_of("v_mov_b32 v1, 0\nds_write_b32 v1, v0", one_group(1, 256)),
              HasSubstr("ds_write_b32 v1, v0\n"));
}

TEST_F(TraceTest, EndsWithTheFault) {
  const std::string text = trace_of("s_mov_b64 s[8:9], 0\ns_load_dword s10, s[8:9], 0x0");
  EXPECT_THAT(text, HasSubstr("s_load_dword s10, s[8:9], 0x0  | fault: s_load_dword cannot read"));
  EXPECT_THAT(text, HasSubstr("dispatch 1 has failed: s_load_dword cannot read"));
}

TEST_F(TraceTest, BarriersAreSeen) {
  EXPECT_THAT(trace_of("s_barrier", one_group(2, 0)), HasSubstr("\n1 (0, 0, 0) barrier\n"));
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
