#include "plugins/sdk/pool.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace halyard {
namespace {

// A heap of numbers, and queues whose progress the test decides.
class FakeSource final : public PoolSource {
 public:
  explicit FakeSource(uint64_t capacity) : capacity_(capacity) {}

  Status allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                  PoolBlock* block) override {
    if (wait.allowed) {
      capacity_ += std::exchange(comes_back, 0);
      ++waits;
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      wait_is_over = wait.is_over();
    }
    if (in_use_ + size > capacity_) {
      return Status(StatusCode::kResourceExhausted, "The heap is full.");
    }
    in_use_ += size;
    next_ = (next_ + alignment - 1) / alignment * alignment;
    *block = {reinterpret_cast<void*>(next_), next_, size, alignment};
    next_ += size;
    live_.insert(block->address);
    return {};
  }
  // Looks until there is nothing left that happens meanwhile.
  PointState wait_until(const std::function<PointState()>& evaluate, Deadline) override {
    ++waits;
    if (evaluate() != PointState::kPending) return evaluate();
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return evaluate();
  }
  void free(const PoolBlock& block) override {
    EXPECT_EQ(live_.erase(block.address), 1u) << "freed twice";
    in_use_ -= block.size;
  }
  bool reached(const PoolPoint& point) override { return point.index < done[point.queue]; }
  bool comes(const PoolPoint& point) override { return !abandoned.contains(point.queue); }

  size_t live() const { return live_.size(); }
  std::map<uint64_t, uint64_t> done;  // packets by queue
  uint64_t comes_back = 0;            // to who waits for it
  std::set<uint64_t> abandoned;       // queues
  std::function<void()> meanwhile;    // while somebody waits, once
  int waits = 0;
  bool wait_is_over = false;  // of the last wait

 private:
  uint64_t capacity_;
  uint64_t in_use_ = 0;
  uint64_t next_ = 1 << 20;
  std::set<uint64_t> live_;
};

constexpr uint64_t kQueue = 1;
constexpr uint64_t kOther = 2;
constexpr uint64_t kMany = uint64_t{1} << 40;

struct PoolFixture {
  explicit PoolFixture(uint64_t capacity = kMany, uint64_t keep = kMany, uint64_t limit = 0)
      : source(capacity), pool(source, keep, limit) {}
  PoolBlock take(uint64_t size, uint64_t queue = kQueue, uint64_t alignment = 1) {
    PoolBlock block;
    const Status status = pool.acquire(size, alignment, queue, &block, &after);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return block;
  }
  FakeSource source;
  QueuePool pool;
  PoolPoint after;
};

TEST(PoolSize, WastesAtMostAnEighthOrAPage) {
  for (const uint64_t size :
       {1ull, 4095ull, 4096ull, 4097ull, 100000ull, 1048577ull, 5000000000ull}) {
    const uint64_t bytes = pool_size(size);
    EXPECT_GE(bytes, size);
    EXPECT_LT(bytes - size, std::max<uint64_t>(4096, size / 8 + 1)) << size;
    EXPECT_EQ(pool_size(bytes), bytes) << size;
  }
}

TEST(PoolSize, DoesNotWrapAround) {
  EXPECT_EQ(pool_size(UINT64_MAX), UINT64_MAX);
}

TEST(Pool, TheQueueThatGaveABlockBackGetsItAtOnce) {
  PoolFixture f;
  const PoolBlock first = f.take(1000);
  f.pool.release(first, {kQueue, 7});
  EXPECT_EQ(f.take(1000).address, first.address);
  EXPECT_EQ(f.after.queue, 0u);
  EXPECT_EQ(f.pool.figures().reuses, 1u);
  EXPECT_EQ(f.pool.figures().allocations, 1u);
}

TEST(Pool, AnotherQueueGetsABlockOnceItsWorkIsDone) {
  PoolFixture f;
  const PoolBlock first = f.take(1000);
  f.pool.release(first, {kQueue, 7});
  f.source.done[kQueue] = 7;  // packets 0 to 6
  const PoolBlock second = f.take(1000, kOther);
  EXPECT_NE(second.address, first.address);
  f.source.done[kQueue] = 8;
  EXPECT_EQ(f.take(1000, kOther).address, first.address);
  EXPECT_EQ(f.after.queue, 0u);
}

TEST(Pool, NobodyWaitsForABlockOfAnAbandonedQueue) {
  PoolFixture f(8192);
  const PoolBlock first = f.take(4096);
  const PoolBlock second = f.take(4096);
  f.pool.release(first, {kQueue, 7});
  f.source.abandoned = {kQueue};
  PoolBlock block;
  PoolPoint after;
  EXPECT_EQ(f.pool.acquire(4096, 1, kOther, &block, &after).code(), StatusCode::kResourceExhausted);
  // Its work may end after all.
  f.source.done[kQueue] = 8;
  EXPECT_EQ(f.take(4096, kOther).address, first.address);
  EXPECT_EQ(f.after.queue, 0u);
  f.pool.release_unused(second);
}

TEST(Pool, ABlockWhoseWorkHasNoIndexYetIsItsQueuesAlone) {
  PoolFixture f(8192);
  const PoolBlock first = f.take(1000);
  const PoolBlock second = f.take(1000);
  f.pool.release_ahead(first, kQueue);
  f.source.done[kQueue] = UINT64_MAX;
  EXPECT_FALSE(f.pool.spare().has_unused);
  PoolBlock block;
  PoolPoint after;
  EXPECT_EQ(f.pool.acquire(1000, 1, kOther, &block, &after).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(f.take(1000).address, first.address);
  f.pool.release_unused(second);
}

TEST(Pool, AnIndexThatComesTooLateTouchesNobody) {
  PoolFixture f;
  const PoolBlock block = f.take(1000);
  const uint64_t old = f.pool.release_ahead(block, kQueue);
  EXPECT_EQ(f.take(1000).address, block.address);
  f.pool.settle(old, 3);
  const uint64_t ticket = f.pool.release_ahead(block, kQueue);
  f.pool.settle(old, 3);
  f.source.done[kQueue] = 4;
  EXPECT_NE(f.take(1000, kOther).address, block.address) << "3 is not when it was given back";
  f.pool.settle(ticket, 3);
  EXPECT_EQ(f.take(1000, kOther).address, block.address);
}

TEST(Pool, AFullHeapMakesWorkWaitForABlock) {
  PoolFixture f(4096);
  const PoolBlock block = f.take(4096);
  f.pool.release(block, {kQueue, 5});
  EXPECT_EQ(f.take(4096, kOther).address, block.address);
  EXPECT_EQ(f.after.queue, kQueue);
  EXPECT_EQ(f.after.index, 5u);
}

TEST(Pool, NobodyWaitsForTheHeapWhereABlockIsComing) {
  PoolFixture f(4096);
  f.source.comes_back = 4096;
  const PoolBlock block = f.take(4096);
  f.pool.release(block, {kQueue, 5});
  EXPECT_EQ(f.take(4096, kOther).address, block.address);
  EXPECT_EQ(f.source.comes_back, 4096u);
  EXPECT_NE(f.take(4096, kOther).address, block.address);
  EXPECT_EQ(f.source.comes_back, 0u);
}

TEST(Pool, SaysWhatItHasToSpare) {
  PoolFixture f;
  const PoolBlock first = f.take(4096);
  const PoolBlock second = f.take(8192);
  EXPECT_EQ(f.pool.spare().bytes, 0u);
  f.pool.release(first, {kQueue, 5});
  f.source.done[kQueue] = 5;
  EXPECT_EQ(f.pool.spare().bytes, 4096u);
  EXPECT_FALSE(f.pool.spare().has_unused);
  f.source.done[kQueue] = 6;
  EXPECT_TRUE(f.pool.spare().has_unused);
  f.pool.trim(0);
  EXPECT_EQ(f.pool.spare().bytes, 0u);
  EXPECT_FALSE(f.pool.spare().has_unused);
  f.pool.release_unused(second);
  EXPECT_TRUE(f.pool.spare().has_unused);
}

TEST(Pool, AFullHeapGetsUnusedBlocksOfOtherSizesBack) {
  PoolFixture f(8192);
  f.pool.release_unused(f.take(4096));
  EXPECT_EQ(f.take(8192).size, 8192u);
  EXPECT_EQ(f.pool.figures().reserved_bytes, 8192u);
}

TEST(Pool, SaysWhatTheHeapSaysWhenNothingHelps) {
  PoolFixture f(4096);
  PoolBlock block;
  PoolPoint after;
  const Status status = f.pool.acquire(8192, 1, kQueue, &block, &after);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message().view(), "The heap is full.");
  EXPECT_EQ(f.pool.figures().used_bytes, 0u);
}

TEST(Pool, KeepsNoMoreFreeMemoryThanItsBound) {
  PoolFixture f(kMany, 8192);
  PoolBlock blocks[4];
  for (PoolBlock& block : blocks) block = f.take(4096);
  for (const PoolBlock& block : blocks) f.pool.release_unused(block);
  EXPECT_EQ(f.pool.figures().reserved_bytes, 8192u);
  EXPECT_EQ(f.source.live(), 2u);
  // The oldest went first.
  EXPECT_EQ(f.take(4096, kOther).address, blocks[2].address);
}

TEST(Pool, WhatIsGivenBackGoesToTheSourceOnlyWhenItMayTakeLong) {
  PoolFixture f(kMany, 0);
  f.pool.release(f.take(4096), {kQueue, 0});
  f.source.done[kQueue] = 1;
  EXPECT_EQ(f.source.live(), 1u);
  f.pool.shrink();
  EXPECT_EQ(f.source.live(), 0u);
}

TEST(Pool, BlocksInUseAreKeptWhateverTheBound) {
  PoolFixture f(kMany, 0);
  const PoolBlock block = f.take(4096);
  f.pool.release(block, {kQueue, 0});
  f.pool.shrink();
  f.pool.trim(0);
  EXPECT_EQ(f.source.live(), 1u);
  f.source.done[kQueue] = 1;
  f.pool.trim(0);
  EXPECT_EQ(f.source.live(), 0u);
}

TEST(Pool, TrimsDownToWhatIsAskedFor) {
  PoolFixture f;
  const PoolBlock used = f.take(4096);
  PoolBlock blocks[3];
  for (PoolBlock& block : blocks) block = f.take(4096);
  for (const PoolBlock& block : blocks) f.pool.release_unused(block);
  f.pool.trim(8192);
  EXPECT_EQ(f.pool.figures().reserved_bytes, 8192u);
  f.pool.trim(0);
  EXPECT_EQ(f.pool.figures().reserved_bytes, 4096u) << "what is in use stays";
  EXPECT_EQ(f.pool.figures().peak_reserved_bytes, 4u * 4096);
  f.pool.release_unused(used);
}

TEST(Pool, ABlockMustBeAlignedAsAsked) {
  PoolFixture f;
  f.take(4096);
  const PoolBlock plain = f.take(4096);
  f.pool.release_unused(plain);
  EXPECT_NE(plain.address % 65536, 0u);
  const PoolBlock aligned = f.take(4096, kQueue, 65536);
  EXPECT_EQ(aligned.address % 65536, 0u);
  EXPECT_NE(aligned.address, plain.address);
}

// Of a dealloca that the host holds back the block has no index: no other queue can wait for it.
TEST(Pool, ABlockThatIsSubmittedWhileAnAllocationWaitsIsTaken) {
  PoolFixture f(4096);
  const PoolBlock block = f.take(4096);
  const uint64_t ticket = f.pool.release_ahead(block, kQueue);
  f.source.meanwhile = [&] { f.pool.settle(ticket, 7); };
  EXPECT_EQ(f.take(4096, kOther).address, block.address);
  EXPECT_TRUE(f.source.wait_is_over) << "the wait has to end for it";
  EXPECT_EQ(f.after.queue, kQueue);
  EXPECT_EQ(f.after.index, 7u);
  EXPECT_EQ(f.source.waits, 1);
}

TEST(Pool, ABlockThatIsGivenBackWhileAnAllocationWaitsIsTaken) {
  PoolFixture f(4096);
  const PoolBlock block = f.take(4096);
  f.source.meanwhile = [&] { f.pool.release(block, {kQueue, 3}); };
  EXPECT_EQ(f.take(4096, kOther).address, block.address);
  EXPECT_EQ(f.after.index, 3u);
}

TEST(Pool, AWaitThatBringsNothingIsNotRepeated) {
  PoolFixture f(4096);
  const PoolBlock block = f.take(4096);
  f.pool.release_ahead(block, kQueue);
  PoolBlock none;
  EXPECT_EQ(f.pool.acquire(4096, 1, kOther, &none, &f.after).code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(f.source.waits, 1);
}

TEST(PoolLimit, IsNeverExceeded) {
  PoolFixture f(kMany, kMany, 10000);
  const PoolBlock first = f.take(4096);
  f.take(4096);
  PoolBlock none;
  const Status status = f.pool.acquire(4096, 1, kQueue, &none, &f.after);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message().view(),
            "Queue::alloca_buffer needs 4096 bytes of a pool whose limit is 10000 bytes "
            "(PoolInfo::limit_bytes, or the device option pool_limit_bytes). Of these 8192 are "
            "reserved, 8192 of them in live buffers. Give "
            "buffers back with Queue::dealloca_buffer, or use a pool with a higher limit.");
  EXPECT_EQ(f.source.waits, 0) << "live buffers are not waited for";
  EXPECT_EQ(f.source.live(), 2u);
  f.pool.release_unused(first);
  EXPECT_EQ(f.take(4096).address, first.address);
  EXPECT_EQ(f.pool.figures().peak_reserved_bytes, 8192u);
}

TEST(PoolLimit, MoreThanItIsRefused) {
  PoolFixture f(kMany, kMany, 10000);
  PoolBlock none;
  EXPECT_EQ(f.pool.acquire(10001, 1, kQueue, &none, &f.after).code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(f.pool.acquire(UINT64_MAX, 1, kQueue, &none, &f.after).code(),
            StatusCode::kResourceExhausted);
  f.take(8192);
}

TEST(PoolLimit, UnusedBlocksOfOtherSizesMakeRoom) {
  PoolFixture f(kMany, kMany, 12288);
  f.pool.release_unused(f.take(8192));
  f.take(12288);
  EXPECT_EQ(f.source.live(), 1u);
  EXPECT_EQ(f.source.waits, 0);
}

TEST(PoolLimit, BlocksOfOtherSizesThatWorkUsesAreWaitedFor) {
  PoolFixture f(kMany, kMany, 12288);
  f.pool.release(f.take(8192), {kQueue, 5});
  f.source.meanwhile = [&] { f.source.done[kQueue] = 6; };
  f.take(12288, kOther);
  EXPECT_EQ(f.source.waits, 2) << "first for the block, then, with room, of the source";
  EXPECT_EQ(f.source.live(), 1u);
}

TEST(PoolLimit, AnotherQueuesBlockIsUsedBehindIt) {
  PoolFixture f(kMany, kMany, 4096);
  const PoolBlock block = f.take(4096);
  f.pool.release(block, {kQueue, 5});
  EXPECT_EQ(f.take(4096, kOther).address, block.address);
  EXPECT_EQ(f.after.index, 5u);
}

TEST(PoolLimit, WhatTheSourceDoesNotGiveDoesNotCount) {
  PoolFixture f(4096, kMany, 8192);
  const PoolBlock first = f.take(4096);
  PoolBlock none;
  EXPECT_EQ(f.pool.acquire(4096, 1, kQueue, &none, &f.after).message().view(), "The heap is full.");
  EXPECT_EQ(f.pool.figures().reserved_bytes, 4096u);
  f.source.comes_back = 4096;
  f.take(4096);
  f.pool.release_unused(first);
}

TEST(Pool, AdoptsWhatAnotherLeaves) {
  PoolFixture f;
  QueuePool other(f.source, kMany);
  PoolBlock block;
  ASSERT_TRUE(other.acquire(4096, 1, kQueue, &block, &f.after).ok());
  other.release(block, {kQueue, 2});
  f.pool.adopt(other);
  EXPECT_EQ(f.pool.figures().reserved_bytes, 4096u);
  EXPECT_EQ(f.pool.figures().used_bytes, 0u);
  f.pool.trim(0);
  EXPECT_EQ(f.source.live(), 1u) << "work uses it";
  f.source.done[kQueue] = 3;
  f.pool.trim(0);
  EXPECT_EQ(f.source.live(), 0u);
}

TEST(Pool, GivesEverythingBackInTheEnd) {
  FakeSource source(kMany);
  {
    QueuePool pool(source, kMany);
    PoolBlock block;
    PoolPoint after;
    ASSERT_TRUE(pool.acquire(1, 1, kQueue, &block, &after).ok());
    pool.release(block, {kQueue, 0});
  }
  EXPECT_EQ(source.live(), 0u);
}

}  // namespace
}  // namespace halyard
