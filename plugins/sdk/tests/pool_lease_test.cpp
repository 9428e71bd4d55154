#include "plugins/sdk/pool_lease.h"

#include <gtest/gtest.h>

#include <memory>

#include "hal/tests/fake_device.h"

namespace halyard {
namespace {

// One block, of which the test sees where it is.
class OneBlock final : public PoolSource {
 public:
  Status allocate(uint64_t size, uint64_t, const MemoryWait&, PoolBlock* block) override {
    *block = {this, 4096, size, 4096};
    return {};
  }
  PointState wait_until(const std::function<PointState()>& evaluate, Deadline) override {
    return evaluate();
  }
  void free(const PoolBlock&) override { ++freed; }
  bool reached(const PoolPoint&) override { return true; }
  int freed = 0;
};

struct Fixture {
  Fixture() {
    PoolPoint after;
    EXPECT_TRUE(pool.acquire(4096, 1, 1, &block, &after).ok());
    lease.begin(*buffer, block, {std::shared_ptr<void>(), &pool}, allocations);
  }
  ~Fixture() {
    if (lease.ends_with_block()) pool.release_unused(block);
  }
  std::shared_ptr<PoolReturn> give_back() { return PoolReturn::begin(*buffer, lease).value(); }

  Ref<testing::FakeDevice> device = Ref<testing::FakeDevice>::adopt(new testing::FakeDevice);
  Ref<Buffer> buffer = device->allocate(4096).value();
  OneBlock source;
  QueuePool pool{source, 0};
  Allocations allocations;
  PoolLease lease;
  PoolBlock block;
};

TEST(PoolLease, OfNoPool) {
  Fixture f;
  PoolLease none;
  EXPECT_FALSE(none.is_of_pool());
  const Status status = none.begin_return(*f.buffer);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().view().find("4096 bytes"), std::string_view::npos);
}

constexpr PoolPoint kLast = {1, 9};

bool is_found(const Fixture& f) {
  AllocationInfo info;
  return f.allocations.find(reinterpret_cast<const void*>(f.buffer->device_address() + 9), &info);
}

TEST(PoolLease, ABufferIsFoundByAddressWhileItHasItsBlock) {
  Fixture f;
  EXPECT_TRUE(is_found(f));
  std::shared_ptr<PoolReturn> way = f.give_back();
  EXPECT_FALSE(is_found(f));
  way->cancel(kLast);
  EXPECT_TRUE(is_found(f)) << "a failed dealloca leaves everything as it was";
  way = f.give_back();
  way->done(kLast);
  EXPECT_FALSE(is_found(f));
}

TEST(PoolLease, ABufferOnItsWayHasNoBytes) {
  Fixture f;
  EXPECT_EQ(f.buffer->size(), 4096u);
  std::shared_ptr<PoolReturn> way = f.give_back();
  EXPECT_EQ(f.buffer->size(), 0u);
  EXPECT_FALSE(f.lease.ends_with_block());
  EXPECT_EQ(PoolReturn::begin(*f.buffer, f.lease).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(f.pool.figures().used_bytes, 4096u) << "it is not the pool's before it is done";
  way->done({1, 0});
  EXPECT_EQ(f.pool.figures().used_bytes, 0u);
  EXPECT_EQ(f.source.freed, 0) << "that may take long";
  // Too late.
  way->cancel(kLast);
  way->ahead(1);
  way = nullptr;
  EXPECT_EQ(f.source.freed, 1);
  EXPECT_EQ(f.buffer->size(), 0u);
  EXPECT_FALSE(f.lease.ends_with_block());
}

TEST(PoolLease, WhatIsCancelledIsAsBefore) {
  Fixture f;
  {
    const std::shared_ptr<PoolReturn> way = f.give_back();
    way->cancel(kLast);
    EXPECT_EQ(f.buffer->size(), 4096u);
    EXPECT_TRUE(f.lease.ends_with_block());
    // Too late, and nobody's.
    way->done({1, 0});
    way->ahead(1);
  }
  EXPECT_EQ(f.pool.figures().used_bytes, 4096u);
  // Once more, as often as it takes.
  f.give_back()->done({1, 0});
  EXPECT_EQ(f.pool.figures().used_bytes, 0u);
}

TEST(PoolLease, WhatIsDroppedOnTheWayIsCancelled) {
  Fixture f;
  EXPECT_NE(f.give_back(), nullptr);
  EXPECT_EQ(f.buffer->size(), 4096u);
}

// Nothing keeps it from being done any more: its queue may have the block.
TEST(PoolLease, ABlockThatIsAheadIsItsQueues) {
  for (const bool queue_is_lost : {false, true}) {
    Fixture f;
    {
      const std::shared_ptr<PoolReturn> way = f.give_back();
      way->ahead(1);
      EXPECT_EQ(f.pool.figures().used_bytes, 0u);
      EXPECT_FALSE(f.pool.spare().has_unused);
      if (queue_is_lost) {
        way->cancel(kLast);
      } else {
        way->done(kLast);
      }
      EXPECT_TRUE(f.pool.spare().has_unused);
    }
    EXPECT_EQ(f.buffer->size(), 0u);
    EXPECT_EQ(f.source.freed, 1);
  }
}

TEST(PoolLease, ViewsGoWithTheirBuffer) {
  Fixture f;
  const Ref<Buffer> view = f.buffer->subspan(64, 128).value();
  const Ref<Buffer> gone = f.buffer->subspan(0, 16).value();
  f.lease.add_view(*view);
  f.lease.add_view(*gone);
  f.lease.remove_view(*gone);
  const std::shared_ptr<PoolReturn> way = f.give_back();
  EXPECT_EQ(view->size(), 0u);
  EXPECT_EQ(gone->size(), 16u) << "it is nobody's any more";
  f.lease.add_view(*gone);
  EXPECT_EQ(gone->size(), 0u);
  way->cancel(kLast);
  EXPECT_EQ(view->size(), 128u);
  EXPECT_EQ(gone->size(), 16u);
}

TEST(PoolLease, ABufferLivesUntilItIsBack) {
  Fixture f;
  std::shared_ptr<PoolReturn> way = f.give_back();
  const Buffer* const buffer = f.buffer.get();
  f.buffer = nullptr;
  EXPECT_EQ(buffer->size(), 0u);
  way->done({1, 0});
  way = nullptr;
  EXPECT_EQ(f.pool.figures().used_bytes, 0u);
}

}  // namespace
}  // namespace halyard
