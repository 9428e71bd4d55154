// Waits within a queue, across queues and for the host.
#include <atomic>
#include <thread>

#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using Ordering = VirtualDeviceTest;

TEST_F(Ordering, AWaitOnTheSameQueueTakesNoPacket) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint one = {done.get(), 1};
  const SemaphorePoint two = {done.get(), 2};
  ASSERT_OK(affine(*queue, data, 1, 1, {.wait = {}, .signal = {&one, 1}}));
  ASSERT_OK(affine(*queue, data, 1, 1, {.wait = {&one, 1}, .signal = {&two, 1}}));
  EXPECT_EQ(core(queue).reserved(), 2u);
  ASSERT_OK(done->wait(2, patience()));
}

TEST_F(Ordering, QueuesTakeTurnsOnTheDevice) {
  const Ref<Queue> queues[] = {new_queue(), new_queue()};
  const Ref<Buffer> data = host_buffer(64 * sizeof(uint32_t));
  std::fill_n(view<uint32_t>(data), 64, 1u);
  const Ref<Semaphore> turn = new_semaphore();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 200; ++i) {
    const SemaphorePoint before = {turn.get(), i};
    const SemaphorePoint after = {turn.get(), i + 1};
    ASSERT_OK(affine(*queues[i % 2], data, 5, i, {.wait = {&before, 1}, .signal = {&after, 1}}));
    expected = expected * 5 + i;
  }
  ASSERT_OK(turn->wait(200, patience()));
  EXPECT_EQ(view<uint32_t>(data)[17], expected);
}

// As on processors without the packet that waits for another queue.
TEST_F(Ordering, QueuesTakeTurnsThroughTheHost) {
  impl().set_barrier_value(false);
  const Ref<Queue> queues[] = {new_queue(64), new_queue(64)};
  const Ref<Buffer> data = host_buffer(64 * sizeof(uint32_t));
  std::fill_n(view<uint32_t>(data), 64, 1u);
  const Ref<Semaphore> turn = new_semaphore();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 200; ++i) {
    const SemaphorePoint before = {turn.get(), i};
    const SemaphorePoint after = {turn.get(), i + 1};
    ASSERT_OK(affine(*queues[i % 2], data, 5, i, {.wait = {&before, 1}, .signal = {&after, 1}}));
    expected = expected * 5 + i;
  }
  ASSERT_OK(turn->wait(200, patience()));
  EXPECT_EQ(view<uint32_t>(data)[17], expected);
  // Each took its own launches, and no packet to wait.
  EXPECT_EQ(core(queues[0]).reserved() + core(queues[1]).reserved(), 200u);
}

TEST_F(Ordering, WorkIsHeldBackUntilTheHostSignals) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 1u);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  const SemaphorePoint first = {done.get(), 1};
  const SemaphorePoint second = {done.get(), 2};
  ASSERT_OK(affine(*queue, data, 10, 0, {.wait = {&open, 1}, .signal = {&first, 1}}));
  // Behind it, though it waits for nothing itself.
  ASSERT_OK(affine(*queue, data, 1, 3, {.wait = {}, .signal = {&second, 1}}));
  EXPECT_EQ(core(queue).reserved(), 0u);
  EXPECT_EQ(done->wait(1, Deadline::after_ns(5'000'000)).code(), StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(done->wait(2, patience()));
  EXPECT_EQ(view<uint32_t>(data)[0], 13u);
  EXPECT_FALSE(core(queue).held().any());
}

TEST_F(Ordering, HeldArgumentsAreThoseOfTheCall) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 0u);
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  for (uint32_t i = 1; i <= 3; ++i) {
    uint32_t addend = i;
    ASSERT_OK(affine(*queue, data, 10, addend, {.wait = {&open, 1}, .signal = {}}));
    addend = 99;
  }
  uint32_t word = 7;
  const Ref<Buffer> other = host_buffer(64);
  ASSERT_OK(queue->update(other, &word, sizeof word));
  word = 8;
  ASSERT_OK(gate->signal(1));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[5], 123u);
  EXPECT_EQ(view<uint32_t>(other)[0], 7u);
}

TEST_F(Ordering, ALaterPendingSignalDoesNotHoldAWait) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint one = {done.get(), 1};
  const SemaphorePoint two = {done.get(), 2};
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(affine(*queue, data, 1, 1, {.wait = {}, .signal = {&one, 1}}));
  ASSERT_OK(queue->barrier({.wait = {&open, 1}, .signal = {&two, 1}}));
  EXPECT_OK(done->wait(1, patience()));
  EXPECT_EQ(take(done->query()), 1u);
  EXPECT_FALSE(done->signal(2).ok()) << "queued work will signal it";
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(done->wait(2, patience()));
}

TEST_F(Ordering, ThreadsPassATokenThroughQueuesOfTheirOwn) {
  constexpr int kThreads = 4;
  constexpr uint32_t kRounds = 25;
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 0u);
  const Ref<Semaphore> token = new_semaphore();
  function("busy", "affine");
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Ref<Queue> queue = new_queue(64);
      for (uint32_t r = 0; r < kRounds; ++r) {
        const uint64_t at = uint64_t{r} * kThreads + t;
        const SemaphorePoint mine = {token.get(), at};
        const SemaphorePoint next = {token.get(), at + 1};
        EXPECT_OK(affine(*queue, data, 1, 1, {.wait = {&mine, 1}, .signal = {&next, 1}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(token->wait(kThreads * kRounds, patience()));
  EXPECT_EQ(view<uint32_t>(data)[0], kThreads * kRounds);
}

TEST_F(Ordering, ManyThreadsSleepOnOneQueue) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  std::vector<std::thread> threads;
  std::atomic<int> woken{0};
  for (uint64_t t = 1; t <= 8; ++t) {
    const SemaphorePoint point = {done.get(), t};
    ASSERT_OK(affine(*queue, data, 1, 1, {.wait = {&open, 1}, .signal = {&point, 1}}));
    threads.emplace_back([&, t] {
      EXPECT_OK(done->wait(t, patience()));
      ++woken;
    });
  }
  ASSERT_OK(gate->signal(1));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken.load(), 8);
}

}  // namespace
}  // namespace halyard::amdgpu
