// Pools with their own limit and policy.
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kBlock = 1 << 20;

class PoolLimits : public DeviceTest {
 protected:
  // Opens its own, as it counts what is in the heap.
  Result<Ref<Device>> open_device() override { return Environment::get().open_device(); }

  Ref<MemoryPool> pool_of(uint64_t limit, uint64_t keep = PoolInfo::kKeepDefault,
                          MemoryType type = MemoryType::kDevice) {
    PoolInfo info;
    info.type = type;
    info.limit_bytes = limit;
    info.keep_bytes = keep;
    return take(device().create_pool(info));
  }
  static PoolOptions of(const Ref<MemoryPool>& pool) {
    PoolOptions options;
    options.pool = pool.get();
    return options;
  }
  uint64_t reserved(const Ref<MemoryPool>& pool) { return take(pool->statistics()).reserved_bytes; }
  uint64_t live_bytes() { return take(device().heap_statistics(0)).live_bytes; }
  // Once nothing uses what was given back.
  bool becomes(const std::function<uint64_t()>& figure, uint64_t expected) {
    for (int i = 0; i < 6000 && figure() != expected; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return figure() == expected;
  }
};

TEST_F(PoolLimits, ServeBuffersBesideTheDevicesOwnPool) {
  const Ref<MemoryPool> pool = pool_of(0);
  const Ref<Buffer> mine = take(queue().alloca_buffer(kBlock, of(pool)));
  const Ref<Buffer> common = take(queue().alloca_buffer(kBlock));
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(mine, &five, 4));
  ASSERT_OK(queue().copy(mine, common, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(common), std::vector<uint32_t>(kBlock / 4, 5)));
  const PoolStatistics statistics = take(pool->statistics());
  EXPECT_EQ(statistics.allocations, 1u);
  EXPECT_EQ(statistics.used_bytes, kBlock);
  EXPECT_EQ(take(device().pool_statistics(MemoryType::kDevice)).allocations, 1u);
  ASSERT_OK(queue().dealloca_buffer(*mine));
  ASSERT_OK(queue().dealloca_buffer(*common));
  EXPECT_OK(drain(queue()));
  EXPECT_EQ(take(pool->statistics()).used_bytes, 0u);
}

TEST_F(PoolLimits, OfHostMemory) {
  const Ref<MemoryPool> pool = pool_of(4 * kBlock, PoolInfo::kKeepDefault, MemoryType::kHost);
  const Ref<Buffer> buffer = take(queue().alloca_buffer(64, of(pool)));
  EXPECT_EQ(buffer->type(), MemoryType::kHost);
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  EXPECT_OK(drain(queue()));
}

TEST_F(PoolLimits, AreKeptToAndNamed) {
  const Ref<MemoryPool> pool = pool_of(2 * kBlock);
  const Ref<Buffer> first = take(queue().alloca_buffer(kBlock, of(pool)));
  const Ref<Buffer> second = take(queue().alloca_buffer(kBlock, of(pool)));
  EXPECT_FAILS(queue().alloca_buffer(4096, of(pool)), StatusCode::kResourceExhausted,
               "a pool whose limit is " + std::to_string(2 * kBlock) + " bytes");
  EXPECT_OK(queue().alloca_buffer(kBlock).status()) << "the device's own has no such limit";
  ASSERT_OK(queue().dealloca_buffer(*first));
  // In queue order there is room at once.
  const Ref<Buffer> third = take(queue().alloca_buffer(kBlock, of(pool)));
  EXPECT_EQ(third->device_address(), first->device_address());
  EXPECT_EQ(reserved(pool), 2 * kBlock);
  ASSERT_OK(queue().dealloca_buffer(*second));
  ASSERT_OK(queue().dealloca_buffer(*third));
  EXPECT_OK(drain(queue()));
  EXPECT_FAILS(queue().alloca_buffer(2 * kBlock + 1, of(pool)), StatusCode::kResourceExhausted);
  EXPECT_EQ(take(pool->statistics()).peak_reserved_bytes, 2 * kBlock);
}

// Other sizes are in the way, which work still uses: the budget is there when that is done.
TEST_F(PoolLimits, WaitForWhatWorkInFlightUses) {
  const Ref<MemoryPool> pool = pool_of(2 * kBlock);
  HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  const Ref<Buffer> first = take(queue().alloca_buffer(kBlock, of(pool)));
  ASSERT_OK(kernel.start(queue()));
  ASSERT_OK(queue().dealloca_buffer(*first));
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kernel.release();
  });
  const auto large = queue().alloca_buffer(2 * kBlock, of(pool));
  const bool ended = kernel.has_ended();
  end.join();
  ASSERT_OK(large.status());
  EXPECT_TRUE(ended) << "the kernel's buffer counts until it has ended";
  EXPECT_EQ(reserved(pool), 2 * kBlock);
  ASSERT_OK(queue().dealloca_buffer(**large));
  EXPECT_OK(drain(queue()));
}

TEST_F(PoolLimits, KeepWhatTheirPolicySays) {
  const Ref<MemoryPool> none = pool_of(0, 0);
  const Ref<MemoryPool> one = pool_of(0, kBlock);
  const auto use = [&](const Ref<MemoryPool>& pool) {
    std::vector<Ref<Buffer>> buffers;
    for (int i = 0; i < 3; ++i) buffers.push_back(take(queue().alloca_buffer(kBlock, of(pool))));
    // Without a dealloca: when they go nothing is left to do.
    ASSERT_OK(drain(queue()));
  };
  use(none);
  use(one);
  EXPECT_TRUE(becomes([&] { return reserved(none); }, 0));
  EXPECT_TRUE(becomes([&] { return reserved(one); }, kBlock));
  ASSERT_OK(one->trim(0));
  EXPECT_EQ(reserved(one), 0u);
}

TEST_F(PoolLimits, AreTrimmedAlone) {
  const Ref<MemoryPool> first = pool_of(0);
  const Ref<MemoryPool> second = pool_of(0);
  for (const Ref<MemoryPool>& pool : {first, second}) {
    const Ref<Buffer> buffer = take(queue().alloca_buffer(kBlock, of(pool)));
    ASSERT_OK(queue().dealloca_buffer(*buffer));
  }
  ASSERT_OK(drain(queue()));
  ASSERT_OK(first->trim(0));
  EXPECT_EQ(reserved(first), 0u);
  EXPECT_EQ(reserved(second), kBlock);
}

TEST_F(PoolLimits, BuffersOutliveTheirPool) {
  const uint64_t before = live_bytes();
  Ref<MemoryPool> pool = pool_of(0);
  Ref<Buffer> buffer = take(queue().alloca_buffer(kBlock, of(pool)));
  Ref<Buffer> given_back = take(queue().alloca_buffer(kBlock, of(pool)));
  pool = nullptr;
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(buffer, &five, 4));
  EXPECT_TRUE(same(download<uint32_t>(buffer), std::vector<uint32_t>(kBlock / 4, 5)));
  ASSERT_OK(queue().dealloca_buffer(*given_back));
  buffer = nullptr;
  given_back = nullptr;
  ASSERT_OK(drain(queue()));
  // The heap, or the device's own pool, has the memory again.
  ASSERT_OK(device().trim_pool(MemoryType::kDevice, 0));
  EXPECT_TRUE(becomes(
      [&] {
        device().trim_pool(MemoryType::kDevice, 0).ignore();
        return live_bytes();
      },
      before));
}

}  // namespace
}  // namespace halyard::cts
