// Schedules: how they are written, what they decide, and that a kernel's result can depend on them.
// (Forward progress under each of them: test_scheduling.cpp.)
#include "vgpu/isa/schedule.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/tests/racing_kernel.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScheduleText, IsReadAsItIsWritten) {
  for (const char* const text :
       {"waves", "waits", "every:1", "every:1000000", "seed:0", "seed:18446744073709551615",
        "waves,serial", "waits,until:0", "seed:7,serial,until:12"}) {
    EXPECT_EQ(schedule_of(text).text(), text);
  }
  EXPECT_EQ(schedule_of("seed:7,until:12,serial").text(), "seed:7,serial,until:12");
}

TEST(ScheduleText, MistakesAreNamed) {
  Schedule schedule = schedule_of("seed:3");
  const auto mistake = [&](const std::string& text) {
    std::string error;
    EXPECT_FALSE(Schedule::parse(text, schedule, error)) << text;
    return error;
  };
  EXPECT_THAT(mistake("wave"), HasSubstr("There is no schedule (wave). The schedules are waves"));
  EXPECT_THAT(mistake(""), HasSubstr("There is no schedule ()"));
  EXPECT_THAT(mistake("waves:1"), HasSubstr("There is no schedule (waves:1)"));
  for (const char* const text : {"every", "every:", "every:0", "every:-1", "every:1000001",
                                 "every:1x", "every:99999999999999999999"}) {
    EXPECT_THAT(mistake(text), HasSubstr("from 1 to 1000000 behind \"every:\""));
  }
  for (const char* const text : {"seed", "seed:x", "seed:18446744073709551616", "seed: 1"})
    EXPECT_THAT(mistake(text), HasSubstr("from 0 to 18446744073709551615 behind \"seed:\""));
  for (const char* const text : {"waves,", "waves,until:", "waves,until:1,until:1",
                                 "waves,serial,serial", "seed:1,Serial"}) {
    EXPECT_THAT(mistake(text), HasSubstr("to a schedule has no meaning"));
  }
  EXPECT_EQ(schedule, schedule_of("seed:3")) << "a mistake changes nothing";
}

TEST(ScheduleText, SeveralThreadsHaveNoOrder) {
  EXPECT_FALSE(schedule_of("waves").has_one_thread());
  EXPECT_FALSE(schedule_of("waits").has_one_thread());
  for (const char* const text : {"waves,serial", "waits,until:9", "every:5", "seed:0"})
    EXPECT_TRUE(schedule_of(text).has_one_thread()) << text;
}

// The first shares that a schedule gives, each used up.
std::vector<uint32_t> shares_of(const std::string& text, size_t count, uint64_t stream = 0) {
  std::atomic<uint64_t> executed{0};
  Turns turns(schedule_of(text), 100, stream, executed);
  std::vector<uint32_t> shares;
  while (shares.size() < count) {
    shares.push_back(turns.share());
    turns.ran(shares.back());
  }
  return shares;
}

TEST(Turns, SharesAreWhatTheScheduleSays) {
  EXPECT_THAT(shares_of("waves", 3), Each(100));
  EXPECT_THAT(shares_of("waits", 3), Each(100));
  EXPECT_THAT(shares_of("every:7", 3), Each(7));
  EXPECT_THAT(shares_of("every:7,until:16", 5), ElementsAre(7, 7, 2, 100, 100));
  EXPECT_THAT(shares_of("every:7,until:0", 2), Each(100));
  const std::vector<uint32_t> drawn = shares_of("seed:1", 50);
  EXPECT_EQ(drawn, shares_of("seed:1", 50));
  EXPECT_THAT(drawn, Each(::testing::Ge(1u)));
  EXPECT_NE(drawn, shares_of("seed:2", 50));
  EXPECT_NE(shares_of("seed:2", 50, 1), shares_of("seed:2", 50, 2)) << "of two dispatches";
}

TEST(Turns, SeedsDifferInTheLengthOfTurns) {
  std::set<uint32_t> lengths;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const std::vector<uint32_t> shares = shares_of("seed:" + std::to_string(seed), 50);
    lengths.insert(*std::max_element(shares.begin(), shares.end()));
  }
  EXPECT_EQ(*lengths.begin(), 1u) << "some change after each instruction";
  EXPECT_GT(*lengths.rbegin(), 1000u) << "some let a wave run a long way";
}

TEST(Turns, UntilCountsTheInstructionsOfAllDispatches) {
  std::atomic<uint64_t> executed{0};
  Turns first(schedule_of("every:7,until:16"), 100, 0, executed);
  first.ran(10);
  EXPECT_EQ(first.kind(), Schedule::Kind::kEvery);
  Turns second(schedule_of("every:7,until:16"), 100, 0, executed);
  EXPECT_EQ(second.share(), 6u);
  second.ran(6);
  EXPECT_EQ(second.kind(), Schedule::Kind::kWaves);
  EXPECT_EQ(Turns(schedule_of("every:7,until:16"), 100, 0, executed).share(), 100u);
}

TEST(Turns, ResidentWorkGroupsGrowWhenNoneEnds) {
  std::atomic<uint64_t> executed{0};
  Turns waves(schedule_of("waves"), 100, 0, executed);
  EXPECT_EQ(waves.starts(0, true, true), 1u);
  EXPECT_EQ(waves.starts(4, true, true), 1u);
  EXPECT_EQ(waves.starts(4, false, true), 3u);
  EXPECT_EQ(waves.first_starts(), 1u);
  Turns every(schedule_of("every:1"), 100, 0, executed);
  EXPECT_EQ(every.first_starts(), 16u);
  EXPECT_EQ(every.starts(1, false, true), 15u);
  EXPECT_EQ(every.starts(16, false, true), 0u) << "all of them work";
  every.ran(16 * 100);
  EXPECT_EQ(every.starts(16, false, true), 9u) << "they have had time enough";
  EXPECT_EQ(every.starts(25, false, true), 0u);
  EXPECT_EQ(every.starts(25, false, false), 13u) << "all sleep";
  every.ran(40 * 100);
  EXPECT_EQ(every.starts(38, true, true), 0u) << "one has ended";
}

// A machine with one kernel, which each wave of a work-group enters.
class Racing {
 public:
  explicit Racing(const std::string& schedule, uint32_t workers = 1)
      : machine_(options_of(schedule, workers)) {}
  Machine& machine() { return machine_; }

 private:
  static EngineOptions options_of(const std::string& schedule, uint32_t workers) {
    EngineOptions options;
    options.workers = workers;
    options.schedule = schedule_of(schedule);
    return options;
  }
  Machine machine_;
};

uint32_t sum_of_race(const std::string& schedule, uint32_t items, uint16_t group) {
  Racing racing(schedule);
  auto* const sum = racing.machine().allocate<uint32_t>(1);
  racing.machine().expect_ok(kRace, {address_of(sum)}, Machine::grid(items, group));
  return *sum;
}

TEST(SchedulingRaces, TwoWavesOfAWorkGroup) {
  EXPECT_EQ(sum_of_race("waves", 128, 128), 2u);
  EXPECT_EQ(sum_of_race("waits", 128, 128), 1u);
  EXPECT_EQ(sum_of_race("every:1", 128, 128), 1u);
  EXPECT_EQ(sum_of_race("waits,until:0", 128, 128), 2u);
  EXPECT_EQ(sum_of_race("waits,until:1000", 128, 128), 1u);
}

TEST(SchedulingRaces, SeedsHaveBothOutcomes) {
  std::set<uint32_t> of_waves;
  std::set<uint32_t> of_groups;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    of_waves.insert(sum_of_race("seed:" + std::to_string(seed), 128, 128));
    of_groups.insert(sum_of_race("seed:" + std::to_string(seed), 128, 64));
  }
  EXPECT_THAT(of_waves, ElementsAre(1u, 2u));
  EXPECT_THAT(of_groups, ElementsAre(1u, 2u));
}

TEST(SchedulingRaces, WorkGroupsTakeTurnsToo) {
  EXPECT_EQ(sum_of_race("waves", 256, 64), 4u);
  EXPECT_EQ(sum_of_race("every:2", 256, 64), 1u);
}

// Each wave of each work-group takes several tickets, and writes down who has got which.
std::vector<uint32_t> order_of(const std::string& schedule, uint32_t workers) {
  constexpr uint32_t kGroups = 12, kWaves = 4, kTickets = 3;
  Racing racing(schedule, workers);
  auto* const counter = racing.machine().allocate<uint32_t>(1);
  auto* const order = racing.machine().allocate<uint32_t>(kGroups * kWaves * kTickets);
  racing.machine().expect_ok(R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    v_readfirstlane_b32 s3, v0
    s_lshl_b32 s4, s2, 10
    s_or_b32 s3, s3, s4
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    v_mov_b32 v3, s3
    s_movk_i32 s5, 3
    s_waitcnt lgkmcnt(0)
  ticket:
    v_mov_b32 v2, 1
    global_atomic_add v2, v1, v2, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v2, 2, v2
    global_store_dword v2, v3, s[10:11]
    s_sub_u32 s5, s5, 1
    s_cmp_lg_u32 s5, 0
    s_cbranch_scc1 ticket)",
                             {address_of(counter), address_of(order)},
                             Machine::grid(kGroups * kWaves * 64, kWaves * 64));
  EXPECT_EQ(*counter, kGroups * kWaves * kTickets);
  return {order, order + *counter};
}

TEST(SchedulingOrder, ASeedHasOneOrderAndAnotherSeedAnother) {
  std::set<std::vector<uint32_t>> orders;
  for (const char* const seed : {"seed:1", "seed:2", "seed:3", "seed:4", "seed:5"}) {
    const std::vector<uint32_t> order = order_of(seed, 1);
    EXPECT_EQ(order, order_of(seed, 1)) << seed;
    EXPECT_EQ(order, order_of(seed, 4)) << seed << " uses one thread";
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 5u);
}

TEST(SchedulingOrder, OneThreadRepeatsItself) {
  for (const char* const schedule : {"waves,serial", "waits,serial", "every:1", "every:5"})
    EXPECT_EQ(order_of(schedule, 4), order_of(schedule, 4)) << schedule;
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
