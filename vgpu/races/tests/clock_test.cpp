#include "vgpu/races/clock.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace halyard::vgpu::races::testing {
namespace {

Access at(uint32_t group, uint32_t index, Time time) {
  return {{group, index}, time, 1, false};
}

TEST(ClockTest, KnowsGroupsAndWavesUpToATime) {
  Clock clock;
  EXPECT_FALSE(clock.knows(at(0, 0, 1)));
  clock.add_group(3, 5);
  clock.add_wave({3, 1}, 7);
  EXPECT_TRUE(clock.knows(at(3, 0, 5)));
  EXPECT_FALSE(clock.knows(at(3, 0, 6)));
  EXPECT_TRUE(clock.knows(at(3, 1, 7)));
  EXPECT_FALSE(clock.knows(at(3, 1, 8)));
  EXPECT_FALSE(clock.knows(at(2, 1, 1)));
  EXPECT_FALSE(clock.knows(at(4, 1, 1)));
}

TEST(ClockTest, NeighboursOfEqualTimesAreOneRun) {
  Clock clock;
  for (uint32_t group = 0; group < 1000; ++group) {
    clock.add_group(group, 4);
    clock.add_wave({group, 2}, 5);
  }
  EXPECT_EQ(clock.runs(), 2U);
  EXPECT_TRUE(clock.knows(at(999, 2, 5)));
  EXPECT_FALSE(clock.knows(at(1000, 2, 1)));
}

// Against a map of single waves.
TEST(ClockTest, ClocksJoinToTheLaterTimes) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same each time
  for (int round = 0; round < 300; ++round) {
    Clock clocks[2];
    std::map<uint32_t, Time> groups[2];
    for (int n = 0; n < 2; ++n) {
      for (int i = 0; i < 20; ++i) {
        const uint32_t group = random() % 24;
        const Time time = 1 + random() % 3;
        clocks[n].add_group(group, time);
        groups[n][group] = std::max(groups[n][group], time);
      }
    }
    bool includes = true;
    for (const auto& [group, time] : groups[1]) includes = includes && groups[0][group] >= time;
    EXPECT_EQ(clocks[0].includes(clocks[1]), includes);
    Clock both = clocks[0];
    both.join(clocks[1]);
    for (uint32_t group = 0; group < 26; ++group) {
      const Time latest = std::max(groups[0][group], groups[1][group]);
      EXPECT_EQ(both.knows(at(group, 0, std::max(latest, 1u))), latest != 0);
      EXPECT_FALSE(both.knows(at(group, 0, latest + 1)));
    }
    EXPECT_TRUE(both.includes(clocks[0]) && both.includes(clocks[1]));
  }
}

TEST(ClockTest, TooManyRunsKnowEverything) {
  Clock clock;
  for (uint32_t group = 0; group < Clock::kMostRuns; ++group) clock.add_group(group, 1 + group % 2);
  EXPECT_FALSE(clock.is_everything());
  EXPECT_FALSE(clock.knows(at(5000, 0, 1)));
  clock.add_group(Clock::kMostRuns, 1);
  EXPECT_TRUE(clock.is_everything());
  EXPECT_TRUE(clock.knows(at(5000, 0, 1)));
  Clock other;
  other.add_group(1, 1);
  EXPECT_TRUE(clock.includes(other));
  EXPECT_FALSE(other.includes(clock));
  other.join(clock);
  EXPECT_TRUE(other.is_everything());
}

TEST(ClockTest, JoiningWhatIsKnownMakesNoNewClock) {
  auto large = std::make_shared<Clock>();
  large->add_group(1, 3);
  large->add_group(2, 3);
  auto small = std::make_shared<Clock>();
  small->add_group(2, 2);
  EXPECT_EQ(joined(large, small), large);
  EXPECT_EQ(joined(small, large), large);
  EXPECT_EQ(joined(nullptr, small), small);
  EXPECT_EQ(joined(small, nullptr), small);
}

}  // namespace
}  // namespace halyard::vgpu::races::testing
