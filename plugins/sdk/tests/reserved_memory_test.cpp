#include "plugins/sdk/reserved_memory.h"

#include <gtest/gtest.h>

#include <map>

#include "hal/error.h"

namespace halyard {
namespace {

constexpr uint64_t kG = kCommitGranule;

// Memory that remembers what is mapped, and maps nothing while it refuses.
class FakeReserved final : public ReservedMemory {
 public:
  ~FakeReserved() override { decommit_all(); }

  std::map<uint64_t, uint64_t> mapped;  // lengths, by offset
  bool refuses = false;

 private:
  Status map(uint64_t offset, uint64_t length, Handle* memory) override {
    if (refuses) return error(StatusCode::kResourceExhausted, "There is no memory.");
    mapped[offset] = length;
    *memory = offset + 1;
    return {};
  }
  Status unmap(uint64_t offset, uint64_t length, Handle memory) override {
    EXPECT_EQ(memory, offset + 1);
    EXPECT_EQ(mapped[offset], length);
    mapped.erase(offset);
    return {};
  }
};

TEST(ReservedMemory, RefusesWhatHasMemoryAlready) {
  FakeReserved memory;
  ASSERT_TRUE(memory.commit(2 * kG, 2 * kG).ok());
  // Into its beginning, its end and its middle, around it, and the same.
  for (const auto& [offset, length] :
       {std::pair{kG, 2 * kG}, std::pair{3 * kG, 2 * kG}, std::pair{3 * kG, kG},
        std::pair{kG, 4 * kG}, std::pair{2 * kG, 2 * kG}, std::pair{2 * kG, kG}}) {
    EXPECT_EQ(memory.commit(offset, length).code(), StatusCode::kFailedPrecondition)
        << offset / kG << ", " << length / kG;
  }
  EXPECT_TRUE(memory.commit(kG, kG).ok());
  EXPECT_TRUE(memory.commit(4 * kG, kG).ok());
  EXPECT_EQ(memory.mapped.size(), 3u);
}

TEST(ReservedMemory, RefusesWhatIsNoGranule) {
  FakeReserved memory;
  EXPECT_EQ(memory.commit(1, kG).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(memory.commit(0, kG + 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(memory.decommit(kG / 2, kG).code(), StatusCode::kInvalidArgument);
}

TEST(ReservedMemory, TakesWholeRangesBack) {
  FakeReserved memory;
  for (const uint64_t offset : {0 * kG, 2 * kG, 4 * kG}) {
    ASSERT_TRUE(memory.commit(offset, 2 * kG).ok());
  }
  EXPECT_EQ(memory.decommit(0, kG).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(memory.decommit(kG, kG).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(memory.decommit(0, 3 * kG).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(memory.decommit(4 * kG, 4 * kG).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(memory.mapped.size(), 3u);
  EXPECT_TRUE(memory.decommit(2 * kG, 4 * kG).ok());
  EXPECT_EQ(memory.mapped.size(), 1u);
  EXPECT_TRUE(memory.commit(3 * kG, kG).ok());
}

TEST(ReservedMemory, ACommitThatFailsLeavesNothing) {
  FakeReserved memory;
  memory.refuses = true;
  EXPECT_EQ(memory.commit(0, kG).code(), StatusCode::kResourceExhausted);
  memory.refuses = false;
  EXPECT_TRUE(memory.commit(0, kG).ok());
}

TEST(ReservedMemory, KnowsWhereAPieceEnds) {
  FakeReserved memory;
  ASSERT_TRUE(memory.commit(kG, 2 * kG).ok());
  ASSERT_TRUE(memory.commit(3 * kG, kG).ok());
  EXPECT_EQ(memory.length_in_piece(kG, 3 * kG), 2 * kG);
  EXPECT_EQ(memory.length_in_piece(kG + 5, 100), 100u);
  EXPECT_EQ(memory.length_in_piece(3 * kG - 1, 100), 1u);
  EXPECT_EQ(memory.length_in_piece(3 * kG, 100), 100u);
  // Nothing is committed there.
  EXPECT_EQ(memory.length_in_piece(0, 2 * kG), 2 * kG);
  EXPECT_EQ(memory.length_in_piece(4 * kG, 7), 7u);
}

}  // namespace
}  // namespace halyard
