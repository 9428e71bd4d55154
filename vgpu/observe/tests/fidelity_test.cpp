#include "vgpu/observe/fidelity.h"

#include <gmock/gmock.h>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::observe::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class FidelityTest : public ::testing::Test {
 protected:
  std::string text, json;
  FidelityCounter counter{[this](const FidelityCounts& counted) {
    text += counted.text();
    json += counted.json();
  }};
  Machine machine{watched_by(counter, "gfx90a")};

  void run() {
    isa::testing::KernelOptions options;
    options.rsrc3 = 15;  // AGPRs are behind 64 VGPRs
    machine.expect_ok(kinds, {}, one_group(2, 0), options);
  }

  // Of each kind one, and once more in a second round.
  const std::string kinds =
      "s_mov_b32 s10, 2\nagain:\nv_rcp_f32 v1, v0\nv_sin_f32 v2, v0\nv_rcp_f64 v[4:5], v[2:3]\n"
      "v_mad_f16 v3, v0, v0, v0\ns_sub_u32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\n"
      "s_cbranch_scc1 again\n";
};

TEST_F(FidelityTest, SaysWhatIsExactWhatIsBoundedAndWhatNobodyKnows) {
  run();
  counter.flush();
  // 1 + 2 * 7 + s_endpgm, in two waves.
  EXPECT_THAT(
      text, AllOf(StartsWith("instructions that waves have executed: 32\n"
                             "  exact                                      20   62.5 %\n"
                             "  bounded                                     8   25.0 %\n"
                             "  not verified against hardware               4   12.5 %\n"
                             "\n"
                             "not verified against hardware\n"
                             "               4  gfx90a    v_sin_f32                     no "
                             "document bounds its error; here it is rounded correctly\n"
                             "\n"
                             "bounded\n"),
                  HasSubstr("               4  gfx90a    v_rcp_f32                     1 ulp\n"),
                  HasSubstr("               4  gfx90a    v_rcp_f64                     2^29 ulp\n"),
                  HasSubstr("  v_mad_f16                     but for denormals (open"),
                  HasSubstr("               2  gfx90a    s_endpgm\n")));
}

TEST_F(FidelityTest, SaysTheSameInJson) {
  run();
  counter.flush();
  EXPECT_THAT(
      json, AllOf(StartsWith("{\n  \"instructions\": 32,\n  \"exact\": 20,\n  \"bounded\": 8,\n"
                             "  \"unverified\": 4,\n  \"executed\": [\n"),
                  HasSubstr("    {\"executed\": 4, \"processor\": \"gfx90a\", \"instruction\": "
                            "\"v_rcp_f32\", \"fidelity\": \"bounded\", \"ulps\": 1},\n"),
                  HasSubstr("\"v_sin_f32\", \"fidelity\": \"unverified\", \"open\": \"no document"),
                  EndsWith("}\n  ]\n}\n")));
}

// Processes add to one report.
TEST_F(FidelityTest, ReportsAddUp) {
  run();
  counter.flush();
  for (const std::string* const report : {&text, &json}) {
    FidelityCounts both;
    EXPECT_TRUE(both.add(*report));
    EXPECT_EQ(both.text(), text);
    EXPECT_EQ(both.json(), json);
    EXPECT_TRUE(both.add(*report));
    EXPECT_THAT(both.text(), AllOf(StartsWith("instructions that waves have executed: 64\n"),
                                   HasSubstr("               8  gfx90a    v_sin_f32 ")));
  }
  FidelityCounts none;
  EXPECT_FALSE(none.add("something else\n    12  gfx90a  v_rcp_f32\n"));
  EXPECT_TRUE(none.empty());
}

// The spelling is the processor's; so is what is known.
TEST_F(FidelityTest, WhatIsKnownDependsOnTheProcessor) {
  FidelityCounts counts;
  counts.add("gfx908", "v_mfma_f32_32x32x8f16", 1);
  counts.add("gfx90a", "v_mfma_f32_32x32x8f16", 2);
  counts.add("gfx950", "v_mfma_f32_32x32x8_f16", 3);
  counts.add("gfx950", "v_mfma_i32_32x32x16_i8", 4);
  EXPECT_THAT(counts.json(),
              AllOf(HasSubstr("\"exact\": 6,"), HasSubstr("\"unverified\": 4,"),
                    HasSubstr("\"gfx908\", \"instruction\": \"v_mfma_f32_32x32x8f16\", "
                              "\"fidelity\": \"unverified\""),
                    HasSubstr("\"gfx950\", \"instruction\": \"v_mfma_f32_32x32x8_f16\", "
                              "\"fidelity\": \"unverified\"")));
}

TEST_F(FidelityTest, IsWrittenWhenADispatchFails) {
  machine.run(machine.kernel("s_trap 2"), {});
  EXPECT_THAT(text, HasSubstr("s_trap"));
  text.clear();
  counter.flush();
  EXPECT_THAT(text, IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
