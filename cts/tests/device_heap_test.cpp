// malloc, free, new and delete in kernels.
#include <cstdlib>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

// The module: code object version 4 keeps the allocator's state in a variable, version 5 takes it
// from a hidden argument.
class DeviceHeapOf : public DeviceTest, public testing::WithParamInterface<const char*> {
 protected:
  const Function* kernel(std::string_view name) { return function(GetParam(), name); }
};

TEST_P(DeviceHeapOf, ListsOfSmallBlocks) {
  // One work-group under the virtual GPU's checks: they know no order through the host, which gives
  // one what another has given back (docs/races-check.md).
  const uint32_t items = std::getenv("HALYARD_VGPU_CHECK") != nullptr ? 64 : 256;
  constexpr uint32_t kNodes = 20;
  const Ref<Buffer> out = poisoned(items * sizeof(uint32_t));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(run(kernel("list"), {items, 1, 1}, {64, 1, 1}, {out, Argument::of(kNodes)}));
    const auto sums = download<uint32_t>(out);
    for (uint32_t item = 0; item < items; ++item) {
      EXPECT_EQ(sums[item], kNodes * (kNodes - 1) / 2 * (item + 1)) << item;
    }
  }
}

// malloc reuses blocks that kernels have freed.
TEST_P(DeviceHeapOf, LargeBlocks) {
  const Ref<Buffer> out = poisoned(4);
  uint64_t live = 0;
  for (const uint64_t bytes : {uint64_t{4000}, uint64_t{3} << 20, uint64_t{40} << 20}) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(
          run(kernel("large"), {1, 1, 1}, {1, 1, 1}, {out, Argument::of(bytes), Argument::of(4u)}));
      EXPECT_EQ(download<uint32_t>(out)[0], 4 * 7u) << bytes;
      const uint64_t now = take(device().heap_statistics(0)).live_bytes;
      EXPECT_TRUE(i == 0 || now == live) << now << " instead of " << live;
      live = now;
    }
  }
}

TEST_P(DeviceHeapOf, WhatThereIsNoMemoryForIsNull) {
  const Ref<Buffer> out = poisoned(4);
  ASSERT_OK(run(kernel("large"), {1, 1, 1}, {1, 1, 1},
                {out, Argument::of(device().info().memory_bytes + 1), Argument::of(1u)}));
  EXPECT_EQ(download<uint32_t>(out)[0], 0u);
}

TEST_P(DeviceHeapOf, WhatOneKernelAllocatesAnotherFrees) {
  const Ref<Buffer> at = poisoned(8);
  const Ref<Buffer> out = poisoned(8);
  ASSERT_OK(run(kernel("keep"), {1, 1, 1}, {1, 1, 1}, {at, Argument::of(41u)}));
  ASSERT_OK(run(kernel("give_back"), {1, 1, 1}, {1, 1, 1}, {at, out}));
  EXPECT_EQ(download<uint32_t>(out)[0], 41u);
  EXPECT_EQ(download<uint32_t>(out)[1], 42u);
}

TEST_P(DeviceHeapOf, AWrongFreeFailsTheWorkAndNotTheDevice) {
  const Ref<Buffer> out = poisoned(4);
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  const Launch launch(kernel("free_twice"), {1, 1, 1}, {1, 1, 1}, {out});
  ASSERT_OK(other->dispatch(launch, {.signal = {&point, 1}}));
  EXPECT_FAILS(done->wait(1, time_limit()), StatusCode::kInternal, "called free or delete");
  EXPECT_FALSE(other->dispatch(launch).ok()) << "the queue is lost";
  EXPECT_OK(device().fault());
  const Ref<Buffer> sums = poisoned(64 * 4);
  ASSERT_OK(run(kernel("list"), {64, 1, 1}, {64, 1, 1}, {sums, Argument::of(3u)}));
  EXPECT_EQ(download<uint32_t>(sums)[63], 3 * 64u);
}

INSTANTIATE_TEST_SUITE_P(Version, DeviceHeapOf, testing::Values("device_heap_v4", "device_heap_v5"),
                         [](const auto& test) { return std::string(test.param).substr(12); });

class DeviceHeapTest : public DeviceTest {};

// The heap is the device's.
TEST_F(DeviceHeapTest, MemoryOutlivesItsExecutable) {
  const std::vector<std::byte> bytes = object_bytes("device_heap_v5");
  const Ref<Buffer> at = poisoned(8);
  const Ref<Buffer> out = poisoned(8);
  for (const bool frees : {false, true}) {
    const Ref<Executable> loaded = take(device().load_executable(bytes.data(), bytes.size()));
    if (frees) {
      ASSERT_OK(run(take(loaded->find("give_back")), {1, 1, 1}, {1, 1, 1}, {at, out}));
    } else {
      ASSERT_OK(run(take(loaded->find("keep")), {1, 1, 1}, {1, 1, 1}, {at, Argument::of(5u)}));
    }
  }
  EXPECT_EQ(download<uint32_t>(out)[0], 5u);
  EXPECT_EQ(download<uint32_t>(out)[1], 6u);
}

}  // namespace
}  // namespace halyard::cts
