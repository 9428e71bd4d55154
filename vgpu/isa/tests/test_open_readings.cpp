// What the documents leave open of memory and of encodings, as docs/virtual-gpu.md ("Open
// readings") says it was decided. Of vector arithmetic: valu/tests/test_open_readings.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

// v[8:11] of lane 0 after `text`, which has s[4:5] = 16 dwords of memory, the first of which are
// `memory`, v4 = 0, and LDS that is 0 but for its first dwords, which are `memory` too.
std::vector<uint32_t> run_open(const std::string& text, const std::vector<uint32_t>& memory,
                               const char* processor = "gfx90a") {
  EngineOptions options;
  options.processor = processor;
  Machine machine(options);
  auto* const data = machine.allocate<uint32_t>(16);
  auto* const out = machine.allocate<uint32_t>(4);
  std::copy(memory.begin(), memory.end(), data);
  std::string prologue =
      "s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
      "s_waitcnt lgkmcnt(0)\n"
      "v_mov_b32 v4, 0\n"
      "s_mov_b64 exec, 1\n"
      "s_mov_b32 m0, -1\n";
  for (size_t n = 0; n < 4; ++n) {
    const uint32_t value = n < memory.size() ? memory[n] : 0;
    prologue += fmt::format("v_mov_b32 v5, {:#x}\nds_write_b32 v4, v5 offset:{}\n", value, 4 * n);
  }
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.group_segment_size = 64;
  KernelOptions kernel;
  kernel.rsrc3 = 15;  // gfx90a: AGPRs start behind 64 VGPRs
  machine.expect_ok(prologue + text +
                        "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
                        "global_store_dwordx4 v4, v[8:11], s[6:7]",
                    {address_of(data), address_of(out)}, dispatch, kernel);
  return {out, out + 4};
}

TEST(OpenMemoryReadings, LdsAtomicsIgnoreTheLowBitsOfTheirAddress) {
  for (unsigned low = 0; low < 4; ++low) {
    EXPECT_EQ(run_open(fmt::format("v_mov_b32 v5, {}\nv_mov_b32 v6, 1\n"
                                   "ds_add_rtn_u32 v8, v5, v6\nds_read_b64 v[10:11], v4\n"
                                   "v_mov_b32 v9, 0",
                                   4 + low),
                       {10, 20}),
              std::vector<uint32_t>({20, 0, 10, 21}));
  }
  for (unsigned low = 0; low < 8; ++low) {
    EXPECT_EQ(run_open(fmt::format("v_mov_b32 v5, {}\nv_mov_b32 v6, 1\nv_mov_b32 v7, 2\n"
                                   "ds_add_rtn_u64 v[8:9], v5, v[6:7]\nds_read_b64 v[10:11], v4",
                                   low),
                       {10, 20}),
              std::vector<uint32_t>({10, 20, 11, 22}));
  }
}

TEST(OpenMemoryReadings, MinimaAndMaximaWithNanLeaveMemoryAsItIs) {
  const uint32_t nan = 0x7fc00000, one = std::bit_cast<uint32_t>(1.0f);
  for (const char* op : {"min", "max"}) {
    const std::string lds = fmt::format("ds_{}_rtn_f32 v8, v4, v5\nds_read_b32 v9, v4\n", op);
    const std::string rest = "v_mov_b32 v10, 0\nv_mov_b32 v11, 0";
    EXPECT_EQ(run_open(fmt::format("v_mov_b32 v5, {:#x}\n", nan) + lds + rest, {one}),
              std::vector<uint32_t>({one, one, 0, 0}));
    EXPECT_EQ(run_open(fmt::format("v_mov_b32 v5, {:#x}\n", one) + lds + rest, {nan}),
              std::vector<uint32_t>({nan, nan, 0, 0}));
    const std::string memory = fmt::format(
        "v_mov_b32 v6, 0\nv_mov_b32 v7, {:#x}\nglobal_atomic_{}_f64 v[8:9], v4, v[6:7], s[4:5] "
        "glc\ns_waitcnt vmcnt(0)\nglobal_load_dwordx2 v[10:11], v4, s[4:5]",
        0x7ff80000u, op);
    EXPECT_EQ(run_open(memory, {5, 0x3ff00000}),
              std::vector<uint32_t>({5, 0x3ff00000, 5, 0x3ff00000}));
  }
}

TEST(OpenMemoryReadings, InlineConstantsOfPackedF32FillTheLowHalf) {
  const uint32_t one = std::bit_cast<uint32_t>(1.0f), three = std::bit_cast<uint32_t>(3.0f);
  const std::string start =
      fmt::format("v_mov_b32 v10, {0:#x}\nv_mov_b32 v11, {0:#x}\n", std::bit_cast<uint32_t>(2.0f));
  // By default the upper half comes from the upper dword; compilers take the lower one for both.
  EXPECT_EQ(
      run_open(start + "v_pk_add_f32 v[8:9], v[10:11], 1.0\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0",
               {}),
      std::vector<uint32_t>({three, std::bit_cast<uint32_t>(2.0f), 0, 0}));
  EXPECT_EQ(
      run_open(start + "v_pk_add_f32 v[8:9], v[10:11], 1.0 op_sel_hi:[1,0]\nv_mov_b32 v10, 0\n"
                       "v_mov_b32 v11, 0",
               {}),
      std::vector<uint32_t>({three, three, 0, 0}));
  EXPECT_EQ(
      run_open("v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_pk_mov_b32 v[8:9], 1.0, 1.0 op_sel:[0,1]",
               {}),
      std::vector<uint32_t>({one, 0, 0, 0}));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
