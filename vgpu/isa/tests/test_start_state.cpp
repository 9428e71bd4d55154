// What a wave finds at its start from gfx90a on: preloaded kernel arguments, architected flat
// scratch, the die that it runs on, and how much LDS a work-group can have.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::HasSubstr;

EngineOptions options_for(const std::string& processor) {
  EngineOptions options;
  options.processor = processor;
  return options;
}

KernelOptions kernel_options() {
  KernelOptions options;
  options.rsrc3 = 15;  // AGPRs start behind 64 VGPRs
  return options;
}

TEST(Targets, EveryProcessorHasItsFacts) {
  for (const char* const processor : kKnownProcessors) {
    Target target;
    std::string error;
    EXPECT_TRUE(find_target(processor, "", target, error)) << error;
    EXPECT_EQ(target.processor, processor);
  }
  Target target;
  std::string error;
  EXPECT_FALSE(find_target("gfx1100", "", target, error));
  EXPECT_THAT(error, HasSubstr("(gfx1100); it executes gfx900, gfx902, "));
  EXPECT_THAT(error, HasSubstr("gfx942 and gfx950."));
}

TEST(Targets, Gfx942AndGfx950DifferFromGfx90aByFacts) {
  Target mi200, mi300, mi350;
  std::string error;
  ASSERT_TRUE(find_target("gfx90a", "", mi200, error) && find_target("gfx942", "", mi300, error) &&
              find_target("gfx950", "", mi350, error));
  EXPECT_FALSE(mi200.architected_flat_scratch || mi200.scope_bits || mi200.has_xcds);
  for (const Target& target : {mi300, mi350}) {
    EXPECT_TRUE(target.accum_offset && target.aligned_vgpr_pairs && target.packed_work_item_ids);
    EXPECT_TRUE(target.architected_flat_scratch && target.scope_bits && target.has_xcds);
    EXPECT_EQ(target.last_hwreg, 24u);
    EXPECT_FALSE(target.float_atomics_in_l2);
  }
  EXPECT_EQ(mi300.float8, Float8::kFnuz);
  EXPECT_EQ(mi350.float8, Float8::kOcp);
  EXPECT_EQ(mi300.lds_bytes, 65536u);
  EXPECT_EQ(mi350.lds_bytes, 163840u);
}

class StartState : public ::testing::TestWithParam<const char*> {
 protected:
  Machine machine_{options_for(GetParam())};
  uint32_t* const out_ = machine_.allocate<uint32_t>(64);

  // Stores s8 to s15 of the first wave.
  static std::string store_sgprs() {
    std::string text;
    for (unsigned n = 0; n < 8; ++n)
      text += fmt::format(
          "v_mov_b32 v2, s{}\nv_mov_b32 v3, {}\nglobal_store_dword v3, v2, s[4:5]\n", 8 + n, 4 * n);
    return text;
  }
};

// The packet processor loads the arguments and skips the 256 bytes that would do so.
TEST_P(StartState, KernelArgumentsAreLoadedBeforeTheCodeBegins) {
  KernelOptions kernel = kernel_options();
  kernel.properties = 8 | 3u << 16 | 2u << 23;  // three dwords, from the third on
  kernel.user_sgprs = 5;
  kernel.rsrc2 = 1u << 7;
  machine_.expect_ok(
      "s_trap 2\n.fill 63, 4, 0xbf800000\n"
      "s_load_dwordx2 s[6:7], s[0:1], 0x0\ns_mov_b64 s[8:9], s[2:3]\ns_mov_b64 s[10:11], s[4:5]\n"
      "s_waitcnt lgkmcnt(0)\ns_mov_b64 s[4:5], s[6:7]\ns_mov_b32 s12, 0\ns_mov_b64 s[14:15], 0\n" +
          store_sgprs(),
      {address_of(out_), 0x2222222211111111, 0x33333333}, Machine::grid(64, 64), kernel);
  EXPECT_EQ(out_[0], 0x11111111u);
  EXPECT_EQ(out_[1], 0x22222222u);
  EXPECT_EQ(out_[2], 0x33333333u);
  EXPECT_EQ(out_[3], 0u);  // the work-group's id follows
}

TEST_P(StartState, ArgumentsThatAreNotThereAreAFault) {
  KernelOptions kernel = kernel_options();
  kernel.properties = 8 | 4u << 16 | 511u << 23;
  kernel.user_sgprs = 6;
  uint32_t* const arguments = machine_.allocate<uint32_t>(2);
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.kernarg_address = address_of(arguments);
  dispatch.kernel_object = machine_.kernel("s_nop 0", kernel);
  machine_.release(arguments);
  const volatile bool cancel = false;
  const DispatchResult result = machine_.engine().run(dispatch, cancel);
  EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory);
  EXPECT_THAT(result.report, HasSubstr("asks to preload are not readable memory"));
}

INSTANTIATE_TEST_SUITE_P(Processors, StartState, ::testing::Values("gfx90a", "gfx942", "gfx950"));

class MultipleDies : public ::testing::TestWithParam<const char*> {};

TEST_P(MultipleDies, FlatScratchIsThere) {
  Machine machine(options_for(GetParam()));
  uint32_t* const out = machine.allocate<uint32_t>(64);
  KernelOptions kernel = kernel_options();
  kernel.rsrc2 |= 1;  // private memory: no SGPR has the wave's offset, as none follow the ids
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 16;
  machine.expect_ok(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_mov_b64 s[12:13], src_private_base\n"
      "v_mov_b32 v1, 42\nv_mov_b32 v2, 0\nv_mov_b32 v6, 4\nv_mov_b32 v7, s13\n"
      "flat_store_dword v[6:7], v1\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "flat_load_dword v2, v[6:7]\n"
      "v_mov_b32 v3, 0\nv_mov_b32 v4, flat_scratch_lo\nv_mov_b32 v5, flat_scratch_hi\n"
      "v_mov_b32 v8, s5\n"
      "s_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v3, v2, s[8:9]\n"
      "global_store_dword v3, v4, s[8:9] offset:4\nglobal_store_dword v3, v5, s[8:9] offset:8\n"
      "global_store_dword v3, v8, s[8:9] offset:12",
      {address_of(out)}, dispatch, kernel);
  EXPECT_EQ(out[0], 42u);
  EXPECT_NE(out[1] | uint64_t{out[2]} << 32, 0u);
  EXPECT_EQ(out[3], 0u);
}

// Work-groups go to one die after the other, and XCC_ID says to which.
TEST_P(MultipleDies, TakeTurns) {
  constexpr uint32_t kGroups = 24;
  EngineOptions options = options_for(GetParam());
  options.compute_units = 16;
  options.xccs = 4;
  options.first_xcc = 2;
  Machine machine(options);
  uint32_t* const out = machine.allocate<uint32_t>(kGroups);
  machine.expect_ok(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_getreg_b32 s10, hwreg(HW_REG_XCC_ID)\n"
      "s_lshl_b32 s11, s2, 2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, s11\nv_mov_b32 v2, s10\n"
      "global_store_dword v1, v2, s[8:9]",
      {address_of(out)}, Machine::grid(64 * kGroups, 64), kernel_options());
  for (uint32_t group = 0; group < kGroups; ++group) EXPECT_EQ(out[group], 2 + group % 4) << group;
}

INSTANTIATE_TEST_SUITE_P(Processors, MultipleDies, ::testing::Values("gfx942", "gfx950"));

TEST(LdsSize, IsTheProcessors) {
  for (const auto& [processor, bytes] : {std::pair("gfx942", 65536u), {"gfx950", 163840u}}) {
    Machine machine(options_for(processor));
    uint32_t* const out = machine.allocate<uint32_t>(1);
    Dispatch dispatch = Machine::grid(64, 64);
    dispatch.group_segment_size = bytes;
    machine.expect_ok(
        fmt::format("s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_mov_b32 v1, {}\nv_mov_b32 v2, 7\n"
                    "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v1\n"
                    "v_mov_b32 v4, 0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v4, v3, s[8:9]",
                    bytes - 4),
        {address_of(out)}, dispatch, kernel_options());
    EXPECT_EQ(out[0], 7u);
    dispatch.group_segment_size = bytes + 4;
    const DispatchResult result =
        machine.run(machine.kernel("s_nop 0", kernel_options()), {}, dispatch);
    EXPECT_EQ(result.fault.kind, Fault::Kind::kGroupMemory);
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
