// Heaps, limits and transfers.
#include <random>

#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

class MemoryTest : public VirtualDeviceTest {
 protected:
  std::vector<uint8_t> bytes_of(Queue& queue, const Ref<Buffer>& buffer) {
    const Ref<Buffer> staging = host_buffer(buffer->size());
    EXPECT_OK(queue.copy(buffer, staging));
    finish(queue);
    const auto* bytes = view<uint8_t>(staging);
    return {bytes, bytes + buffer->size()};
  }
};

TEST_F(MemoryTest, HeapsAccountForWhatIsAllocated) {
  ASSERT_GE(device_->heap_count(), 2u);
  const HeapInfo heap = take(device_->heap(0));
  EXPECT_EQ(heap.type, MemoryType::kDevice);
  EXPECT_EQ(take(device_->heap(1)).type, MemoryType::kHost);
  EXPECT_GT(heap.size, 0u);
  EXPECT_LE(heap.max_allocation, heap.size);
  {
    const Ref<Buffer> buffer = device_buffer(heap.granule + 1);
    const HeapStatistics statistics = take(device_->heap_statistics(0));
    EXPECT_EQ(statistics.live_bytes, 2 * heap.granule);
    EXPECT_EQ(statistics.live_buffers, 1u);
  }
  const HeapStatistics statistics = take(device_->heap_statistics(0));
  EXPECT_EQ(statistics.live_bytes, 0u);
  EXPECT_EQ(statistics.peak_bytes, 2 * heap.granule);
}

TEST_F(MemoryTest, WhatDoesNotFitSaysWhy) {
  const HeapInfo heap = take(device_->heap(0));
  const Result<Ref<Buffer>> buffer = device_->allocate(heap.size * 4);
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(text(buffer.status()), HasSubstr(std::to_string(heap.size * 4)));
  EXPECT_THAT(text(buffer.status()), HasSubstr(std::to_string(heap.max_allocation)));
}

TEST_F(MemoryTest, TheHeapAsAWholeIsALimit) {
  const HeapInfo heap = take(device_->heap(0));
  std::vector<Ref<Buffer>> buffers;
  Status status;
  for (int i = 0; i < 64 && status.ok(); ++i) {
    Result<Ref<Buffer>> buffer = device_->allocate(heap.max_allocation / 2);
    if (buffer.ok())
      buffers.push_back(std::move(buffer).value());
    else
      status = buffer.status();
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(text(status), HasSubstr("in use"));
  buffers.clear();
  EXPECT_EQ(take(device_->heap_statistics(0)).live_bytes, 0u);
}

TEST_F(MemoryTest, AlignmentIsKept) {
  for (const uint64_t alignment :
       {uint64_t{1}, uint64_t{256}, uint64_t{65536}, uint64_t{2} << 20}) {
    BufferOptions options;
    options.alignment = alignment;
    const Ref<Buffer> buffer = take(device_->allocate(100, options));
    EXPECT_EQ(buffer->device_address() % alignment, 0u) << alignment;
  }
}

TEST_F(MemoryTest, UnmapKnowsWhatIsMapped) {
  const Ref<Buffer> buffer = host_buffer(4096);
  void* const a = take(buffer->map(0, 64, MapAccess::kRead));
  void* const b = take(buffer->map(0, 128, MapAccess::kWrite));
  EXPECT_OK(buffer->unmap(a));
  EXPECT_OK(buffer->unmap(b));
  EXPECT_EQ(buffer->unmap(a).code(), StatusCode::kInvalidArgument);
}

TEST_F(MemoryTest, FillsEveryPatternAtOddPlaces) {
  const Ref<Queue> queue = new_queue();
  const uint8_t pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
    for (const uint64_t length : {uint64_t{size}, uint64_t{size} * 3, uint64_t{16} * 20'001}) {
      const Ref<Buffer> buffer = device_buffer(length + 64);
      const uint8_t poison = 0xa5;
      ASSERT_OK(queue->fill(buffer, &poison, 1));
      ASSERT_OK(queue->fill(BufferRange(*buffer, 3, length), pattern, size));
      const std::vector<uint8_t> bytes = bytes_of(*queue, buffer);
      std::vector<uint8_t> expected(length + 64, poison);
      for (uint64_t i = 0; i < length; ++i) expected[3 + i] = pattern[i % size];
      ASSERT_EQ(bytes, expected) << size << " × " << length / size;
    }
  }
}

TEST_F(MemoryTest, UpdatesAndCopiesKeepTheirOrder) {
  const Ref<Queue> queue = new_queue(64);
  std::mt19937 random(1);
  std::vector<uint8_t> expected(10'000, 0);
  const Ref<Buffer> a = device_buffer(expected.size());
  const Ref<Buffer> b = host_buffer(expected.size());
  const uint8_t zero = 0;
  ASSERT_OK(queue->fill(a, &zero, 1));
  for (int i = 0; i < 200; ++i) {
    const uint64_t offset = random() % 9000;
    const uint64_t size = 1 + random() % 1000;
    std::vector<uint8_t> data(size);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
    ASSERT_OK(queue->update(BufferRange(*a, offset, size), data.data(), size));
    std::copy(data.begin(), data.end(), expected.begin() + static_cast<ptrdiff_t>(offset));
    ASSERT_OK(queue->copy(a, b));
    ASSERT_OK(queue->copy(b, a));
  }
  EXPECT_EQ(bytes_of(*queue, a), expected);
}

TEST_F(MemoryTest, LargeUpdatesArrive) {
  const Ref<Queue> queue = new_queue();
  std::vector<uint32_t> data(1 << 20);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint32_t>(i * 2654435761u);
  const Ref<Buffer> buffer = device_buffer(data.size() * 4);
  ASSERT_OK(queue->update(buffer, data.data(), data.size() * 4));
  EXPECT_EQ(download(*queue, buffer), data);
}

TEST_F(MemoryTest, CopiesBetweenAllKindsOfMemory) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> kinds[] = {device_buffer(4096), host_buffer(4096), device_buffer(4096),
                               host_buffer(4096), host_buffer(4096)};
  uint32_t word = 0x01020304;
  ASSERT_OK(queue->fill(kinds[0], &word, 4));
  for (size_t i = 0; i + 1 < std::size(kinds); ++i) ASSERT_OK(queue->copy(kinds[i], kinds[i + 1]));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(kinds[4])[1023], word);
}

// What waits for the host keeps what it needs, and is done in order.
TEST_F(MemoryTest, HeldBackTransfersKeepTheirBytesAndBuffers) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> result = host_buffer(70'000);
  auto* const bytes = view<uint8_t>(result);
  std::memset(bytes, 0, result->size());
  std::vector<uint8_t> expected(result->size());
  {
    const Ref<Buffer> a = device_buffer(result->size());
    std::vector<uint8_t> small(100, 2);
    std::vector<uint8_t> medium(3000, 3);
    std::vector<uint8_t> large(66'000, 4);
    const uint8_t pattern[] = {7, 8};
    const SemaphorePoint open = {gate.get(), 1};
    ASSERT_OK(queue->fill(a, pattern, 2, {.wait = {&open, 1}, .signal = {}}));
    ASSERT_OK(queue->update(BufferRange(*a, 3001, large.size()), large.data(), large.size()));
    ASSERT_OK(queue->update(BufferRange(*a, 1, medium.size()), medium.data(), medium.size()));
    ASSERT_OK(queue->update(BufferRange(*a, 7, small.size()), small.data(), small.size()));
    ASSERT_OK(queue->copy(a, result));
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = pattern[i % 2];
    std::copy(large.begin(), large.end(), expected.begin() + 3001);
    std::copy(medium.begin(), medium.end(), expected.begin() + 1);
    std::copy(small.begin(), small.end(), expected.begin() + 7);
    small.assign(small.size(), 9);
    medium.assign(medium.size(), 9);
  }
  EXPECT_EQ(bytes[0], 0);
  ASSERT_OK(gate->signal(1));
  finish(*queue);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes));
}

// A device that the library has no code for.
TEST_F(MemoryTest, EnginesDoAllWhereThereAreNoKernels) {
  impl().library().take_away(Status(StatusCode::kNotFound, "There are no kernels."));
  const Ref<Queue> queue = new_queue();
  const uint8_t pattern[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const Ref<Buffer> a = device_buffer(16 * 10'000);
  const Ref<Buffer> b = device_buffer(a->size());
  ASSERT_OK(queue->fill(a, pattern, 16));
  ASSERT_OK(queue->update(BufferRange(*a, 5, 3), pattern, 3));
  ASSERT_OK(queue->copy(a, b));
  const std::vector<uint8_t> bytes = bytes_of(*queue, b);
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], i >= 5 && i < 8 ? pattern[i - 5] : pattern[i % 16]) << i;
  }
}

}  // namespace
}  // namespace halyard::amdgpu
