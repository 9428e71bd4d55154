// The engine as its callers see it: grids, initial state, results.

#include <gmock/gmock.h>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

TEST(Engine, AddsTwoVectorsAcrossManyWorkGroups) {
  Machine machine;
  constexpr uint32_t kCount = 10000;
  auto* a = machine.allocate<float>(kCount);
  auto* b = machine.allocate<float>(kCount);
  auto* c = machine.allocate<float>(kCount);
  for (uint32_t n = 0; n < kCount; ++n) {
    a[n] = static_cast<float>(n);
    b[n] = 0.5f * static_cast<float>(n) + 1;
  }
  machine.expect_ok(R"(
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_load_dwordx2 s[8:9], s[0:1], 0x10
    s_lshl_b32 s3, s2, 8
    v_add_u32_e32 v0, s3, v0
    v_lshlrev_b32_e32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v1, v0, s[4:5]
    global_load_dword v2, v0, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v1, v1, v2
    global_store_dword v0, v1, s[8:9])",
                    {address_of(a), address_of(b), address_of(c)}, Machine::grid(kCount, 256));
  for (uint32_t n = 0; n < kCount; ++n) ASSERT_EQ(c[n], a[n] + b[n]) << n;
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
