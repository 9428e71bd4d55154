#include "plugins/sdk/pool_group.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace halyard {
namespace {

// Numbers for memory; work up to `done` is done.
class Numbers final : public PoolSource {
 public:
  Status allocate(uint64_t size, uint64_t, const MemoryWait&, PoolBlock* block) override {
    next_ += 1 << 20;
    *block = {reinterpret_cast<void*>(next_), next_, size, 4096};
    live.insert(next_);
    return {};
  }
  PointState wait_until(const std::function<PointState()>& evaluate, Deadline) override {
    return evaluate();
  }
  void free(const PoolBlock& block) override { EXPECT_EQ(live.erase(block.address), 1u); }
  bool reached(const PoolPoint& point) override { return point.index < done; }

  std::set<uint64_t> live;
  uint64_t done = 0;

 private:
  uint64_t next_ = 0;
};

PoolBlock take(QueuePool& pool, uint64_t size = 4096) {
  PoolBlock block;
  PoolPoint after;
  EXPECT_TRUE(pool.acquire(size, 1, 1, &block, &after).ok());
  return block;
}

constexpr uint64_t kKeep = 1 << 20;

TEST(PoolGroup, APoolHasItsOwnLimitAndPolicy) {
  Numbers source;
  PoolGroup group(source, kKeep);
  PoolInfo info;
  info.limit_bytes = 8192;
  info.keep_bytes = 0;
  const std::shared_ptr<QueuePool> pool = group.make(info);
  pool->release_unused(take(*pool));
  EXPECT_TRUE(source.live.empty()) << "it keeps nothing";
  take(*pool, 8192);
  PoolBlock none;
  PoolPoint after;
  EXPECT_FALSE(pool->acquire(4096, 1, 1, &none, &after).ok());
  take(group.own(), 1 << 16);  // which has no limit
  EXPECT_EQ(statistics_of(*pool).reserved_bytes, 8192u);
  EXPECT_EQ(statistics_of(group.own()).reserved_bytes, 1u << 16);
}

TEST(PoolGroup, ByDefaultAPoolKeepsAsTheDevicesOwnDoes) {
  Numbers source;
  PoolGroup group(source, kKeep);
  const std::shared_ptr<QueuePool> pool = group.make({});
  pool->release_unused(take(*pool));
  EXPECT_EQ(source.live.size(), 1u);
}

TEST(PoolGroup, AllPoolsGiveBackWhatNothingUses) {
  Numbers source;
  PoolGroup group(source, kKeep);
  const std::shared_ptr<QueuePool> pool = group.make({});
  pool->release_unused(take(*pool));
  group.own().release_unused(take(group.own()));
  pool->release(take(*pool, 8192), {1, 3});
  EXPECT_TRUE(group.spare().has_unused);
  EXPECT_EQ(group.spare().bytes, 2u * 4096 + 8192);
  group.trim_all();
  EXPECT_FALSE(group.spare().has_unused);
  EXPECT_EQ(group.spare().bytes, 8192u);
  EXPECT_EQ(source.live.size(), 1u);
}

TEST(PoolGroup, WhatWorkUsesOutlivesItsPool) {
  Numbers source;
  PoolGroup group(source, 0);
  std::shared_ptr<QueuePool> pool = group.make({});
  pool->release_unused(take(*pool));
  const PoolBlock used = take(*pool, 8192);
  pool->release(used, {1, 3});
  pool = nullptr;
  EXPECT_EQ(source.live, (std::set<uint64_t>{used.address}));
  source.done = 4;
  group.own().shrink();
  EXPECT_TRUE(source.live.empty());
}

}  // namespace
}  // namespace halyard
