#include "plugins/sdk/heap_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plugins/sdk/spare_staging.h"
#include "plugins/sdk/tests/message.h"

namespace halyard {
namespace {

using ::testing::HasSubstr;

HeapInfo heap_of(uint64_t size, uint64_t max_allocation) {
  HeapInfo heap;
  heap.type = MemoryType::kDevice;
  heap.size = size;
  heap.max_allocation = max_allocation;
  return heap;
}

TEST(RoundedSize, HasRoomForTheAlignment) {
  EXPECT_EQ(round_up(1, 16, 4096, 4096).bytes, 4096u);
  EXPECT_EQ(round_up(1, 16, 4096, 4096).slack, 0u);
  EXPECT_EQ(round_up(4096, 8192, 4096, 4096).bytes, 8192u);
  EXPECT_EQ(round_up(4096, 8192, 4096, 4096).slack, 4096u);
  EXPECT_LT(round_up(UINT64_MAX - 1, 1, 1, 4096).bytes, 4096u) << "overflows, which take() sees";
}

TEST(RoundedSize, AlignsAddresses) {
  const auto align = [](uint64_t address, uint64_t alignment) {
    return reinterpret_cast<uint64_t>(align_up(reinterpret_cast<void*>(address), alignment));
  };
  EXPECT_EQ(align(0x1001, 0x1000), 0x2000u);
  EXPECT_EQ(align(0x2000, 0x1000), 0x2000u);
  EXPECT_EQ(align(0x2001, 0), 0x2001u);
}

TEST(HeapUsage, CountsWhatIsInUseAndItsPeak) {
  HeapUsage usage;
  const HeapInfo heap = heap_of(100, 100);
  ASSERT_TRUE(usage.take(heap, "gpu", 60, 60).ok());
  usage.add_buffer();
  ASSERT_TRUE(usage.take(heap, "gpu", 40, 40).ok());
  EXPECT_EQ(usage.untake(40), 60u);
  EXPECT_EQ(usage.statistics().live_bytes, 60u);
  EXPECT_EQ(usage.statistics().live_buffers, 1u);
  EXPECT_EQ(usage.statistics().peak_bytes, 100u);
  usage.free_buffer(60);
  EXPECT_EQ(usage.statistics().live_bytes, 0u);
  EXPECT_EQ(usage.statistics().live_buffers, 0u);
}

TEST(HeapUsage, RefusesWhatDoesNotFitWithSizeLimitAndUse) {
  HeapUsage usage;
  const HeapInfo heap = heap_of(100, 80);
  ASSERT_TRUE(usage.take(heap, "gpu", 50, 50).ok());
  const Status full = usage.take(heap, "gpu", 60, 60);
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(message(full), HasSubstr("60 bytes of device memory does not fit on gpu: of 100"));
  EXPECT_THAT(message(full), HasSubstr("50 are in use"));
  EXPECT_THAT(message(usage.take(heap, "gpu", 81, 81)), HasSubstr("gpu makes (80 bytes)"));
  EXPECT_EQ(usage.take(heap, "gpu", 10, 0).code(), StatusCode::kResourceExhausted) << "overflow";
  EXPECT_EQ(usage.live_bytes(), 50u);
}

TEST(SpareStaging, KeepsSmallBlocksForTheNextUpload) {
  SpareStaging staging;
  int block = 0;
  EXPECT_EQ(SpareStaging::size_for(1, 4096), SpareStaging::kBlock);
  EXPECT_EQ(SpareStaging::size_for(SpareStaging::kBlock + 1, 4096), SpareStaging::kBlock + 4096);
  EXPECT_EQ(staging.take(1), nullptr);
  EXPECT_FALSE(staging.keep(&block, SpareStaging::kBlock + 4096));
  EXPECT_TRUE(staging.keep(&block, SpareStaging::kBlock));
  EXPECT_EQ(staging.take(SpareStaging::kBlock + 1), nullptr);
  EXPECT_EQ(staging.take(SpareStaging::kBlock), &block);
  EXPECT_TRUE(staging.take_all().empty());
}

TEST(SpareStaging, DoesNotKeepWithoutEnd) {
  SpareStaging staging;
  int block = 0;
  size_t kept = 0;
  while (kept < 10'000 && staging.keep(&block, SpareStaging::kBlock)) ++kept;
  EXPECT_LT(kept, 10'000u);
  EXPECT_EQ(staging.take_all().size(), kept);
  EXPECT_EQ(staging.take(1), nullptr);
}

}  // namespace
}  // namespace halyard
