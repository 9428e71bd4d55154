#include "vgpu/observe/counts.h"

#include <gmock/gmock.h>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::observe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CountsTest : public ::testing::Test {
 protected:
  std::string written;
  Counts counts{one_name("loop"), [this](std::string_view text) { written += text; }};
  Machine machine{watched_by(counts)};

  // Five rounds; half of the lanes after the first instruction.
  const std::string loop =
      "s_mov_b64 exec, 0xffffffff\ns_mov_b32 s10, 5\nagain:\nv_add_u32 v1, v1, v0\n"
      "s_sub_u32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc1 again\n";
};

TEST_F(CountsTest, EveryInstructionOfEveryWaveIsCounted) {
  machine.expect_ok(loop, {}, one_group(2, 0));
  const std::string report = counts.report();
  // 2 + 5 * 4 + s_endpgm, in two waves.
  EXPECT_THAT(report, HasSubstr("kernel loop on gfx900: 46 instructions, 1 dispatches, 1 "
                                "work-groups, 2 waves\n"));
  EXPECT_THAT(report, HasSubstr("  vector                    10   21.7 %\n"));
  EXPECT_THAT(report, HasSubstr("  branch                    10   21.7 %\n"));
  EXPECT_THAT(report, HasSubstr("  scalar                    24   52.2 %\n"));
}

TEST_F(CountsTest, TheHottestInstructionComesFirstWithItsLanesAndPlace) {
  machine.expect_ok(loop, {}, one_group(2, 0));
  const std::string report = counts.report();
  const size_t hot = report.find("v_add_u32_e32 v1, v1, v0");
  const size_t cold = report.find("s_endpgm");
  ASSERT_NE(hot, std::string::npos) << report;
  ASSERT_NE(cold, std::string::npos) << report;
  EXPECT_LT(hot, cold);
  EXPECT_THAT(report, HasSubstr("10   21.7 %   32.0  +0x000c   v_add_u32_e32 v1, v1, v0\n"));
}

TEST_F(CountsTest, DispatchesOfAKernelAddUp) {
  const uint64_t kernel = machine.kernel(loop);
  machine.run(kernel, {});
  machine.run(kernel, {}, Machine::grid(256, 64));
  EXPECT_THAT(counts.report(), HasSubstr("115 instructions, 2 dispatches, 5 work-groups, 5 waves"));
}

TEST_F(CountsTest, AreWrittenWhenADispatchFailsAndStartAnew) {
  machine.run(machine.kernel("s_trap 2"), {});
  EXPECT_THAT(written, AllOf(HasSubstr("1 instructions"), HasSubstr("s_trap 2")));
  EXPECT_THAT(counts.report(), IsEmpty());
  written.clear();
  counts.flush();
  EXPECT_THAT(written, IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
