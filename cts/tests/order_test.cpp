// Order of work: within a queue, between queues, from many threads.
#include <algorithm>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kOrderCount = 256;

class Order : public DeviceTest {
 protected:
  // data[i] = data[i] * multiplier + addend on `target`.
  Status submit_affine(Queue& target, const Ref<Buffer>& data, uint32_t multiplier, uint32_t addend,
                       const Sync& sync = {}) {
    const Argument arguments[] = {data, Argument::of(kOrderCount), Argument::of(multiplier),
                                  Argument::of(addend)};
    Dispatch dispatch;
    dispatch.function = function("busy", "affine");
    dispatch.grid = {kOrderCount, 1, 1};
    dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    return target.dispatch(dispatch, sync);
  }
  // Appends `mark` to a log after a while.
  Status submit_append(Queue& target, const Function* kernel, const Ref<Buffer>& log, uint32_t mark,
                       uint32_t rounds, const Sync& sync = {}) {
    const Argument arguments[] = {log, Argument::of(mark), Argument::of(rounds)};
    Dispatch dispatch;
    dispatch.function = kernel;
    dispatch.arguments = arguments;
    return target.dispatch(dispatch, sync);
  }
};

TEST_F(Order, AQueueIsInOrder) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 1));
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 500; ++i) {
    const uint32_t multiplier = 2 * i + 3;
    ASSERT_OK(submit_affine(queue(), data, multiplier, i));
    expected = expected * multiplier + i;
  }
  ASSERT_OK(queue().barrier(next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, expected)));
}

TEST_F(Order, KernelsCopiesAndFillsTakeTurns) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 7));
  const Ref<Buffer> other = allocate(kOrderCount * sizeof(uint32_t));
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(submit_affine(queue(), data, 3, 1));
    ASSERT_OK(queue().copy(data, other));
    const uint32_t zero = 0;
    ASSERT_OK(queue().fill(data, &zero, 4));
    ASSERT_OK(submit_affine(queue(), other, 5, 2));
    ASSERT_OK(queue().copy(other, data));
  }
  ASSERT_OK(queue().barrier(next()));
  ASSERT_OK(finish());
  uint32_t expected = 7;
  for (int i = 0; i < 20; ++i) expected = (expected * 3 + 1) * 5 + 2;
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, expected)));
}

TEST_F(Order, TwoQueuesTakeTurns) {
  const Ref<Queue> queues[] = {new_queue(), new_queue()};
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 1));
  uint32_t expected = 1;
  constexpr uint64_t kTurns = 60;
  for (uint64_t i = 0; i < kTurns; ++i) {
    const uint32_t multiplier = static_cast<uint32_t>(5 + 2 * i);
    const SemaphorePoint wait = {turn.get(), i};
    const SemaphorePoint signal = {turn.get(), i + 1};
    ASSERT_OK(submit_affine(*queues[i % 2], data, multiplier, 11,
                            {.wait = {&wait, 1}, .signal = {&signal, 1}}));
    expected = expected * multiplier + 11;
  }
  ASSERT_OK(turn->wait(kTurns, time_limit()));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, expected)));
}

// What is waited for may be submitted later, on another queue.
TEST_F(Order, WaitSubmittedBeforeItsSignal) {
  const Ref<Queue> early = new_queue();
  const Ref<Queue> late = new_queue();
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 3));
  const SemaphorePoint point = {semaphore.get(), 1};
  Sync sync = next();
  sync.wait = {&point, 1};
  ASSERT_OK(submit_affine(*early, data, 10, 5, sync));
  ASSERT_OK(submit_affine(*late, data, 2, 1, {.wait = {}, .signal = {&point, 1}}));
  ASSERT_OK(finish());
  EXPECT_TRUE(
      same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, (3 * 2 + 1) * 10 + 5)));
}

TEST_F(Order, WorkWaitsForTheHost) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 3));
  const SemaphorePoint open = {gate.get(), 5};
  const Ref<Queue> gated = new_queue();
  Sync sync = next();
  sync.wait = {&open, 1};
  ASSERT_OK(submit_affine(*gated, data, 10, 5, sync));
  ASSERT_OK(gate->signal(4));  // not enough
  // This queue's work overtakes the other's, which is closed.
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(submit_affine(queue(), data, 2, 0, {.wait = {}, .signal = {&point, 1}}));
  ASSERT_OK(done->wait(1, time_limit()));
  EXPECT_FAILS(device().wait(sync.signal, WaitMode::kAll, Deadline::poll()),
               StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(5));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, 3 * 2 * 10 + 5)));
}

TEST_F(Order, Diamond) {
  const Ref<Queue> queues[] = {new_queue(), new_queue(), new_queue()};
  const Ref<Semaphore> a = new_semaphore();
  const Ref<Semaphore> b = new_semaphore();
  const Ref<Semaphore> c = new_semaphore();
  const Ref<Buffer> left = upload(std::vector<uint32_t>(kOrderCount, 2));
  const Ref<Buffer> right = allocate(kOrderCount * sizeof(uint32_t));
  const SemaphorePoint top = {a.get(), 1};
  const SemaphorePoint both[] = {{b.get(), 1}, {c.get(), 1}};
  // Submitted from the end to the start.
  const Ref<Buffer> result = allocate(2 * kOrderCount * sizeof(uint32_t));
  const uint64_t half = kOrderCount * sizeof(uint32_t);
  ASSERT_OK(queue().copy(left, {*result, 0, half}, {.wait = both, .signal = {}}));
  ASSERT_OK(queue().copy(right, {*result, half, half}, next()));
  ASSERT_OK(submit_affine(*queues[1], left, 3, 1, {.wait = {&top, 1}, .signal = {&both[0], 1}}));
  ASSERT_OK(submit_affine(*queues[2], right, 5, 2, {.wait = {&top, 1}, .signal = {&both[1], 1}}));
  ASSERT_OK(queues[0]->copy(left, right, {.wait = {}, .signal = {&top, 1}}));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(2 * kOrderCount, 2 * 5 + 2);
  std::fill(expected.begin(), expected.begin() + kOrderCount, 2 * 3 + 1);
  EXPECT_TRUE(same(download<uint32_t>(result), expected));
}

// A queue takes more than it has room for, by waiting for room.
TEST_F(Order, MoreThanAQueueHolds) {
  QueueOptions options;
  options.capacity = 4;
  const Ref<Queue> small = take(device().create_queue(options));
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 0));
  constexpr uint32_t kOperations = 1000;
  for (uint32_t i = 0; i < kOperations; ++i) {
    ASSERT_OK(submit_affine(*small, data, 1, 1, i + 1 < kOperations ? Sync{} : next()));
  }
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, kOperations)));
}

TEST_F(Order, ManyThreadsOnOneQueue) {
  constexpr uint32_t kThreads = 8;
  constexpr uint32_t kEach = 60;
  const Ref<Buffer> log = upload(std::vector<uint32_t>(1 + kThreads * kEach, 0));
  const Function* kernel = function("busy", "append");
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kEach && results[t].ok(); ++i) {
        results[t] = submit_append(queue(), kernel, log, t << 16 | i, i % 7);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(queue().barrier(next()));
  ASSERT_OK(finish());

  // Everything once, and each thread's in its order.
  const auto entries = download<uint32_t>(log);
  ASSERT_EQ(entries[0], kThreads * kEach);
  std::vector<uint32_t> seen(kThreads, 0);
  for (size_t i = 1; i < entries.size(); ++i) {
    const uint32_t thread = entries[i] >> 16;
    ASSERT_LT(thread, kThreads);
    EXPECT_EQ(entries[i] & 0xffff, seen[thread]++);
  }
}

TEST_F(Order, ManyThreadsWithQueuesOfTheirOwn) {
  constexpr uint32_t kThreads = 6;
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t t = 0; t < kThreads; ++t) {
    buffers.push_back(upload(std::vector<uint32_t>(kOrderCount, t)));
  }
  function("busy", "affine");  // loads it; the fixture itself is not for several threads
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      try {
        const Ref<Queue> own = new_queue();
        const Ref<Semaphore> done = new_semaphore();
        for (uint64_t i = 1; i <= 50; ++i) {
          const SemaphorePoint point = {done.get(), i};
          require(submit_affine(*own, buffers[t], 3, t, {.wait = {}, .signal = {&point, 1}}));
          if (i % 10 == 0) require(done->wait(i, time_limit()));
        }
      } catch (const std::exception& problem) {
        results[t] = Status(StatusCode::kInternal, problem.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t t = 0; t < kThreads; ++t) {
    ASSERT_OK(results[t]);
    uint32_t expected = t;
    for (int i = 0; i < 50; ++i) expected = expected * 3 + t;
    EXPECT_TRUE(same(download<uint32_t>(buffers[t]), std::vector<uint32_t>(kOrderCount, expected)));
  }
}

// Semaphores handed from thread to thread, each with its own queue: a relay.
TEST_F(Order, RelayOfThreadsAndQueues) {
  constexpr uint32_t kRunners = 5;
  constexpr uint64_t kLaps = 8;
  const Ref<Semaphore> baton = new_semaphore();
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kOrderCount, 1));
  function("busy", "affine");
  std::vector<Status> results(kRunners);
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < kRunners; ++r) {
    threads.emplace_back([&, r] {
      try {
        const Ref<Queue> own = new_queue();
        for (uint64_t lap = 0; lap < kLaps; ++lap) {
          const uint64_t leg = lap * kRunners + r;
          const SemaphorePoint wait = {baton.get(), leg};
          const SemaphorePoint signal = {baton.get(), leg + 1};
          require(submit_affine(*own, data, 3, r, {.wait = {&wait, 1}, .signal = {&signal, 1}}));
        }
      } catch (const std::exception& problem) {
        results[r] = Status(StatusCode::kInternal, problem.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(baton->wait(kRunners * kLaps, time_limit()));
  uint32_t expected = 1;
  for (uint64_t leg = 0; leg < kRunners * kLaps; ++leg) {
    expected = expected * 3 + static_cast<uint32_t>(leg % kRunners);
  }
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kOrderCount, expected)));
}

}  // namespace
}  // namespace halyard::cts
