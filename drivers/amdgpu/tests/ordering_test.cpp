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
  EXPECT_EQ(submitted(queue), 2u);
  ASSERT_OK(done->wait(2, time_limit()));
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
  ASSERT_OK(turn->wait(200, time_limit()));
  EXPECT_EQ(view<uint32_t>(data)[17], expected);
}

// As on processors without barrier-value packets.
class Edge : public VirtualDeviceTest {
 protected:
  Edge() { impl().set_barrier_value(false); }
};

TEST_F(Edge, QueuesTakeTurns) {
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
  ASSERT_OK(turn->wait(200, time_limit()));
  EXPECT_EQ(view<uint32_t>(data)[17], expected);
}

TEST_F(Edge, AWaitForTheLastPacketStaysOnTheDevice) {
  const Ref<Queue> first = new_queue();
  const Ref<Queue> second = new_queue();
  const Ref<Queue> third = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  const Ref<Semaphore> turn = new_semaphore();
  const SemaphorePoint one = {turn.get(), 1};
  const SemaphorePoint two = {turn.get(), 2};
  ASSERT_OK(hold(*first, {.wait = {}, .signal = {&one, 1}}));
  ASSERT_OK(affine(*second, data, 1, 1, {.wait = {&one, 1}, .signal = {&two, 1}}));
  EXPECT_FALSE(core(second).held().any());
  EXPECT_EQ(submitted(second), 2u) << "a packet that waits, and the launch";
  EXPECT_EQ(submitted(first), 2u) << "the kernel, and the edge behind it";
  // One edge serves all that wait for it.
  ASSERT_OK(third->barrier({.wait = {&one, 1}, .signal = {}}));
  EXPECT_FALSE(core(third).held().any());
  EXPECT_EQ(submitted(first), 2u);
  EXPECT_FALSE(take(turn->query()) != 0);
  release_kernel();
  ASSERT_OK(turn->wait(2, time_limit()));
  finish(*third);
  EXPECT_TRUE(core(first).epoch().idle());
}

TEST_F(Edge, AQueueThatOthersWaitForPutsEdgesBehindItsSignals) {
  const Ref<Queue> first = new_queue();
  const Ref<Queue> second = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  uint64_t value = 0;
  // A signal, and something behind it that has no end.
  const auto signal_and_hold = [&](uint64_t* reached) {
    const SemaphorePoint point = {turn.get(), *reached = ++value};
    ASSERT_OK(affine(*first, data, 1, 1, {.wait = {}, .signal = {&point, 1}}));
    ASSERT_OK(hold(*first));
  };
  const auto wait_for = [&](uint64_t reached) {
    const SemaphorePoint point = {turn.get(), reached};
    const SemaphorePoint told = {done.get(), reached};
    ASSERT_OK(second->barrier({.wait = {&point, 1}, .signal = {&told, 1}}));
  };
  // The queue is busy, so that the point is there to be waited for.
  ASSERT_OK(hold(*first));
  for (int round = 0; round < 3; ++round) {
    uint64_t reached = 0;
    const SemaphorePoint point = {turn.get(), reached = ++value};
    ASSERT_OK(affine(*first, data, 1, 1, {.wait = {}, .signal = {&point, 1}}));
    ASSERT_OK(affine(*first, data, 1, 1));
    wait_for(reached);
    // The first time there is no edge behind it, and no place for one.
    EXPECT_EQ(core(second).held().any(), round == 0);
    release_kernel();
    ASSERT_OK(done->wait(reached, time_limit()));
    while (core(second).held().any()) std::this_thread::yield();
    finish(*first);
    ASSERT_OK(hold(*first));
  }
  release_kernel();
  finish(*first);
  // Whoever waits does so for the signal, and for nothing behind it.
  uint64_t reached = 0;
  signal_and_hold(&reached);
  wait_for(reached);
  ASSERT_OK(done->wait(reached, time_limit()));
  EXPECT_FALSE(kernel_has_ended());
  release_kernel();
  finish(*first);
}

// A packet that has not looked at the edge yet sees it complete a second time.
TEST_F(Edge, OfAnAbandonedQueueHoldsNobodyWhenItsPacketCompletesAfterAll) {
  const Ref<Queue> first = new_queue();
  const Ref<Queue> second = new_queue();
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint one = {turn.get(), 1};
  const SemaphorePoint end = {done.get(), 1};
  ASSERT_OK(hold(*first, {.wait = {}, .signal = {&one, 1}}));
  // Another kernel that waits for the host, in front of the packet that waits for the edge.
  const Ref<Buffer> mail = host_buffer(8);
  auto* const words = view<uint32_t>(mail);
  words[0] = words[1] = 0;
  const Argument arguments[] = {mail, Argument::of(uint32_t{1}),
                                Argument::of(uint32_t{100'000'000})};
  Dispatch dispatch;
  dispatch.function = &function("coherence", "answer");
  dispatch.grid = dispatch.workgroup = {1, 1, 1};
  dispatch.arguments = arguments;
  ASSERT_OK(second->dispatch(dispatch));
  ASSERT_OK(second->barrier({.wait = {&one, 1}, .signal = {&end, 1}}));
  EXPECT_FALSE(core(second).held().any());
  ASSERT_OK(first->abandon());
  EXPECT_EQ(done->wait(1, time_limit()).code(), StatusCode::kCancelled);
  EXPECT_FALSE(core(first).is_through(core(first).ring().reserved()));
  release_kernel();
  while (!core(first).is_through(core(first).ring().reserved())) std::this_thread::yield();
  std::atomic_ref<uint32_t>(words[0]).store(1);
  finish(*second);
}

TEST_F(Edge, NoneIsMadeThatNobodyUses) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  uint64_t value = 0;
  const auto signal = [&] {
    const SemaphorePoint point = {done.get(), ++value};
    ASSERT_OK(queue->barrier({.wait = {}, .signal = {&point, 1}}));
    ASSERT_OK(done->wait(value, time_limit()));
  };
  for (int i = 0; i < 10; ++i) signal();
  EXPECT_EQ(submitted(queue), 10u);
  core(queue).edges().want(true);
  for (int i = 0; i < 200; ++i) signal();
  EXPECT_FALSE(core(queue).edges().wanted());
  EXPECT_LT(submitted(queue), 10u + 200 + 100);
  const uint64_t before = core(queue).ring().reserved();
  for (int i = 0; i < 10; ++i) signal();
  EXPECT_EQ(core(queue).ring().reserved(), before + 10);
}

TEST_F(Edge, RecordingsWaitAndAreWaitedFor) {
  const Ref<Queue> queues[] = {new_queue(64), new_queue(64)};
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 1u);
  const Ref<CommandBuffer> commands = take(device_->create_command_buffer());
  const Argument arguments[] = {data, Argument::of(uint32_t{64}), Argument::of(uint32_t{3}),
                                Argument::of(uint32_t{1})};
  Dispatch dispatch;
  dispatch.function = &function("busy", "affine");
  dispatch.grid = dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  ASSERT_OK(commands->dispatch(dispatch));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(dispatch));
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> turn = new_semaphore();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 60; ++i) {
    const SemaphorePoint before = {turn.get(), i};
    const SemaphorePoint after = {turn.get(), i + 1};
    ASSERT_OK(queues[i % 2]->execute(*commands, {}, {.wait = {&before, 1}, .signal = {&after, 1}}));
    expected = (expected * 3 + 1) * 3 + 1;
  }
  ASSERT_OK(turn->wait(60, time_limit()));
  EXPECT_EQ(view<uint32_t>(data)[5], expected);
}

// More than a ring has slots for packets that wait.
TEST_F(Ordering, AnOperationWaitsForMoreQueuesThanItsRingHolds) {
  constexpr size_t kQueues = 70;
  const Ref<Queue> last = new_queue(64);
  const Ref<Queue> held = new_queue(64);
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(hold(*held, {.wait = {}, .signal = {&open, 1}}));
  std::vector<Ref<Queue>> queues;
  std::vector<Ref<Semaphore>> semaphores;
  std::vector<SemaphorePoint> points;
  for (size_t i = 0; i < kQueues; ++i) {
    queues.push_back(new_queue(64));
    semaphores.push_back(new_semaphore());
    points.push_back({semaphores.back().get(), 1});
    ASSERT_OK(queues[i]->barrier({.wait = {&open, 1}, .signal = {&points[i], 1}}));
  }
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint end = {done.get(), 1};
  ASSERT_OK(last->barrier({.wait = points, .signal = {&end, 1}}));
  release_kernel();
  ASSERT_OK(done->wait(1, time_limit()));
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
  EXPECT_EQ(submitted(queue), 0u);
  EXPECT_EQ(done->wait(1, Deadline::after_ns(5'000'000)).code(), StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(done->wait(2, time_limit()));
  EXPECT_EQ(view<uint32_t>(data)[0], 13u);
  // The thread that has submitted it may be a step behind.
  while (core(queue).held().any()) std::this_thread::yield();
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
  EXPECT_OK(done->wait(1, time_limit()));
  EXPECT_EQ(take(done->query()), 1u);
  EXPECT_FALSE(done->signal(2).ok()) << "queued work will signal it";
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(done->wait(2, time_limit()));
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
  ASSERT_OK(token->wait(kThreads * kRounds, time_limit()));
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
      EXPECT_OK(done->wait(t, time_limit()));
      ++woken;
    });
  }
  ASSERT_OK(gate->signal(1));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken.load(), 8);
}

}  // namespace
}  // namespace halyard::amdgpu
