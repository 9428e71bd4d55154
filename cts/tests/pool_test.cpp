// Queue-ordered memory: buffers that come and go in the order of the timeline.
#include <algorithm>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kPoolCount = 1024;
constexpr uint64_t kPoolBytes = kPoolCount * sizeof(uint32_t);

class Pools : public DeviceTest {
 protected:
  PoolStatistics statistics(MemoryType type = MemoryType::kDevice) {
    return take(device().pool_statistics(type));
  }
  static PoolOptions host() {
    PoolOptions options;
    options.type = MemoryType::kHost;
    return options;
  }
};

TEST_F(Pools, BuffersAreUsedByTheWorkBehindThem) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kPoolBytes));
  EXPECT_EQ(buffer->size(), kPoolBytes);
  EXPECT_NE(buffer->device_address(), 0u);
  const uint32_t one = 1;
  ASSERT_OK(queue().fill(buffer, &one, 4));
  ASSERT_OK(queue().dispatch(affine(buffer, kPoolCount, 3, 4), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(buffer), std::vector<uint32_t>(kPoolCount, 7)));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  EXPECT_OK(finish());
}

TEST_F(Pools, BuffersAreUsedByAnotherQueueThatWaits) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> ready = new_semaphore();
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kPoolBytes, {}, When().then(ready, 1)));
  const uint32_t five = 5;
  ASSERT_OK(other->fill(buffer, &five, 4, When(next()).after(ready, 1)));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(buffer), std::vector<uint32_t>(kPoolCount, 5)));
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  EXPECT_OK(drain(queue()));
}

TEST_F(Pools, WaitForTheirSemaphores) {
  const Ref<Semaphore> gate = new_semaphore();
  const Sync sync = next();
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kPoolBytes, {}, When(sync).after(gate, 1)));
  EXPECT_FAILS(device().wait(sync.signal, WaitMode::kAll, Deadline::poll()),
               StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(finish());
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  EXPECT_OK(drain(queue()));
}

TEST_F(Pools, BuffersOfEverySize) {
  std::vector<Ref<Buffer>> buffers;
  for (const uint64_t size : {1ull, 3ull, 255ull, 4097ull, 65535ull, 65537ull, 5ull << 20}) {
    buffers.push_back(take(queue().alloca_buffer(size)));
    EXPECT_EQ(buffers.back()->size(), size);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint8_t mark = static_cast<uint8_t>(i + 1);
    ASSERT_OK(queue().fill(buffers[i], &mark, 1));
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(same(download<uint8_t>(buffers[i]),
                     std::vector<uint8_t>(buffers[i]->size(), static_cast<uint8_t>(i + 1))));
    ASSERT_OK(queue().dealloca_buffer(*buffers[i]));
  }
  EXPECT_OK(drain(queue()));
}

TEST_F(Pools, AlignmentIsKept) {
  std::vector<Ref<Buffer>> buffers;
  for (uint64_t alignment = 1; alignment <= 2u << 20; alignment *= 8) {
    PoolOptions options;
    options.alignment = alignment;
    buffers.push_back(take(queue().alloca_buffer(100, options)));
    EXPECT_EQ(buffers.back()->device_address() % alignment, 0u) << alignment;
  }
  for (const Ref<Buffer>& buffer : buffers) ASSERT_OK(queue().dealloca_buffer(*buffer));
  EXPECT_OK(drain(queue()));
}

TEST_F(Pools, OfHostMemory) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kPoolBytes, host()));
  EXPECT_EQ(buffer->type(), MemoryType::kHost);
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(buffer, &five, 4, next()));
  ASSERT_OK(finish());
  const auto* words =
      static_cast<const uint32_t*>(take(buffer->map(0, kPoolBytes, MapAccess::kRead)));
  EXPECT_EQ(words[kPoolCount - 1], 5u);
  ASSERT_OK(buffer->unmap(const_cast<uint32_t*>(words)));
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  EXPECT_OK(drain(queue()));
}

// Memory goes round and round without a wait of the host's, and does not grow with the number of
// rounds.
TEST_F(Pools, MemoryIsUsedAgainInQueueOrder) {
  constexpr uint32_t kRounds = 120;  // of 1 MiB each: more in all than may be reserved
  const Ref<Buffer> results = poisoned(kRounds * 4);
  ASSERT_OK(device().trim_pool(MemoryType::kDevice, 0));
  const PoolStatistics before = statistics();
  for (uint32_t i = 0; i < kRounds; ++i) {
    const Ref<Buffer> buffer = take(queue().alloca_buffer(1 << 20));
    ASSERT_OK(queue().fill(buffer, &i, 4));
    ASSERT_OK(queue().dispatch(affine(buffer, kPoolCount, 3, 1)));
    ASSERT_OK(queue().copy({*buffer, kPoolBytes - 4, 4}, {*results, 4 * i, 4}));
    ASSERT_OK(queue().dealloca_buffer(*buffer));
  }
  ASSERT_OK(drain(queue()));
  std::vector<uint32_t> expected(kRounds);
  for (uint32_t i = 0; i < kRounds; ++i) expected[i] = 3 * i + 1;
  EXPECT_TRUE(same(download<uint32_t>(results), expected));
  const PoolStatistics after = statistics();
  EXPECT_EQ(after.allocations, before.allocations + kRounds);
  EXPECT_GT(after.reuses, before.reuses + kRounds / 2);
  EXPECT_LE(after.reserved_bytes, before.reserved_bytes + (64u << 20));
}

// What one queue gives back another may only get when the first is past it.
TEST_F(Pools, MemoryOfAnotherQueueIsNotUsedTooEarly) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> copy = poisoned(kPoolBytes);
  const Ref<Buffer> first = take(queue().alloca_buffer(kPoolBytes));
  const uint32_t one = 1;
  const uint32_t two = 2;
  ASSERT_OK(queue().fill(first, &one, 4));
  ASSERT_OK(queue().copy(first, copy, When(next()).after(gate, 1)));
  ASSERT_OK(queue().dealloca_buffer(*first));
  const Ref<Buffer> second = take(other->alloca_buffer(kPoolBytes));
  const Ref<Semaphore> filled = new_semaphore();
  ASSERT_OK(other->fill(second, &two, 4, When().then(filled, 1)));
  // Either the second buffer lies elsewhere and is filled now, or its queue waits for the first.
  static_cast<void>(filled->wait(1, Deadline::after_ns(20 * 1000 * 1000)).ok());
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(copy), std::vector<uint32_t>(kPoolCount, 1)));
  ASSERT_OK(filled->wait(1, time_limit()));
  EXPECT_TRUE(same(download<uint32_t>(second), std::vector<uint32_t>(kPoolCount, 2)));
  ASSERT_OK(other->dealloca_buffer(*second));
  EXPECT_OK(drain(*other));
}

TEST_F(Pools, LiveBuffersNeverOverlap) {
  std::vector<Ref<Buffer>> live;
  for (int round = 0; round < 200; ++round) {
    live.push_back(take(queue().alloca_buffer(1 + random()() % 100000)));
    if (random()() % 2 == 0) {
      const size_t victim = random()() % live.size();
      ASSERT_OK(queue().dealloca_buffer(*live[victim]));
      live.erase(live.begin() + static_cast<ptrdiff_t>(victim));
    }
    std::vector<const Buffer*> sorted;
    for (const Ref<Buffer>& buffer : live) sorted.push_back(buffer.get());
    std::sort(sorted.begin(), sorted.end(), [](const Buffer* a, const Buffer* b) {
      return a->device_address() < b->device_address();
    });
    for (size_t i = 1; i < sorted.size(); ++i) {
      ASSERT_LE(sorted[i - 1]->device_address() + sorted[i - 1]->size(),
                sorted[i]->device_address());
    }
  }
  for (const Ref<Buffer>& buffer : live) ASSERT_OK(queue().dealloca_buffer(*buffer));
  EXPECT_OK(drain(queue()));
}

TEST_F(Pools, StatisticsFollowUse) {
  const PoolStatistics before = statistics();
  const Ref<Buffer> buffer = take(queue().alloca_buffer(1 << 20));
  const PoolStatistics during = statistics();
  EXPECT_GE(during.used_bytes, before.used_bytes + (1 << 20));
  EXPECT_GE(during.reserved_bytes, during.used_bytes);
  EXPECT_GE(during.peak_reserved_bytes, during.reserved_bytes);
  EXPECT_EQ(during.allocations, before.allocations + 1);
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(statistics().used_bytes, before.used_bytes);
}

TEST_F(Pools, TrimGivesUnusedMemoryBack) {
  const Ref<Buffer> kept = take(queue().alloca_buffer(1 << 20));
  const Ref<Buffer> dropped = take(queue().alloca_buffer(32 << 20));
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(kept, &five, 4));
  ASSERT_OK(queue().dealloca_buffer(*dropped));
  ASSERT_OK(drain(queue()));
  const uint64_t before = statistics().reserved_bytes;
  ASSERT_OK(device().trim_pool(MemoryType::kDevice, 0));
  const PoolStatistics after = statistics();
  EXPECT_LE(after.reserved_bytes + (32u << 20), before);
  EXPECT_GE(after.reserved_bytes, after.used_bytes);
  EXPECT_TRUE(same(download<uint32_t>(kept), std::vector<uint32_t>((1 << 20) / 4, 5)));
  ASSERT_OK(queue().dealloca_buffer(*kept));
  EXPECT_OK(drain(queue()));
}

TEST_F(Pools, TrimKeepsWhatItIsToldToKeep) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(8 << 20));
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  ASSERT_OK(drain(queue()));
  const uint64_t before = statistics().reserved_bytes;
  ASSERT_OK(device().trim_pool(MemoryType::kDevice, before));
  EXPECT_EQ(statistics().reserved_bytes, before);
}

TEST_F(Pools, TrimLeavesWorkInFlightAlone) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> result = poisoned(kPoolBytes);
  {
    const Ref<Buffer> buffer = take(queue().alloca_buffer(kPoolBytes));
    const uint32_t five = 5;
    ASSERT_OK(queue().fill(buffer, &five, 4, When().after(gate, 1)));
    ASSERT_OK(queue().copy(buffer, result, next()));
    ASSERT_OK(queue().dealloca_buffer(*buffer));
  }
  ASSERT_OK(device().trim_pool(MemoryType::kDevice, 0));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(result), std::vector<uint32_t>(kPoolCount, 5)));
}

TEST_F(Pools, SizesThatMakeNoSense) {
  EXPECT_FAILS(queue().alloca_buffer(0), StatusCode::kInvalidArgument, "0 bytes");
  PoolOptions options;
  options.alignment = 3;
  EXPECT_FAILS(queue().alloca_buffer(16, options), StatusCode::kInvalidArgument, "(3)");
  options = {};
  options.type = static_cast<MemoryType>(9);
  EXPECT_FAILS(queue().alloca_buffer(16, options), StatusCode::kInvalidArgument, "(9)");
}

TEST_F(Pools, MoreThanTheDeviceHas) {
  const uint64_t too_much = device().info().memory_bytes + 1;
  EXPECT_FAILS(queue().alloca_buffer(too_much), StatusCode::kResourceExhausted,
               std::to_string(too_much));
}

}  // namespace
}  // namespace halyard::cts
