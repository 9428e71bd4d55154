// Memory that the GPU may only read: each kind of write is a fault, and changes nothing.

#include <algorithm>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

// s[8:9]: the memory; s[4:7]: a buffer of it; v1: 4 bytes for each lane; v[2:3]: the lane's
// address.
constexpr const char* kPrologue =
    "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
    "s_mov_b32 s4, s8\ns_mov_b32 s5, s9\ns_movk_i32 s6, 0x400\ns_mov_b32 s7, 0x27000\n"
    "v_mov_b32 v3, s9\nv_add_co_u32 v2, vcc, s8, v1\nv_addc_co_u32 v3, vcc, 0, v3, vcc\n"
    "v_mov_b32 v4, 7\nv_mov_b32 v5, 7\n";

class ReadOnly : public ::testing::TestWithParam<const char*> {
 protected:
  ReadOnly() {
    std::fill_n(data, 256, 3u);
    machine.memory().protect(data);
  }
  DispatchResult run(const std::string& text) {
    return machine.run(machine.kernel(kPrologue + text), {address_of(data)});
  }

  Machine machine;
  uint32_t* data = machine.allocate<uint32_t>(256);
};

TEST_P(ReadOnly, AWriteFaults) {
  const DispatchResult result = run(GetParam());
  EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory) << result.report;
  EXPECT_TRUE(result.fault.is_write);
  EXPECT_EQ(std::count(data, data + 256, 3u), 256);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ReadOnly,
                         ::testing::Values("global_store_dword v1, v4, s[8:9]",
                                           "global_store_dwordx2 v1, v[4:5], s[8:9]",
                                           "global_store_byte v1, v4, s[8:9]",
                                           "s_mov_b64 exec, 5\nglobal_store_dword v1, v4, s[8:9]",
                                           "flat_store_dword v[2:3], v4",
                                           "global_atomic_add v1, v4, s[8:9]",
                                           "flat_atomic_swap v6, v[2:3], v4 glc",
                                           "buffer_store_dword v4, v1, s[4:7], 0 offen",
                                           "buffer_atomic_add v4, v1, s[4:7], 0 offen",
                                           "buffer_store_format_x v4, v1, s[4:7], 0 offen",
                                           "s_mov_b32 s10, 7\ns_store_dword s10, s[8:9], 0x0",
                                           "s_mov_b32 s10, 7\ns_atomic_add s10, s[8:9], 0x0"));

TEST_F(ReadOnly, ReadsGoOn) {
  uint32_t* const out = machine.allocate<uint32_t>(64);
  const DispatchResult result = machine.run(
      machine.kernel(std::string(kPrologue) +
                     "s_load_dwordx2 s[12:13], s[0:1], 0x8\ns_load_dword s10, s[8:9], 0x4\n"
                     "global_load_dword v6, v1, s[8:9]\nbuffer_load_dword v7, v1, s[4:7], 0 offen\n"
                     "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v6, v6, v7\nv_add_u32 v6, s10, v6\n"
                     "global_store_dword v1, v6, s[12:13]"),
      {address_of(data), address_of(out)});
  EXPECT_EQ(result.fault.kind, Fault::Kind::kNone) << result.report;
  EXPECT_EQ(std::count(out, out + 64, 9u), 64);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
