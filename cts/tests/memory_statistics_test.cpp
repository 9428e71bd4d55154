// What a device says of the memory that is allocated through it.
#include <chrono>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "cts/harness/threads.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class MemoryStatistics : public DeviceTest {
 protected:
  Result<Ref<Device>> open_device() override { return Environment::get().open_device(); }
  static size_t heap_of(const Device& device, MemoryType type) {
    for (size_t i = 0; i < device.heap_count(); ++i) {
      if (take(device.heap(i)).type == type) return i;
    }
    throw std::runtime_error("The device has no heap of this memory type.");
  }
  HeapStatistics of(MemoryType type) {
    return take(device().heap_statistics(heap_of(device(), type)));
  }
  // Until `bytes` are live again. A driver may keep what is released until work in flight is done.
  testing::AssertionResult settles_at(MemoryType type, uint64_t bytes) {
    for (int i = 0; i < 6000 && of(type).live_bytes != bytes; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const uint64_t live = of(type).live_bytes;
    if (live == bytes) return testing::AssertionSuccess();
    return testing::AssertionFailure() << live << " bytes are live instead of " << bytes;
  }
};

constexpr MemoryType kTypes[] = {MemoryType::kDevice, MemoryType::kHost};

TEST_F(MemoryStatistics, CountBuffers) {
  for (const MemoryType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    const HeapStatistics before = of(type);
    {
      const Ref<Buffer> first = allocate(100, type);
      const Ref<Buffer> second = allocate(100, type);
      EXPECT_EQ(of(type).live_buffers, before.live_buffers + 2);
      const Ref<Buffer> view = take(first->subspan(0, 10));
      EXPECT_EQ(of(type).live_buffers, before.live_buffers + 2) << "a view is none";
    }
    EXPECT_TRUE(settles_at(type, before.live_bytes));
    EXPECT_EQ(of(type).live_buffers, before.live_buffers);
  }
}

TEST_F(MemoryStatistics, FollowAllocationAndRelease) {
  for (const MemoryType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    const uint64_t before = of(type).live_bytes;
    Ref<Buffer> buffer = allocate(kMiB, type);
    EXPECT_GE(of(type).live_bytes, before + kMiB);
    Ref<Buffer> view = take(buffer->subspan(16, 16));
    buffer = nullptr;
    EXPECT_GE(of(type).live_bytes, before + kMiB) << "the view keeps it";
    view = nullptr;
    for (int i = 0; i < 200; ++i) allocate(kMiB, type);
    EXPECT_TRUE(settles_at(type, before));
  }
}

TEST_F(MemoryStatistics, ThePeakStaysWhenMemoryGoes) {
  const uint64_t live = of(MemoryType::kHost).live_bytes;
  allocate(8 * kMiB, MemoryType::kHost);
  ASSERT_TRUE(settles_at(MemoryType::kHost, live));
  EXPECT_GE(of(MemoryType::kHost).peak_bytes, live + 8 * kMiB);
}

TEST_F(MemoryStatistics, CountWholeGranules) {
  for (const MemoryType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    const uint64_t granule = take(device().heap(heap_of(device(), type))).granule;
    for (const uint64_t size : {uint64_t{1}, granule, granule + 1, 3 * granule - 1}) {
      const uint64_t before = of(type).live_bytes;
      const Ref<Buffer> buffer = allocate(size, type);
      const uint64_t taken = of(type).live_bytes - before;
      EXPECT_GE(taken, size);
      EXPECT_EQ(taken % granule, 0u) << taken;
    }
  }
}

TEST_F(MemoryStatistics, EachHeapHasItsOwn) {
  const HeapStatistics device_before = of(MemoryType::kDevice);
  const HeapStatistics host_before = of(MemoryType::kHost);
  const Ref<Buffer> host = allocate(kMiB, MemoryType::kHost);
  EXPECT_EQ(of(MemoryType::kDevice).live_bytes, device_before.live_bytes);
  EXPECT_EQ(of(MemoryType::kDevice).live_buffers, device_before.live_buffers);
  const HeapStatistics host_after = of(MemoryType::kHost);
  const Ref<Buffer> own = allocate(kMiB);
  EXPECT_EQ(of(MemoryType::kHost).live_bytes, host_after.live_bytes);
  EXPECT_EQ(of(MemoryType::kHost).live_buffers, host_before.live_buffers + 1);
}

TEST_F(MemoryStatistics, EachDeviceObjectHasItsOwn) {
  const Ref<Device> other = take(Environment::get().open_device());
  const size_t heap = heap_of(*other, MemoryType::kDevice);
  const uint64_t theirs = take(other->heap_statistics(heap)).live_bytes;
  const uint64_t mine = of(MemoryType::kDevice).live_bytes;
  const Ref<Buffer> buffer = allocate(kMiB);
  EXPECT_EQ(take(other->heap_statistics(heap)).live_bytes, theirs);
  EXPECT_GE(of(MemoryType::kDevice).live_bytes, mine + kMiB);
}

TEST_F(MemoryStatistics, ThePeakIsWhatWasLiveAtOneTime) {
  for (const MemoryType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    // One more than there ever was, so that the peak is this test's.
    const HeapStatistics before = of(type);
    const Ref<Buffer> base = allocate(before.peak_bytes - before.live_bytes + kMiB, type);
    const uint64_t live = of(type).live_bytes;
    EXPECT_EQ(of(type).peak_bytes, live);
    for (int i = 0; i < 5; ++i) {
      allocate(4 * kMiB, type);
      ASSERT_TRUE(settles_at(type, live));
    }
    EXPECT_EQ(of(type).peak_bytes, live + 4 * kMiB) << "one after the other";
    {
      const Ref<Buffer> first = allocate(4 * kMiB, type);
      const Ref<Buffer> second = allocate(4 * kMiB, type);
    }
    EXPECT_EQ(of(type).peak_bytes, live + 8 * kMiB) << "two at once";
  }
}

TEST_F(MemoryStatistics, ARefusedAllocationCountsForNothing) {
  const HeapStatistics before = of(MemoryType::kDevice);
  EXPECT_FAILS(device().allocate(device().info().memory_bytes + 1), StatusCode::kResourceExhausted);
  const HeapStatistics after = of(MemoryType::kDevice);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.live_buffers, before.live_buffers);
  EXPECT_EQ(after.peak_bytes, before.peak_bytes);
}

TEST_F(MemoryStatistics, ImportedMemoryIsSomebodyElses) {
  const Ref<Buffer> own = allocate(kMiB);
  const HeapStatistics before = of(MemoryType::kDevice);
  const HeapStatistics host_before = of(MemoryType::kHost);
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(own->device_address());
  options.size = kMiB;
  const Ref<Buffer> again = take(device().import_buffer(options));
  std::vector<uint8_t> memory(kMiB);
  options.kind = ImportOptions::Kind::kHostMemory;
  options.pointer = memory.data();
  const Ref<Buffer> host = take(device().import_buffer(options));
  EXPECT_EQ(of(MemoryType::kDevice).live_bytes, before.live_bytes);
  EXPECT_EQ(of(MemoryType::kDevice).live_buffers, before.live_buffers);
  EXPECT_EQ(of(MemoryType::kHost).live_bytes, host_before.live_bytes);
  EXPECT_EQ(of(MemoryType::kHost).live_buffers, host_before.live_buffers);
}

TEST_F(MemoryStatistics, WhatAPoolHasReservedIsLive) {
  const uint64_t before = of(MemoryType::kDevice).live_bytes;
  const uint64_t reserved = take(device().pool_statistics(MemoryType::kDevice)).reserved_bytes;
  const Ref<Buffer> buffer = take(queue().alloca_buffer(300 * kMiB));
  const uint64_t more =
      take(device().pool_statistics(MemoryType::kDevice)).reserved_bytes - reserved;
  EXPECT_GE(reserved + more, 300 * kMiB);
  EXPECT_EQ(of(MemoryType::kDevice).live_bytes, before + more);
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  ASSERT_OK(drain(queue()));
  ASSERT_OK(device().trim_pool(MemoryType::kDevice, 0));
}

TEST_F(MemoryStatistics, ABufferInFlightIsLiveUntilItsWorkIsDone) {
  const Ref<Semaphore> gate = new_semaphore();
  const uint64_t before = of(MemoryType::kDevice).live_bytes;
  const uint8_t zero = 0;
  {
    const Ref<Buffer> buffer = allocate(kMiB);
    ASSERT_OK(queue().fill(buffer, &zero, 1, When().after(gate, 1)));
  }
  EXPECT_GE(of(MemoryType::kDevice).live_bytes, before + kMiB);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(settles_at(MemoryType::kDevice, before));
}

TEST_F(MemoryStatistics, NothingIsLostAmongThreads) {
  constexpr size_t kThreads = 6;
  for (const MemoryType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    const HeapStatistics before = of(type);
    BufferOptions options;
    options.type = type;
    const auto results = in_threads(kThreads, [&](size_t t) {
      for (uint64_t i = 0; i < 100; ++i) {
        const Ref<Buffer> first = take(device().allocate(1 + 1000 * i, options));
        const Ref<Buffer> second = take(device().allocate(5000 * (t + 1), options));
        if (take(device().heap_statistics(heap_of(device(), type))).live_buffers < 2) {
          return Status(StatusCode::kInternal, "Two live buffers are not counted.");
        }
      }
      return Status();
    });
    for (const Status& result : results) EXPECT_OK(result);
    EXPECT_TRUE(settles_at(type, before.live_bytes));
    EXPECT_EQ(of(type).live_buffers, before.live_buffers);
  }
}

}  // namespace
}  // namespace halyard::cts
