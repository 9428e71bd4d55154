// Managed memory: one pointer for the host and the device, with prefetches and advice. A device
// without it refuses each by name.
#include <vector>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kManagedCount = 5000;
constexpr uint64_t kManagedBytes = kManagedCount * sizeof(uint32_t);

BufferOptions managed_options(uint64_t alignment = 0) {
  BufferOptions options;
  options.type = MemoryType::kHost;
  options.alignment = alignment;
  options.managed = true;
  return options;
}

class Managed : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!device().info().managed_memory) GTEST_SKIP() << "The device has no managed memory.";
    buffer_ = take(device().allocate(kManagedBytes, managed_options()));
    values_ = static_cast<uint32_t*>(take(buffer_->map(0, kManagedBytes, MapAccess::kReadWrite)));
    for (uint32_t i = 0; i < kManagedCount; ++i) values_[i] = i;
  }
  void TearDown() override {
    if (buffer_) {
      EXPECT_OK(buffer_->unmap(values_));
    }
    buffer_ = {};
    DeviceTest::TearDown();
  }

  // values[i] = values[i] * 3 + 1, by the device.
  void work(const Sync& sync) {
    ASSERT_OK(queue().dispatch(affine(buffer_, kManagedCount, 3, 1), sync));
  }
  void expect_after(uint32_t rounds) {
    for (uint32_t i = 0; i < kManagedCount; ++i) {
      uint32_t expected = i;
      for (uint32_t round = 0; round < rounds; ++round) expected = expected * 3 + 1;
      ASSERT_EQ(values_[i], expected) << i;
    }
  }

  Ref<Buffer> buffer_;
  uint32_t* values_ = nullptr;
};

TEST_F(Managed, OnePointerForHostAndDevice) {
  EXPECT_EQ(buffer_->type(), MemoryType::kHost);
  EXPECT_EQ(buffer_->device_address(), reinterpret_cast<uintptr_t>(values_));
  for (uint32_t round = 1; round <= 3; ++round) {
    work(next());
    ASSERT_OK(finish());
    expect_after(round);
  }
}

TEST_F(Managed, PrefetchesKeepTheContents) {
  ASSERT_OK(queue().prefetch(buffer_, PrefetchTarget::kDevice));
  work({});
  ASSERT_OK(queue().prefetch(buffer_, PrefetchTarget::kHost));
  work({});
  ASSERT_OK(queue().prefetch({*buffer_, 4097, 5000}, PrefetchTarget::kDevice, next()));
  ASSERT_OK(finish());
  expect_after(2);
}

// It waits like any operation, and what comes behind it waits for it.
TEST_F(Managed, APrefetchWaitsAndSignals) {
  const Ref<Semaphore> gate = take(device().create_semaphore());
  const Ref<Semaphore> done = take(device().create_semaphore());
  const SemaphorePoint wait{gate.get(), 1};
  const SemaphorePoint signal{done.get(), 7};
  ASSERT_OK(queue().prefetch(buffer_, PrefetchTarget::kDevice,
                             {.wait = {&wait, 1}, .signal = {&signal, 1}}));
  EXPECT_EQ(take(done->query()), 0u);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(done->wait(7));
  EXPECT_EQ(take(done->query()), 7u);
}

TEST_F(Managed, APrefetchWhoseWaitFailsFails) {
  const Ref<Semaphore> gate = take(device().create_semaphore());
  const SemaphorePoint wait{gate.get(), 1};
  const Ref<Semaphore> done = take(device().create_semaphore());
  const SemaphorePoint signal{done.get(), 1};
  ASSERT_OK(queue().prefetch(buffer_, PrefetchTarget::kHost,
                             {.wait = {&wait, 1}, .signal = {&signal, 1}}));
  gate->fail(Status(StatusCode::kAborted, "the test fails it"));
  EXPECT_FAILS(done->wait(1), StatusCode::kAborted, "the test fails it");
}

TEST_F(Managed, EachAdviceIsTaken) {
  for (uint32_t advice = 0; advice <= 6; ++advice) {
    SCOPED_TRACE(to_string(static_cast<MemoryAdvice>(advice)));
    ASSERT_OK(device().advise(buffer_, static_cast<MemoryAdvice>(advice)));
  }
  ASSERT_OK(device().advise({*buffer_, 100, 1}, MemoryAdvice::kPreferDevice));
  work(next());
  ASSERT_OK(finish());
  expect_after(1);
}

TEST_F(Managed, QueuesFillAndCopyIt) {
  const uint32_t pattern = 0x01020304;
  ASSERT_OK(queue().fill({*buffer_, 0, 4096}, &pattern, 4));
  const Ref<Buffer> other = poisoned(kManagedBytes);
  ASSERT_OK(queue().copy(buffer_, other, next()));
  ASSERT_OK(finish());
  EXPECT_EQ(values_[1023], pattern);
  EXPECT_EQ(values_[1024], 1024u);
  EXPECT_TRUE(
      same(download<uint32_t>(other), std::vector<uint32_t>(values_, values_ + kManagedCount)));
}

TEST_F(Managed, IsAlignedAsAskedFor) {
  for (const uint64_t alignment : {uint64_t{64}, uint64_t{65536}, uint64_t{2} << 20}) {
    const Ref<Buffer> aligned = take(device().allocate(100, managed_options(alignment)));
    EXPECT_EQ(aligned->device_address() % alignment, 0u);
    EXPECT_EQ(aligned->size(), 100u);
  }
}

TEST_F(Managed, CountsInNoHeap) {
  for (size_t i = 0; i < device().heap_count(); ++i) {
    const uint64_t before = take(device().heap_statistics(i)).live_bytes;
    const Ref<Buffer> another = take(device().allocate(1 << 20, managed_options()));
    // Less, if a driver has found meanwhile that the work of an earlier test is done.
    EXPECT_LE(take(device().heap_statistics(i)).live_bytes, before);
  }
}

TEST_F(Managed, ViewsAreManaged) {
  const Ref<Buffer> view = take(buffer_->subspan(4096, 4096));
  ASSERT_OK(device().advise(view, MemoryAdvice::kReadMostly));
  ASSERT_OK(queue().prefetch(view, PrefetchTarget::kDevice, next()));
  ASSERT_OK(finish());
}

TEST_F(Managed, MayBeReleasedWhileItIsUsed) {
  ASSERT_OK(buffer_->unmap(values_));
  ASSERT_OK(queue().prefetch(buffer_, PrefetchTarget::kDevice));
  work({});
  ASSERT_OK(queue().prefetch(buffer_, PrefetchTarget::kHost, next()));
  buffer_ = {};
  ASSERT_OK(finish());
}

TEST_F(Managed, IsFoundByItsAddress) {
  const AllocationInfo info = take(device().find_allocation(values_ + 10));
  EXPECT_EQ(info.type, MemoryType::kHost);
  EXPECT_EQ(info.host_pointer, values_);
  EXPECT_EQ(info.size, kManagedBytes);
}

TEST_F(Managed, IsTheHosts) {
  BufferOptions options = managed_options();
  options.type = MemoryType::kDevice;
  EXPECT_FAILS(device().allocate(64, options), StatusCode::kInvalidArgument, "(device)");
}

using ManagedMistakes = DeviceTest;

TEST_F(ManagedMistakes, OtherMemoryIsRefused) {
  if (!device().info().managed_memory) GTEST_SKIP() << "The device has no managed memory.";
  for (const MemoryType type : {MemoryType::kDevice, MemoryType::kHost}) {
    const Ref<Buffer> buffer = allocate(64, type);
    EXPECT_FAILS(queue().prefetch(buffer, PrefetchTarget::kDevice), StatusCode::kFailedPrecondition,
                 "BufferOptions::managed");
    EXPECT_FAILS(device().advise(buffer, MemoryAdvice::kReadMostly),
                 StatusCode::kFailedPrecondition, "BufferOptions::managed");
  }
}

TEST_F(ManagedMistakes, ValuesThatDoNotExist) {
  const Ref<Buffer> buffer = allocate(64, MemoryType::kHost);
  EXPECT_FAILS(queue().prefetch(buffer, static_cast<PrefetchTarget>(2)),
               StatusCode::kInvalidArgument, "(2)");
  EXPECT_FAILS(device().advise(buffer, static_cast<MemoryAdvice>(7)), StatusCode::kInvalidArgument,
               "(7)");
  EXPECT_FAILS(queue().prefetch({*buffer, 60, 8}, PrefetchTarget::kHost), StatusCode::kOutOfRange);
  EXPECT_FAILS(device().advise({*buffer, 60, 8}, MemoryAdvice::kReadMostly),
               StatusCode::kOutOfRange);
}

TEST_F(ManagedMistakes, ADeviceWithoutItSaysSo) {
  if (device().info().managed_memory) GTEST_SKIP() << "The device has managed memory.";
  EXPECT_FAILS(device().allocate(64, managed_options()), StatusCode::kUnimplemented,
               "DeviceInfo::managed_memory is false");
}

}  // namespace
}  // namespace halyard::cts
