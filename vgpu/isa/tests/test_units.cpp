// Where work-groups run: the compute units that a dispatch may use, as kernels see them in HW_ID.

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kPlaceMask = 0xff00;  // CU_ID, SH_ID and SE_ID
constexpr uint32_t kGroups = 32;

EngineOptions four_units() {
  EngineOptions options;
  options.compute_units = 4;
  options.unit_places = {0x0000, 0x2000, 0x0100, 0x2100};
  return options;
}

// The places that a dispatch's work-groups see.
std::set<uint32_t> places_of(const std::vector<uint32_t>* units) {
  Machine machine(four_units());
  uint32_t* const out = machine.allocate<uint32_t>(kGroups);
  Dispatch dispatch = Machine::grid(64 * kGroups, 64);
  dispatch.units = units;
  machine.expect_ok(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_getreg_b32 s10, hwreg(HW_REG_HW_ID)\n"
      "s_lshl_b32 s11, s2, 2\ns_waitcnt lgkmcnt(0)\ns_store_dword s10, s[8:9], s11\n"
      "s_dcache_wb",
      {address_of(out)}, dispatch);
  std::set<uint32_t> places;
  for (uint32_t group = 0; group < kGroups; ++group) places.insert(out[group] & kPlaceMask);
  return places;
}

TEST(Units, AllAreUsedUnlessSomeAreNamed) {
  EXPECT_THAT(places_of(nullptr), ElementsAre(0x0000, 0x0100, 0x2000, 0x2100));
  const std::vector<uint32_t> two = {1, 2};
  EXPECT_THAT(places_of(&two), ElementsAre(0x0100, 0x2000));
  const std::vector<uint32_t> one = {3};
  EXPECT_THAT(places_of(&one), ElementsAre(0x2100));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
