// Buffers: allocation, mapping, views.
#include <algorithm>
#include <cstring>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Memory : public DeviceTest {
 protected:
  Result<Ref<Buffer>> aligned(uint64_t size, uint64_t alignment,
                              MemoryType type = MemoryType::kDevice) {
    BufferOptions options;
    options.type = type;
    options.alignment = alignment;
    return device().allocate(size, options);
  }
};

TEST_F(Memory, HeapsOfDeviceAndHost) {
  bool has_device = false;
  bool has_host = false;
  for (size_t i = 0; i < device().heap_count(); ++i) {
    const HeapInfo heap = take(device().heap(i));
    EXPECT_GT(heap.size, 0u);
    EXPECT_GT(heap.max_allocation, 0u);
    EXPECT_GT(heap.granule, 0u);
    // Host memory is not the GPU's, which has no clock for it.
    const bool known = heap.clock_mhz != 0 || heap.bus_bits != 0;
    EXPECT_FALSE(known && heap.type == MemoryType::kHost);
    has_device |= heap.type == MemoryType::kDevice;
    has_host |= heap.type == MemoryType::kHost;
  }
  EXPECT_TRUE(has_device);
  EXPECT_TRUE(has_host);
  EXPECT_FAILS(device().heap(device().heap_count()), StatusCode::kOutOfRange);
}

TEST_F(Memory, WhatIsWrittenIntoADiscardedMapIsThere) {
  const Ref<Buffer> host = allocate(256, MemoryType::kHost);
  auto* const bytes = static_cast<char*>(take(host->map(64, 64, MapAccess::kDiscardWrite)));
  std::memset(bytes, 0x5a, 64);
  ASSERT_OK(host->unmap(bytes));
  const Ref<Buffer> copied = allocate(64, MemoryType::kHost);
  ASSERT_OK(queue().copy(BufferRange(*host, 64, 64), copied, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<char>(copied), std::vector<char>(64, 0x5a)));
}

TEST_F(Memory, AllocationsHaveTheirSizeAndAPlaceOfTheirOwn) {
  for (const MemoryType type : {MemoryType::kDevice, MemoryType::kHost}) {
    SCOPED_TRACE(to_string(type));
    std::vector<Ref<Buffer>> buffers;
    for (const uint64_t size : {1ull, 2ull, 255ull, 4096ull, 65537ull, 1ull << 20, 33ull << 20}) {
      buffers.push_back(allocate(size, type));
      const Buffer& buffer = *buffers.back();
      EXPECT_EQ(buffer.size(), size);
      EXPECT_EQ(buffer.type(), type);
      EXPECT_NE(buffer.device_address(), 0u);
      EXPECT_EQ(buffer.device_address() % device().info().allocation_alignment, 0u);
      EXPECT_EQ(&buffer.device(), &device().gpu(0));
    }
    std::sort(buffers.begin(), buffers.end(), [](const auto& a, const auto& b) {
      return a->device_address() < b->device_address();
    });
    for (size_t i = 1; i < buffers.size(); ++i) {
      EXPECT_LE(buffers[i - 1]->device_address() + buffers[i - 1]->size(),
                buffers[i]->device_address());
    }
  }
}

TEST_F(Memory, AlignmentIsKept) {
  for (uint64_t alignment = 1; alignment <= 2u << 20; alignment *= 2) {
    const Ref<Buffer> buffer = take(aligned(100, alignment));
    EXPECT_EQ(buffer->device_address() % alignment, 0u) << alignment;
  }
}

TEST_F(Memory, SizesAndAlignmentsThatMakeNoSense) {
  EXPECT_FAILS(device().allocate(0), StatusCode::kInvalidArgument, "0 bytes");
  EXPECT_FAILS(aligned(16, 3), StatusCode::kInvalidArgument, "(3)");
  EXPECT_FAILS(aligned(16, 4u << 20), StatusCode::kInvalidArgument, "(4194304)");
}

TEST_F(Memory, MoreThanTheDeviceHas) {
  const uint64_t too_much = device().info().memory_bytes + 1;
  EXPECT_FAILS(device().allocate(too_much), StatusCode::kResourceExhausted,
               std::to_string(too_much));
  EXPECT_FAILS(device().allocate(UINT64_MAX), StatusCode::kResourceExhausted);
  EXPECT_EQ(allocate(4096)->size(), 4096u);  // the device goes on
}

TEST_F(Memory, HostMemoryIsMappedAndSeenByTheDevice) {
  const Ref<Buffer> host = allocate(10000, MemoryType::kHost);
  const auto values = random_bits<uint8_t>(10000);
  void* mapped = take(host->map(0, 10000, MapAccess::kWrite));
  std::memcpy(mapped, values.data(), values.size());
  ASSERT_OK(host->flush(0, 10000));
  ASSERT_OK(host->unmap(mapped));
  EXPECT_TRUE(same(download<uint8_t>(host), values));
}

// Kernels read and write host memory in place.
TEST_F(Memory, KernelsReachHostMemory) {
  constexpr uint32_t kCount = 3000;
  const Ref<Buffer> host = allocate(kCount * sizeof(uint32_t), MemoryType::kHost);
  auto* values = static_cast<uint32_t*>(take(host->map(0, host->size(), MapAccess::kReadWrite)));
  for (uint32_t i = 0; i < kCount; ++i) values[i] = i;
  ASSERT_OK(host->flush(0, host->size()));
  const uint32_t multiplier = 3;
  const uint32_t addend = 1;
  ASSERT_OK(run(function("busy", "affine"), whole_groups(kCount, 64), {64, 1, 1},
                {host, Argument::of(kCount), Argument::of(multiplier), Argument::of(addend)}));
  ASSERT_OK(host->invalidate(0, host->size()));
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(values[i], 3 * i + 1) << i;
  ASSERT_OK(host->unmap(values));
}

TEST_F(Memory, MapsNest) {
  const Ref<Buffer> host = allocate(100, MemoryType::kHost);
  auto* whole = static_cast<char*>(take(host->map(0, 100, MapAccess::kReadWrite)));
  auto* part = static_cast<char*>(take(host->map(40, 20, MapAccess::kReadWrite)));
  auto* again = static_cast<char*>(take(host->map(0, BufferRange::kToEnd, MapAccess::kRead)));
  EXPECT_EQ(part, whole + 40);
  EXPECT_EQ(again, whole);
  part[0] = 'x';
  EXPECT_EQ(whole[40], 'x');
  EXPECT_OK(host->unmap(whole));
  EXPECT_EQ(part[0], 'x');  // still mapped
  EXPECT_OK(host->unmap(again));
  EXPECT_OK(host->unmap(part));
  EXPECT_FAILS(host->unmap(part), StatusCode::kInvalidArgument);
}

TEST_F(Memory, MapsThatMakeNoSense) {
  const Ref<Buffer> host = allocate(100, MemoryType::kHost);
  EXPECT_FAILS(host->map(101, 1, MapAccess::kRead), StatusCode::kOutOfRange, "(101)");
  EXPECT_FAILS(host->map(50, 51, MapAccess::kRead), StatusCode::kOutOfRange,
               "Buffer::map is given a range of 51 bytes from offset 50");
  EXPECT_FAILS(host->map(UINT64_MAX, 2, MapAccess::kRead), StatusCode::kOutOfRange);
  EXPECT_FAILS(host->map(0, 0, MapAccess::kRead), StatusCode::kInvalidArgument);
  EXPECT_FAILS(host->map(0, 1, static_cast<MapAccess>(0)), StatusCode::kInvalidArgument);
  char elsewhere = 0;
  EXPECT_FAILS(host->unmap(&elsewhere), StatusCode::kInvalidArgument);
  EXPECT_FAILS(host->unmap(nullptr), StatusCode::kInvalidArgument);
  EXPECT_FAILS(allocate(100)->map(0, 100, MapAccess::kRead), StatusCode::kFailedPrecondition);
}

TEST_F(Memory, DeviceMemoryThatTheHostMaps) {
  if (!device().info().maps_device_memory) {
    EXPECT_FAILS(aligned(64, 0, MemoryType::kDeviceMapped), StatusCode::kFailedPrecondition);
    return;
  }
  const Ref<Buffer> buffer = allocate(4096, MemoryType::kDeviceMapped);
  const auto values = random_bits<uint8_t>(4096);
  void* mapped = take(buffer->map(0, 4096, MapAccess::kReadWrite));
  std::memcpy(mapped, values.data(), values.size());
  ASSERT_OK(buffer->flush(0, 4096));
  EXPECT_TRUE(same(download<uint8_t>(buffer), values));
  ASSERT_OK(buffer->unmap(mapped));
}

TEST_F(Memory, SubspansAreTheSameMemory) {
  const auto values = random_bits<uint8_t>(1000);
  Ref<Buffer> buffer = upload(values);
  const Ref<Buffer> view = take(buffer->subspan(100, 800));
  const Ref<Buffer> inner = take(view->subspan(50, BufferRange::kToEnd));
  EXPECT_EQ(view->device_address(), buffer->device_address() + 100);
  EXPECT_EQ(view->size(), 800u);
  EXPECT_EQ(inner->device_address(), buffer->device_address() + 150);
  EXPECT_EQ(inner->size(), 750u);
  EXPECT_EQ(inner->type(), MemoryType::kDevice);
  buffer = nullptr;  // the views keep the memory
  EXPECT_TRUE(same(download<uint8_t>(inner),
                   std::vector<uint8_t>(values.begin() + 150, values.begin() + 900)));
  EXPECT_FAILS(view->subspan(800, 1), StatusCode::kOutOfRange);
  EXPECT_FAILS(view->subspan(0, 801), StatusCode::kOutOfRange, "801");
  EXPECT_FAILS(view->subspan(5, 0), StatusCode::kInvalidArgument);
}

TEST_F(Memory, SubspansOfHostMemoryMap) {
  const Ref<Buffer> host = allocate(1000, MemoryType::kHost);
  const Ref<Buffer> view = take(host->subspan(300, 100));
  auto* whole = static_cast<char*>(take(host->map(0, 1000, MapAccess::kReadWrite)));
  auto* part = static_cast<char*>(take(view->map(10, 10, MapAccess::kReadWrite)));
  EXPECT_EQ(part, whole + 310);
  EXPECT_OK(view->unmap(part));
  EXPECT_OK(host->unmap(whole));
}

}  // namespace
}  // namespace halyard::cts
