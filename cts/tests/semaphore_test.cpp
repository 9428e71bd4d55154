// Semaphores as the host sees them: timelines that are queried, signalled and waited for.
#include <atomic>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kMillisecond = 1000 * 1000;

class SemaphoreTest : public DeviceTest {
 protected:
  // Work on a queue that signals `value`.
  Status signal_from(Queue& queue, Semaphore& semaphore, uint64_t value) {
    const SemaphorePoint point = {&semaphore, value};
    return queue.barrier({.wait = {}, .signal = {&point, 1}});
  }
};

TEST_F(SemaphoreTest, StartsAtItsInitialValue) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
    const Ref<Semaphore> semaphore = new_semaphore(value);
    EXPECT_EQ(take(semaphore->query()), value);
    EXPECT_OK(semaphore->wait(value, Deadline::poll()));
  }
}

TEST_F(SemaphoreTest, HostSignalsAndWaits) {
  const Ref<Semaphore> semaphore = new_semaphore();
  EXPECT_FAILS(semaphore->wait(3, Deadline::poll()), StatusCode::kDeadlineExceeded);
  ASSERT_OK(semaphore->signal(3));
  EXPECT_EQ(take(semaphore->query()), 3u);
  for (const uint64_t value : {0, 1, 2, 3}) EXPECT_OK(semaphore->wait(value, time_limit()));
  EXPECT_FAILS(semaphore->wait(4, Deadline::poll()), StatusCode::kDeadlineExceeded);
  ASSERT_OK(semaphore->signal(uint64_t{1} << 62));  // far jumps are fine
  EXPECT_OK(semaphore->wait(uint64_t{1} << 61, time_limit()));
}

TEST_F(SemaphoreTest, ValuesOnlyGrow) {
  const Ref<Semaphore> semaphore = new_semaphore(5);
  EXPECT_FAILS(semaphore->signal(5), StatusCode::kInvalidArgument,
               "a value (5) that is not above the current one (5)");
  EXPECT_FAILS(semaphore->signal(4), StatusCode::kInvalidArgument,
               "a value (4) that is not above the current one (5)");
  EXPECT_EQ(take(semaphore->query()), 5u);
  EXPECT_OK(semaphore->signal(6));
}

TEST_F(SemaphoreTest, DeadlinesEnd) {
  const Ref<Semaphore> semaphore = new_semaphore();
  EXPECT_FAILS(semaphore->wait(1, Deadline::after_ns(kMillisecond)), StatusCode::kDeadlineExceeded);
  EXPECT_FAILS(semaphore->wait(1, Deadline{1}), StatusCode::kDeadlineExceeded);  // long past
  ASSERT_OK(semaphore->signal(1));
  EXPECT_OK(semaphore->wait(1, Deadline{1}));
}

TEST_F(SemaphoreTest, QueueSignals) {
  const Ref<Semaphore> semaphore = new_semaphore();
  ASSERT_OK(signal_from(queue(), *semaphore, 10));
  EXPECT_OK(semaphore->wait(10, time_limit()));
  EXPECT_EQ(take(semaphore->query()), 10u);
}

TEST_F(SemaphoreTest, WaitBegunBeforeTheSignalIsSubmitted) {
  const Ref<Semaphore> semaphore = new_semaphore();
  std::atomic<bool> waiting = false;
  Status result(StatusCode::kUnknown, "not returned");
  std::thread waiter([&] {
    waiting = true;
    result = semaphore->wait(7, time_limit());
  });
  while (!waiting) std::this_thread::yield();
  EXPECT_OK(signal_from(queue(), *semaphore, 7));
  waiter.join();
  EXPECT_OK(result);
}

TEST_F(SemaphoreTest, HostSignalWakesAWaitingThread) {
  const Ref<Semaphore> semaphore = new_semaphore();
  std::atomic<bool> waiting = false;
  Status result(StatusCode::kUnknown, "not returned");
  std::thread waiter([&] {
    waiting = true;
    result = semaphore->wait(1, time_limit());
  });
  while (!waiting) std::this_thread::yield();
  EXPECT_OK(semaphore->signal(1));
  waiter.join();
  EXPECT_OK(result);
}

// A later signal that is pending never holds a wait for an earlier value.
TEST_F(SemaphoreTest, WaitReturnsWhenItsValueIsReached) {
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Semaphore> gate = new_semaphore();
  ASSERT_OK(signal_from(queue(), *semaphore, 1));
  const SemaphorePoint wait = {gate.get(), 1};
  const SemaphorePoint signal = {semaphore.get(), 2};
  ASSERT_OK(queue().barrier({.wait = {&wait, 1}, .signal = {&signal, 1}}));
  EXPECT_OK(semaphore->wait(1, time_limit()));
  EXPECT_EQ(take(semaphore->query()), 1u);
  EXPECT_FAILS(semaphore->wait(2, Deadline::poll()), StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(semaphore->wait(2, time_limit()));
}

TEST_F(SemaphoreTest, WaitForAny) {
  const Ref<Semaphore> a = new_semaphore();
  const Ref<Semaphore> b = new_semaphore();
  const Ref<Semaphore> c = new_semaphore(9);
  const SemaphorePoint none[] = {{a.get(), 1}, {b.get(), 1}, {c.get(), 10}};
  EXPECT_FAILS(device().wait(none, WaitMode::kAny, Deadline::after_ns(kMillisecond)),
               StatusCode::kDeadlineExceeded);
  ASSERT_OK(b->signal(1));
  size_t index = 99;
  ASSERT_OK(device().wait(none, WaitMode::kAny, time_limit(), &index));
  EXPECT_EQ(index, 1u);
  const SemaphorePoint reached[] = {{a.get(), 1}, {a.get(), 2}, {c.get(), 9}};
  ASSERT_OK(device().wait(reached, WaitMode::kAny, Deadline::poll(), &index));
  EXPECT_EQ(index, 2u);
}

TEST_F(SemaphoreTest, WaitForAnyIsWokenByWork) {
  const Ref<Semaphore> a = new_semaphore();
  const Ref<Semaphore> b = new_semaphore();
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  const SemaphorePoint signal = {b.get(), 1};
  ASSERT_OK(queue().barrier({.wait = {&open, 1}, .signal = {&signal, 1}}));
  size_t index = 99;
  Status result(StatusCode::kUnknown, "not returned");
  std::thread waiter([&] {
    const SemaphorePoint points[] = {{a.get(), 1}, {b.get(), 1}};
    result = device().wait(points, WaitMode::kAny, time_limit(), &index);
  });
  EXPECT_OK(gate->signal(1));
  waiter.join();
  EXPECT_OK(result);
  EXPECT_EQ(index, 1u);
}

TEST_F(SemaphoreTest, WaitForAll) {
  std::vector<Ref<Semaphore>> semaphores;
  std::vector<SemaphorePoint> points;
  for (uint64_t i = 0; i < 20; ++i) {
    semaphores.push_back(new_semaphore());
    points.push_back({semaphores.back().get(), i + 1});
  }
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_FAILS(device().wait(points, WaitMode::kAll, Deadline::poll()),
                 StatusCode::kDeadlineExceeded);
    // Half from the host, half from the queue.
    ASSERT_OK(i % 2 == 0 ? semaphores[i]->signal(points[i].value)
                         : signal_from(queue(), *semaphores[i], points[i].value));
    ASSERT_OK(semaphores[i]->wait(points[i].value, time_limit()));
  }
  EXPECT_OK(device().wait(points, WaitMode::kAll, time_limit()));
}

TEST_F(SemaphoreTest, WaitsThatMakeNoSense) {
  const Ref<Semaphore> semaphore = new_semaphore();
  EXPECT_OK(device().wait({}, WaitMode::kAll, Deadline::poll()));
  EXPECT_FAILS(device().wait({}, WaitMode::kAny, Deadline::poll()), StatusCode::kInvalidArgument);
  const SemaphorePoint null = {nullptr, 1};
  EXPECT_FAILS(device().wait({&null, 1}, WaitMode::kAll, Deadline::poll()),
               StatusCode::kInvalidArgument, "null");
  EXPECT_FAILS(queue().barrier({.wait = {&null, 1}, .signal = {}}), StatusCode::kInvalidArgument,
               "null");
  EXPECT_FAILS(queue().barrier({.wait = {}, .signal = {&null, 1}}), StatusCode::kInvalidArgument,
               "null");
}

TEST_F(SemaphoreTest, ManyThreadsWaitForTheirOwnValues) {
  constexpr uint64_t kThreads = 24;
  const Ref<Semaphore> semaphore = new_semaphore();
  std::atomic<uint64_t> wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&, i] {
      if (!semaphore->wait(i, time_limit()).ok() || take(semaphore->query()) < i) ++wrong;
    });
  }
  for (uint64_t i = 1; i <= kThreads; ++i) {
    EXPECT_OK(i % 3 == 0 ? semaphore->signal(i) : signal_from(queue(), *semaphore, i));
    // The host may only go past what the queue has signalled.
    EXPECT_OK(semaphore->wait(i, time_limit()));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(SemaphoreTest, ManySemaphoresOnOneOperation) {
  std::vector<Ref<Semaphore>> semaphores;
  std::vector<SemaphorePoint> points;
  for (uint64_t i = 0; i < 33; ++i) {
    semaphores.push_back(new_semaphore());
    points.push_back({semaphores.back().get(), 100 + i});
  }
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(queue().barrier({.wait = {&open, 1}, .signal = points}));
  // Another queue waits for all of them.
  const Ref<Queue> other = new_queue();
  Sync sync = next();
  sync.wait = points;
  ASSERT_OK(other->barrier(sync));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  for (const SemaphorePoint& point : points) EXPECT_OK(point.semaphore->wait(point.value));
}

}  // namespace
}  // namespace halyard::cts
