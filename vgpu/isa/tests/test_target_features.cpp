// Rules of LLVM's AMDGPU backend that ask a feature of the target (docs/virtual-gpu.md, "Features
// of a target"): code that was built for either setting gives the same results.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

class TargetFeatures : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  static EngineOptions options() {
    EngineOptions all;
    all.processor = GetParam().first;
    all.features = GetParam().second;
    return all;
  }
  Machine machine{options()};
  uint32_t* const data = machine.allocate<uint32_t>(64);
  uint32_t* const out = machine.allocate<uint32_t>(64);

  void run(const std::string& text, KernelOptions kernel = {}) {
    if (kernel.rsrc3 == 0) kernel.rsrc3 = 15;  // gfx90a: AGPRs start behind 64 VGPRs
    machine.expect_ok("s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + text,
                      {address_of(data), address_of(out)}, Machine::grid(64, 64), kernel);
  }
};

// With xnack on, LLVM keeps loads of a clause off each other's addresses, as they may be replayed,
// and results of scalar loads off their own. With it off, it does not.
TEST_P(TargetFeatures, LoadsMayOverwriteTheirAddresses) {
  for (uint32_t n = 0; n < 64; ++n) data[n] = 100 + n;
  run(R"(
      s_mov_b64 s[8:9], s[4:5]
      s_mov_b64 s[16:17], s[4:5]
      s_load_dwordx8 s[8:15], s[8:9], 0x0
      s_load_dwordx2 s[16:17], s[16:17], 0x20
      v_mov_b32 v2, s4
      v_mov_b32 v3, s5
      v_mov_b32 v4, s4
      v_mov_b32 v5, s5
      global_load_dwordx4 v[2:5], v[2:3], off offset:64
      s_waitcnt vmcnt(0) lgkmcnt(0)
      v_mov_b32 v6, s8
      v_mov_b32 v7, s15
      v_mov_b32 v8, s16
      v_mov_b32 v9, s17
      v_mov_b32 v10, 0
      global_store_dwordx4 v10, v[2:5], s[6:7]
      global_store_dwordx4 v10, v[6:9], s[6:7] offset:16)");
  const uint32_t expected[] = {116, 117, 118, 119, 100, 107, 108, 109};
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(out[n], expected[n]) << n;
}

// VCC, XNACK_MASK and FLAT_SCRATCH, which the count of SGPRs has or leaves out.
TEST_P(TargetFeatures, EveryWaveHasTheExtraScalars) {
  KernelOptions kernel;
  kernel.sgprs = 16;
  std::string text;
  for (const uint32_t scalar : {102u, 103u, 104u, 105u, 106u, 107u}) {
    // s_mov_b32 the scalar, a literal; and back. LLVM names 104 only with xnack.
    text += fmt::format(".long {:#x}\n.long {:#x}\n", 0xbe8000ff | scalar << 16, 1000 + scalar);
    text += fmt::format(".long {:#x}\nv_mov_b32 v2, s8\nv_mov_b32 v3, {}\n", 0xbe880000 | scalar,
                        4 * (scalar - 102));
    text += "global_store_dword v3, v2, s[6:7]\n";
  }
  run(text, kernel);
  for (uint32_t n = 0; n < 6; ++n) EXPECT_EQ(out[n], 1102 + n);
}

// TG_SPLIT, and what processors before gfx90a take for reserved: a length of preloaded kernel
// arguments.
TEST_P(TargetFeatures, DescriptorsMayAskForWhatChangesNoResult) {
  KernelOptions kernel;
  if (machine.processor() != "gfx90a") kernel.properties |= 4u << 16;
  kernel.rsrc3 = 1u << 16 | 15;  // TG_SPLIT; ACCUM_OFFSET is 64
  run("v_mov_b32 v2, 7\nv_lshlrev_b32 v3, 2, v0\nv_and_b32 v3, 0xfc, v3\n"
      "global_store_dword v3, v2, s[6:7]",
      kernel);
  for (uint32_t n = 0; n < 64; ++n) EXPECT_EQ(out[n], 7u);
}

INSTANTIATE_TEST_SUITE_P(Targets, TargetFeatures,
                         ::testing::Values(std::pair("gfx900", "-xnack"),
                                           std::pair("gfx902", "+xnack"),
                                           std::pair("gfx906", "+sramecc,+xnack"),
                                           std::pair("gfx908", "+sramecc,-xnack"),
                                           std::pair("gfx90a", "+sramecc,-xnack"),
                                           std::pair("gfx90a", "+sramecc,+xnack")),
                         [](const auto& info) {
                           const std::string features = info.param.second;
                           const bool retries = features.find("+xnack") != std::string::npos;
                           return std::string(info.param.first) + (retries ? "_xnack" : "");
                         });

}  // namespace
}  // namespace halyard::vgpu::isa::testing
