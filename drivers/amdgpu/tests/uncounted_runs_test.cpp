#include "drivers/amdgpu/uncounted_runs.h"

#include <gtest/gtest.h>

#include "drivers/amdgpu/ring.h"

namespace halyard::amdgpu {
namespace {

// Adds a run as a queue does, under the lock.
void add(UncountedRuns& runs, uint64_t first, uint64_t count) {
  const auto lock = runs.lock();
  runs.add({.first = first, .count = count});
}

TEST(UncountedRuns, AreCreditedWhenTheirCountingPacketIsDone) {
  UncountedRuns runs;
  // Packets 0 and 1 count, 2 to 4 do not, 5 counts for them, 6 counts.
  add(runs, 2, 3);
  EXPECT_EQ(runs.credit(0), 0u);
  EXPECT_EQ(runs.credit(2), 0u);
  EXPECT_EQ(runs.credit(3), 3u);
  EXPECT_EQ(runs.credit(4), 3u);
}

TEST(UncountedRuns, AddUp) {
  UncountedRuns runs;
  add(runs, 0, 2);   // 2 counts, the first to do so
  add(runs, 3, 10);  // 13 counts, the second
  add(runs, 20, 1);  // 14 to 19 and 21 count
  EXPECT_EQ(1 + runs.credit(1), 3u);
  EXPECT_EQ(2 + runs.credit(2), 14u);
  EXPECT_EQ(8 + runs.credit(8), 20u);
  EXPECT_EQ(9 + runs.credit(9), 22u);
  add(runs, 22, 5);
  EXPECT_EQ(9 + runs.credit(9), 22u);
  EXPECT_EQ(10 + runs.credit(10), 28u);
}

TEST(UncountedRuns, AreFoundWhileInFlight) {
  UncountedRuns runs;
  add(runs, 4, 2);
  UncountedRun run;
  EXPECT_FALSE(runs.find(3, &run));
  ASSERT_TRUE(runs.find(5, &run));
  EXPECT_EQ(run.counting(), 6u);
  EXPECT_FALSE(runs.find(6, &run)) << "it counts, and is not in a run";
  runs.credit(5);
  EXPECT_FALSE(runs.find(5, &run)) << "it is done";
}

TEST(BatchLayout, CutsARecordingIntoChunks) {
  const BatchLayout layout = batch_layout(30, 64);
  EXPECT_EQ(layout.chunk, 14u);
  EXPECT_EQ(layout.chunks, 3u);
  EXPECT_EQ(layout.slots(), 33u);
  EXPECT_EQ(layout.size(2), 2u);
  EXPECT_EQ(layout.slot(1), 15u);
  EXPECT_EQ(layout.slot_of(13), 13u);
  EXPECT_EQ(layout.slot_of(14), 15u);
}

TEST(BatchLayout, KeepsPairsTogether) {
  for (uint32_t capacity = kMinCapacity; capacity <= kMaxCapacity; capacity *= 2) {
    const BatchLayout layout = batch_layout(10'000, capacity);
    for (uint32_t i = 0; i < 10'000; i += 2) {
      ASSERT_EQ(layout.slot_of(i) + 1, layout.slot_of(i + 1)) << capacity;
    }
    EXPECT_LE(layout.chunk + 1, capacity / 2);
  }
}

TEST(BatchLayout, OfNothingIsOneCountingPacket) {
  EXPECT_EQ(batch_layout(0, 64).slots(), 1u);
  EXPECT_EQ(batch_layout(0, 64).size(0), 0u);
}

}  // namespace
}  // namespace halyard::amdgpu
