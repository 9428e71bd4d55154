// Much at once: many submissions, many threads, and random graphs of work against a model.
#include <algorithm>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kStressCount = 64;
constexpr uint64_t kStressBytes = kStressCount * sizeof(uint32_t);

class Stress : public DeviceTest {
 protected:
  Ref<Buffer> words(uint32_t value) { return upload(std::vector<uint32_t>(kStressCount, value)); }
  testing::AssertionResult all_are(const Ref<Buffer>& buffer, uint32_t value) {
    return same(download<uint32_t>(buffer), std::vector<uint32_t>(kStressCount, value));
  }
};

TEST_F(Stress, AHundredThousandSmallSubmissions) {
  constexpr uint32_t kSubmissions = 100000;
  const Ref<Buffer> data = words(0);
  const Launch step = affine(data, kStressCount, 1, 1);
  for (uint32_t i = 0; i < kSubmissions; ++i) ASSERT_OK(queue().dispatch(step));
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, kSubmissions));
}

TEST_F(Stress, TenThousandSignalsOfOneSemaphore) {
  const Ref<Semaphore> timeline = new_semaphore();
  for (uint64_t i = 1; i <= 10000; ++i) ASSERT_OK(queue().barrier(When().then(timeline, i)));
  EXPECT_OK(timeline->wait(10000, time_limit()));
  EXPECT_EQ(take(timeline->query()), 10000u);
}

TEST_F(Stress, TenThousandSemaphores) {
  std::vector<Ref<Semaphore>> semaphores;
  for (int i = 0; i < 10000; ++i) {
    semaphores.push_back(new_semaphore());
    ASSERT_OK(queue().barrier(When().then(semaphores.back(), 1)));
  }
  for (const Ref<Semaphore>& semaphore : semaphores) ASSERT_OK(semaphore->wait(1, time_limit()));
}

TEST_F(Stress, EightThreadsPassATurnAroundTheirQueues) {
  constexpr uint32_t kThreads = 8;
  constexpr uint64_t kLaps = 50;
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> data = words(1);
  const Function* kernel = function("busy", "affine");
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Result<Ref<Queue>> own = device().create_queue();
      results[t] = own.status();
      for (uint64_t lap = 0; lap < kLaps && results[t].ok(); ++lap) {
        const uint64_t at = lap * kThreads + t;
        results[t] = (*own)->dispatch(
            Launch(kernel, {kStressCount, 1, 1}, {64, 1, 1},
                   {data, Argument::of(kStressCount), Argument::of(3u), Argument::of(t)}),
            When().after(turn, at).then(turn, at + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(turn->wait(kLaps * kThreads, time_limit()));
  uint32_t expected = 1;
  for (uint64_t i = 0; i < kLaps * kThreads; ++i) {
    expected = expected * 3 + static_cast<uint32_t>(i % kThreads);
  }
  EXPECT_TRUE(all_are(data, expected));
}

// A random graph: each node works on one of a few buffers, after all nodes that have used that
// buffer before and some random others. The model does the same in the order of submission.
TEST_F(Stress, RandomGraphsOfKernelsAgreeWithAModel) {
  constexpr size_t kNodes = 400;
  constexpr size_t kBuffers = 6;
  std::vector<Ref<Queue>> queues;
  for (int i = 0; i < 5; ++i) queues.push_back(new_queue());
  std::vector<Ref<Buffer>> buffers;
  std::vector<uint32_t> model;
  for (uint32_t i = 0; i < kBuffers; ++i) {
    buffers.push_back(words(i));
    model.push_back(i);
  }
  std::vector<Ref<Semaphore>> done;
  std::vector<std::vector<size_t>> users(kBuffers);
  for (size_t n = 0; n < kNodes; ++n) {
    done.push_back(new_semaphore());
    const size_t target = random()() % kBuffers;
    const size_t source = random()() % kBuffers;
    When when;
    for (const size_t touched : {target, source}) {
      if (!users[touched].empty()) when = std::move(when).after(done[users[touched].back()], 1);
    }
    if (n > 0) when = std::move(when).after(done[random()() % n], 1);
    when = std::move(when).then(done[n], 1);
    Queue& queue = *queues[random()() % queues.size()];
    const uint32_t addend = static_cast<uint32_t>(random()());
    switch (source == target ? 0 : random()() % 3) {
      case 0:
        ASSERT_OK(queue.dispatch(affine(buffers[target], kStressCount, 5, addend), when));
        model[target] = model[target] * 5 + addend;
        break;
      case 1:
        ASSERT_OK(queue.copy(buffers[source], buffers[target], when));
        model[target] = model[source];
        break;
      default:
        ASSERT_OK(queue.fill(buffers[target], &addend, 4, when));
        model[target] = addend;
    }
    users[target].push_back(n);
    users[source].push_back(n);
  }
  for (const Ref<Semaphore>& semaphore : done) ASSERT_OK(semaphore->wait(1, time_limit()));
  for (size_t i = 0; i < kBuffers; ++i) EXPECT_TRUE(all_are(buffers[i], model[i])) << i;
}

// The same with failures: a node fails exactly if something that it waits for does, and then does
// nothing.
TEST_F(Stress, RandomGraphsOfFailuresAgreeWithAModel) {
  constexpr size_t kNodes = 300;
  std::vector<Ref<Queue>> queues;
  for (int i = 0; i < 4; ++i) queues.push_back(new_queue());
  const Ref<Semaphore> good = new_semaphore();
  const Ref<Semaphore> bad = new_semaphore();
  const Ref<Buffer> marks = upload(std::vector<uint32_t>(kNodes, 0));
  std::vector<Ref<Semaphore>> done;
  std::vector<bool> fails;
  for (size_t n = 0; n < kNodes; ++n) {
    done.push_back(new_semaphore());
    When when;
    bool failing = false;
    const uint64_t kind = random()() % 20;
    when = std::move(when).after(kind == 0 ? bad : good, 1);
    failing |= kind == 0;
    if (n > 0 && random()() % 3 == 0) {
      const size_t other = random()() % n;
      when = std::move(when).after(done[other], 1);
      failing |= fails[other];
    }
    when = std::move(when).then(done[n], 1);
    const uint32_t mark = static_cast<uint32_t>(n) + 1;
    ASSERT_OK(queues[random()() % queues.size()]->fill({*marks, 4 * n, 4}, &mark, 4, when));
    fails.push_back(failing);
  }
  bad->fail(Status(StatusCode::kAborted, "The bridge is out."));
  ASSERT_OK(good->signal(1));
  std::vector<uint32_t> expected(kNodes, 0);
  for (size_t n = 0; n < kNodes; ++n) {
    const Status status = done[n]->wait(1, time_limit());
    if (fails[n]) {
      EXPECT_FAILS(status, StatusCode::kAborted, "The bridge is out.");
    } else {
      ASSERT_OK(status);
      expected[n] = static_cast<uint32_t>(n) + 1;
    }
  }
  EXPECT_TRUE(same(download<uint32_t>(marks), expected));
}

// Fills, updates and copies at random places of two buffers, against the same on the host.
TEST_F(Stress, RandomTransfersAgreeWithAModel) {
  constexpr uint64_t kSize = 70001;
  std::vector<std::vector<uint8_t>> model = {random_bits<uint8_t>(kSize),
                                             random_bits<uint8_t>(kSize)};
  const Ref<Buffer> buffers[] = {upload(model[0]), upload(model[1])};
  for (int i = 0; i < 400; ++i) {
    const size_t to = random()() % 2;
    const uint64_t offset = random()() % kSize;
    const uint64_t longest = random()() % 2 == 0 ? 64 : kSize;
    uint64_t length = random()() % std::min(longest, kSize - offset + 1);
    switch (random()() % 3) {
      case 0: {
        const uint32_t width = 1u << (random()() % 5);
        length = length / width * width;
        const auto pattern = random_bits<uint8_t>(width);
        ASSERT_OK(queue().fill({*buffers[to], offset, length}, pattern.data(), width));
        for (uint64_t k = 0; k < length; ++k) model[to][offset + k] = pattern[k % width];
        break;
      }
      case 1: {
        const auto bytes = random_bits<uint8_t>(length);
        ASSERT_OK(queue().update({*buffers[to], offset, length}, bytes.data(), length));
        std::copy(bytes.begin(), bytes.end(), model[to].begin() + static_cast<ptrdiff_t>(offset));
        break;
      }
      default: {
        const uint64_t from = random()() % (kSize - length + 1);
        ASSERT_OK(queue().copy({*buffers[1 - to], from, length}, {*buffers[to], offset, length}));
        std::copy_n(model[1 - to].begin() + static_cast<ptrdiff_t>(from), length,
                    model[to].begin() + static_cast<ptrdiff_t>(offset));
      }
    }
  }
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(same(download<uint8_t>(buffers[0]), model[0]));
  EXPECT_TRUE(same(download<uint8_t>(buffers[1]), model[1]));
}

TEST_F(Stress, ThreadsAllocateAndReleaseUnderWork) {
  constexpr size_t kThreads = 6;
  const Function* kernel = function("busy", "affine");
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60 && results[t].ok(); ++i) {
        Result<Ref<Buffer>> buffer = device().allocate(kStressBytes * (1 + t));
        results[t] = buffer.status();
        if (!buffer.ok()) return;
        results[t] = queue().dispatch(
            Launch(kernel, {kStressCount, 1, 1}, {64, 1, 1},
                   {*buffer, Argument::of(kStressCount), Argument::of(1u), Argument::of(1u)}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) EXPECT_OK(result);
  EXPECT_OK(drain(queue()));
}

TEST_F(Stress, QueuesComeAndGoUnderWork) {
  const Ref<Buffer> data = words(0);
  const Ref<Semaphore> chain = new_semaphore();
  for (uint64_t i = 0; i < 60; ++i) {
    const Ref<Queue> fleeting = new_queue();
    ASSERT_OK(fleeting->dispatch(affine(data, kStressCount, 1, 1),
                                 When().after(chain, i).then(chain, i + 1)));
  }
  ASSERT_OK(chain->wait(60, time_limit()));
  EXPECT_TRUE(all_are(data, 60));
}

}  // namespace
}  // namespace halyard::cts
