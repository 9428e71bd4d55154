// Where work-groups run: the compute units that a dispatch may use, as kernels see them in HW_ID.

#include <gmock/gmock.h>

#include <set>
#include <thread>
#include <vector>

#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/wave_slots.h"

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

// Bits of HW_ID that tell waves of one die apart: WAVE_ID, SIMD_ID, CU_ID, SH_ID and SE_ID.
constexpr uint32_t kWaveMask = 0xff3f;

// Each wave stores its HW_ID, and stays until all waves that count themselves have.
constexpr char kMeet[] = R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    s_load_dwordx2 s[12:13], s[0:1], 0x10
    s_getreg_b32 s14, hwreg(HW_REG_HW_ID)
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    v_mov_b32 v3, s14
    s_waitcnt lgkmcnt(0)
    global_atomic_add v4, v1, v2, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v4, 2, v4
    global_store_dword v4, v3, s[10:11]
  spin:
    global_load_dword v3, v1, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v3
    s_cmp_lt_u32 s4, s12
    s_cbranch_scc1 spin)";

// Runs dispatches at the same time, whose waves are resident together, and returns how many
// different places they have seen.
size_t places_of_waves(Machine& machine, uint32_t groups, uint32_t waves, uint32_t dispatches) {
  const uint32_t all = groups * waves * dispatches;
  uint32_t* const counter = machine.allocate<uint32_t>(1);
  uint32_t* const seen = machine.allocate<uint32_t>(all);
  uint64_t* const kernarg = machine.allocate<uint64_t>(3);
  kernarg[0] = address_of(counter);
  kernarg[1] = address_of(seen);
  kernarg[2] = all;
  Dispatch dispatch = Machine::grid(groups * waves * 64, static_cast<uint16_t>(waves * 64));
  dispatch.kernel_object = machine.kernel(kMeet);
  dispatch.kernarg_address = address_of(kernarg);
  const volatile bool cancel = false;
  std::vector<std::thread> queues;
  for (uint32_t queue = 0; queue < dispatches; ++queue) {
    queues.emplace_back(
        [&] { EXPECT_EQ(machine.engine().run(dispatch, cancel).fault.kind, Fault::Kind::kNone); });
  }
  for (std::thread& queue : queues) queue.join();
  EXPECT_EQ(*counter, all);
  std::set<uint32_t> places;
  for (uint32_t wave = 0; wave < all; ++wave) places.insert(seen[wave] & kWaveMask);
  return places.size();
}

TEST(Units, ResidentWavesHavePlacesOfTheirOwn) {
  for (const uint32_t workers : {1u, 3u}) {
    EngineOptions options = four_units();
    options.workers = workers;
    Machine machine(options);
    EXPECT_EQ(places_of_waves(machine, 160, 1, 1), 160u) << "all that the device has";
    EXPECT_EQ(places_of_waves(machine, 64, 2, 1), 128u) << "also when the first ones have ended";
    EXPECT_EQ(places_of_waves(machine, 8, 16, 1), 128u);
    EXPECT_EQ(places_of_waves(machine, 20, 3, 2), 120u) << "of two dispatches";
    EXPECT_EQ(places_of_waves(machine, 160, 1, 2), 160u) << "which share if there are too many";
    EXPECT_EQ(places_of_waves(machine, 160, 1, 1), 160u) << "and not later";
  }
}

TEST(WaveSlots, AreSpreadOverTheSimds) {
  WaveSlots slots(2, 4, 10);
  TakenSlots four;
  ASSERT_TRUE(slots.take(1, 4, four));
  EXPECT_THAT(std::vector<uint8_t>(four.slot, four.slot + 4), ElementsAre(0x00, 0x10, 0x20, 0x30));
  TakenSlots next;
  ASSERT_TRUE(slots.take(1, 2, next));
  EXPECT_THAT(std::vector<uint8_t>(next.slot, next.slot + 2), ElementsAre(0x01, 0x11));
  slots.give(1, four);
  ASSERT_TRUE(slots.take(1, 3, four));
  EXPECT_THAT(std::vector<uint8_t>(four.slot, four.slot + 3), ElementsAre(0x20, 0x30, 0x00));
}

TEST(WaveSlots, AUnitHasNoMoreThanItHas) {
  WaveSlots slots(1, 4, 10);
  TakenSlots taken[4];
  for (unsigned n = 0; n < 2; ++n) ASSERT_TRUE(slots.take(0, 16, taken[n]));
  EXPECT_FALSE(slots.take(0, 9, taken[2]));
  EXPECT_EQ(taken[2].mask, 0u);
  EXPECT_TRUE(slots.take(0, 8, taken[2]));
  EXPECT_FALSE(slots.take(0, 1, taken[3]));
  EXPECT_EQ(taken[0].mask & taken[1].mask, 0u);
  EXPECT_EQ(taken[0].mask | taken[1].mask | taken[2].mask, 0x03ff03ff03ff03ffu);
  slots.give(0, taken[1]);
  EXPECT_TRUE(slots.take(0, 16, taken[3]));
  EXPECT_FALSE(slots.take(1, 1, taken[2])) << "there is no second unit";
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
