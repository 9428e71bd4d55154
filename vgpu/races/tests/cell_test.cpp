#include "vgpu/races/cell.h"

#include <gmock/gmock.h>

#include <vector>

namespace halyard::vgpu::races::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WaveId kA{0, 0}, kB{0, 1}, kC{1, 0}, kD{2, 0};

class CellTest : public ::testing::Test {
 protected:
  auto keep() {
    conflicts.clear();
    return [this](Conflict conflict, const Access&) { conflicts.push_back(conflict); };
  }

  std::vector<Conflict> read(WaveId wave, Time time = 1, Time barrier = 1) {
    cell.read({wave, barrier, known}, {wave, time, 1, false}, keep());
    return std::move(conflicts);
  }
  std::vector<Conflict> write(WaveId wave, bool changes, Time time = 1, Time barrier = 1) {
    if (changes) ++memory;
    cell.write({wave, barrier, known}, {wave, time, 2, false},
               {changes, memory - (changes ? 1 : 0), memory}, keep());
    return std::move(conflicts);
  }
  std::vector<Conflict> update(WaveId wave) {
    cell.update({wave, 1, known}, {wave, 1, 3, true}, keep());
    return std::move(conflicts);
  }
  Cell cell;
  uint32_t memory = 0;
  const Clock* known = nullptr;
  std::vector<Conflict> conflicts;
};

TEST_F(CellTest, OneWaveRacesWithNobody) {
  EXPECT_THAT(write(kA, true), IsEmpty());
  EXPECT_THAT(read(kA), IsEmpty());
  EXPECT_THAT(write(kA, true), IsEmpty());
}

TEST_F(CellTest, ReadsRaceWithChangesAndNotWithEachOther) {
  EXPECT_THAT(read(kA), IsEmpty());
  EXPECT_THAT(read(kC), IsEmpty());
  EXPECT_THAT(write(kB, true), ElementsAre(Conflict::kRace, Conflict::kRace));
  EXPECT_THAT(read(kC), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, ABarrierOrdersAWorkGroupOnly) {
  write(kA, true);
  EXPECT_THAT(read(kB, 2, 2), IsEmpty());
  EXPECT_THAT(read(kC, 2, 2), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, WhatIsKnownIsOrdered) {
  write(kA, true);
  Clock clock;
  clock.add_wave(kA, 1);
  known = &clock;
  EXPECT_THAT(read(kC), IsEmpty());
}

TEST_F(CellTest, ManyReadersOfAWorkGroupLeaveRoomForAnother) {
  for (uint32_t index = 0; index < 4; ++index) read({0, index});
  read(kC);
  // Behind a barrier, so that only the other work-group's read is left.
  EXPECT_THAT(write(kA, true, 2, 2), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, ThoseWhoWriteTheSameMayReadItBack) {
  EXPECT_THAT(write(kA, true), IsEmpty());
  EXPECT_THAT(write(kB, false), ElementsAre(Conflict::kEqual));
  EXPECT_THAT(write({0, 2}, false), ElementsAre(Conflict::kEqual));
  for (uint32_t index = 0; index < 3; ++index) EXPECT_THAT(read({0, index}), IsEmpty());
  EXPECT_THAT(read({0, 3}), ElementsAre(Conflict::kRace));
  EXPECT_THAT(read(kC), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, SoMayWorkGroups) {
  EXPECT_THAT(write(kA, true), IsEmpty());
  EXPECT_THAT(write(kC, false), ElementsAre(Conflict::kEqual));
  EXPECT_THAT(read(kC), IsEmpty());
  // Which work-groups they are is not kept.
  EXPECT_THAT(read(kA), ElementsAre(Conflict::kEqual));
  EXPECT_THAT(read(kD), ElementsAre(Conflict::kEqual));
}

// The mailbox of a signal: waves store the same, and the host takes it away between.
TEST_F(CellTest, WhatOthersHaveChangedBetweenIsForgotten) {
  EXPECT_THAT(write(kA, true), IsEmpty());
  memory = 17;
  EXPECT_THAT(write(kC, true), IsEmpty());
  EXPECT_THAT(write(kA, true), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, AReadAfterTwoWritesOfItsPhaseSeesThatTheFirstChangedSomething) {
  write(kA, true);
  write(kA, false);
  EXPECT_THAT(read(kB), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, AWriteOfWhatIsThereIsNoRace) {
  read(kA);
  EXPECT_THAT(write(kB, false), ElementsAre(Conflict::kEqual));
  // The reader is remembered.
  EXPECT_THAT(write(kB, true), ElementsAre(Conflict::kRace));
}

TEST_F(CellTest, AtomicsAndPlainAccessesAreANote) {
  update(kA);
  EXPECT_THAT(update(kB), IsEmpty());
  EXPECT_THAT(read(kC), ElementsAre(Conflict::kMixed));
  EXPECT_THAT(update(kA), ElementsAre(Conflict::kMixed));
  EXPECT_THAT(write(kB, true), ElementsAre(Conflict::kMixed));
  EXPECT_THAT(update(kC), ElementsAre(Conflict::kMixed));
}

}  // namespace
}  // namespace halyard::vgpu::races::testing
