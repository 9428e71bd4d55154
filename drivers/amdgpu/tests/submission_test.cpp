// The ring: its wrap-around, kernel arguments that share it, back-pressure, many threads.
#include <algorithm>
#include <thread>
#include <vector>

#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using Submission = VirtualDeviceTest;

TEST_F(Submission, WrapsAroundManyTimesWithDifferentArguments) {
  const Ref<Queue> queue = new_queue(64);
  ASSERT_EQ(core(queue).ring().capacity(), 64u);
  const Ref<Buffer> data = host_buffer(64 * sizeof(uint32_t));
  std::fill_n(view<uint32_t>(data), 64, 1u);
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_OK(affine(*queue, data, 3, i));
    expected = expected * 3 + i;
  }
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[63], expected);
}

TEST_F(Submission, CountsEveryPacketOnce) {
  const Ref<Queue> queue = new_queue(64);
  const Ref<Buffer> data = device_buffer(256);
  const uint32_t zero = 0;
  ASSERT_OK(queue->fill(data, &zero, 4));  // a kernel of the device library
  ASSERT_OK(affine(*queue, data, 1, 1));   // without an interrupt
  finish(*queue);                          // with an interrupt
  EXPECT_EQ(submitted(queue), 3u);
  EXPECT_EQ(completed(queue), 3u);
  EXPECT_TRUE(core(queue).epoch().idle());
}

TEST_F(Submission, ThreadsShareASmallRing) {
  constexpr int kThreads = 4;
  constexpr uint32_t kEach = 400;
  const Ref<Queue> queue = new_queue(64);
  const Ref<Buffer> data = host_buffer(64 * sizeof(uint32_t));
  std::fill_n(view<uint32_t>(data), 64, 0u);
  const Function& kernel = function("busy", "affine");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Ref<Semaphore> mine = new_semaphore();
      for (uint32_t i = 0; i < kEach; ++i) {
        const uint32_t n = 64;
        const uint32_t one = 1;
        const Argument arguments[] = {data, Argument::of(n), Argument::of(one), Argument::of(one)};
        Dispatch dispatch;
        dispatch.function = &kernel;
        dispatch.grid = dispatch.workgroup = {64, 1, 1};
        dispatch.arguments = arguments;
        const SemaphorePoint point = {mine.get(), i + 1};
        // Half of the threads signal, so that packets with and without an interrupt mix.
        const Sync sync = {.wait = {}, .signal = {&point, t % 2 == 0 ? size_t{1} : size_t{0}}};
        EXPECT_OK(queue->dispatch(dispatch, sync));
      }
      if (t % 2 == 0) EXPECT_OK(mine->wait(kEach, time_limit()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[0], kThreads * kEach);
}

TEST_F(Submission, AFullQueueWaitsForRoom) {
  const Ref<Queue> queue = new_queue(64);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> log = host_buffer(4096);
  std::memset(view<void>(log), 0, 4096);
  const uint32_t mark = 7;
  const uint32_t rounds = 20000;
  const Argument arguments[] = {log, Argument::of(mark), Argument::of(rounds)};
  Dispatch dispatch;
  dispatch.function = &function("busy", "append");
  dispatch.grid = dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  for (int i = 0; i < 200; ++i) ASSERT_OK(queue->dispatch(dispatch));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(log)[0], 200u);
}

// A kernel's arguments may be longer than one slot's block.
TEST_F(Submission, LongArgumentsTakeTheBlocksOfSeveralSlots) {
  const Ref<Queue> queue = new_queue(64);
  EXPECT_EQ(kernarg_blocks(3 * kKernargBlock + 8, kKernargBlock), 4u);
  // The last slot's blocks lie in one piece behind the ring's.
  auto* const last = static_cast<std::byte*>(core(queue).ring().kernarg(63));
  auto* const start = static_cast<std::byte*>(core(queue).ring().kernarg(0));
  EXPECT_EQ(last - start, 63 * static_cast<ptrdiff_t>(kKernargBlock));
  std::memset(last, 0xff, kMaxKernargBlocks * kKernargBlock);
  EXPECT_EQ(core(queue).ring().kernarg(64), start);
}

// Put into the ring at once, without a signal and with one, and after it was held back.
TEST_F(Submission, ALaunchWithLongArgumentsFillsItsSlots) {
  const Ref<Queue> queue = new_queue(64);
  const Ref<Buffer> data = host_buffer(64 * sizeof(uint32_t));
  std::fill_n(view<uint32_t>(data), 64, 5u);
  // A kernel that says of itself that its arguments take three blocks.
  const auto& loaded = static_cast<const FunctionImpl&>(function("busy", "affine"));
  KernelCode code = loaded.code();
  code.kernarg_blocks = 3;
  const FunctionImpl kernel(loaded.executable(), loaded.info(), code);
  const uint32_t n = 64;
  const uint32_t two = 2;
  const uint32_t one = 1;
  const Argument arguments[] = {data, Argument::of(n), Argument::of(two), Argument::of(one)};
  Dispatch dispatch;
  dispatch.function = &kernel;
  dispatch.grid = dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;

  const Ref<Semaphore> done = new_semaphore();
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint first = {done.get(), 1};
  const SemaphorePoint second = {done.get(), 2};
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(queue->dispatch(dispatch));
  ASSERT_OK(queue->dispatch(dispatch, {.wait = {}, .signal = {&first, 1}}));
  EXPECT_EQ(submitted(queue), 6u);
  ASSERT_OK(queue->dispatch(dispatch, {.wait = {&open, 1}, .signal = {&second, 1}}));
  ASSERT_OK(done->wait(1, time_limit()));
  // The last packet of a launch signals, and no other.
  for (uint64_t i = 0; i < 6; ++i)
    EXPECT_EQ(core(queue).notes().raises_interrupt(core(queue).ring().first() + i), i == 5) << i;
  EXPECT_EQ(view<uint32_t>(data)[63], (5u * 2 + 1) * 2 + 1);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(done->wait(2, time_limit()));
  EXPECT_EQ(submitted(queue), 9u);
  EXPECT_TRUE(core(queue).notes().raises_interrupt(core(queue).ring().first() + 8));
  EXPECT_EQ(completed(queue), 9u);
  EXPECT_EQ(view<uint32_t>(data)[63], ((5u * 2 + 1) * 2 + 1) * 2 + 1);
}

TEST_F(Submission, ASemaphoreTakesMorePointsThanItHasRoomFor) {
  const Ref<Queue> queue = new_queue(256);
  const Ref<Semaphore> timeline = new_semaphore();
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(queue->barrier({.wait = {&open, 1}, .signal = {}}));
  for (uint64_t i = 1; i <= 200; ++i) {
    const SemaphorePoint point = {timeline.get(), i};
    ASSERT_OK(queue->barrier({.wait = {}, .signal = {&point, 1}}));
  }
  EXPECT_EQ(take(timeline->query()), 0u);
  ASSERT_OK(gate->signal(1));
  for (uint64_t i = 1; i <= 200; ++i) ASSERT_OK(timeline->wait(i, time_limit()));
  EXPECT_EQ(take(timeline->query()), 200u);
}

}  // namespace
}  // namespace halyard::amdgpu
