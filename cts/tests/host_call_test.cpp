// Host functions in queue order, and those that end later than they return.
#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class HostCalls : public DeviceTest {
 protected:
  // A function of the test's own, with whatever it captures. Lives as long as the test.
  template <typename Function>
  Status call(Queue& target, Function& function, const Sync& sync) {
    return target.host_call([](void* context) { return (*static_cast<Function*>(context))(); },
                            &function, sync);
  }
  template <typename Function>
  Status defer(Queue& target, Function& function, const Sync& sync) {
    return target.host_call_deferred(
        [](void* context, HostCompletion& completion) {
          (*static_cast<Function*>(context))(completion);
        },
        &function, sync);
  }
};

TEST_F(HostCalls, HappenOnce) {
  std::atomic<int> calls = 0;
  auto count = [&]() -> Status {
    ++calls;
    return {};
  };
  ASSERT_OK(call(queue(), count, next()));
  ASSERT_OK(finish());
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(calls, 1);
}

TEST_F(HostCalls, HappenInOrder) {
  std::vector<int> order;
  std::vector<std::function<Status()>> functions;
  for (int i = 0; i < 200; ++i) {
    functions.emplace_back([&order, i]() -> Status {
      order.push_back(i);
      return {};
    });
  }
  for (auto& function : functions) ASSERT_OK(call(queue(), function, {}));
  ASSERT_OK(drain(queue()));
  ASSERT_EQ(order.size(), 200u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(HostCalls, WaitForTheirSemaphores) {
  const Ref<Semaphore> gate = new_semaphore();
  std::atomic<bool> open = false;
  bool was_open = false;
  auto look = [&]() -> Status {
    was_open = open;
    return {};
  };
  ASSERT_OK(call(queue(), look, When(next()).after(gate, 1)));
  open = true;
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(was_open);
}

TEST_F(HostCalls, SeeTheWorkBeforeThem) {
  const Ref<Buffer> host = allocate(4096, MemoryType::kHost);
  auto* words = static_cast<uint32_t*>(take(host->map(0, 4096, MapAccess::kReadWrite)));
  words[1000] = 1;
  ASSERT_OK(host->flush(0, 4096));
  uint32_t seen = 0;
  auto look = [&]() -> Status {
    HALYARD_RETURN_IF_ERROR(host->invalidate(0, 4096));
    seen = words[1000];
    return {};
  };
  for (uint32_t i = 0; i < 10; ++i) ASSERT_OK(queue().dispatch(affine(host, 1024, 2, 1)));
  ASSERT_OK(call(queue(), look, next()));
  ASSERT_OK(queue().dispatch(affine(host, 1024, 0, 0)));
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(seen, 2047u);
  ASSERT_OK(host->unmap(words));
}

TEST_F(HostCalls, AreSeenByTheWorkBehindThem) {
  const Ref<Buffer> host = allocate(256, MemoryType::kHost);
  const Ref<Buffer> copy = poisoned(256);
  auto* words = static_cast<uint32_t*>(take(host->map(0, 256, MapAccess::kReadWrite)));
  std::fill(words, words + 64, 0);
  ASSERT_OK(host->flush(0, 256));
  auto put = [&]() -> Status {
    std::fill(words, words + 64, 77);
    return host->flush(0, 256);
  };
  ASSERT_OK(call(queue(), put, {}));
  ASSERT_OK(queue().copy(host, copy, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(copy), std::vector<uint32_t>(64, 77)));
  ASSERT_OK(host->unmap(words));
}

TEST_F(HostCalls, AFailureFailsTheirSignals) {
  auto lose = []() -> Status { return Status(StatusCode::kDataLoss, "The sheep is lost."); };
  ASSERT_OK(call(queue(), lose, next()));
  EXPECT_FAILS(finish(), StatusCode::kDataLoss, "The sheep is lost.");
}

TEST_F(HostCalls, AFailureFailsEverySignalWithItsCode) {
  for (const StatusCode code :
       {StatusCode::kCancelled, StatusCode::kInvalidArgument, StatusCode::kResourceExhausted,
        StatusCode::kDataLoss, StatusCode::kUnavailable}) {
    SCOPED_TRACE(to_string(code));
    auto lose = [code]() -> Status { return Status(code, "The sheep is lost."); };
    std::vector<Ref<Semaphore>> told;
    std::vector<SemaphorePoint> points;
    for (uint64_t i = 1; i <= 5; ++i) {
      told.push_back(new_semaphore());
      points.push_back({told.back().get(), i});
    }
    ASSERT_OK(call(queue(), lose, {.wait = {}, .signal = points}));
    for (const SemaphorePoint& point : points) {
      EXPECT_FAILS(point.semaphore->wait(point.value, time_limit()), code, "The sheep is lost.");
      EXPECT_FAILS(point.semaphore->query(), code, "The sheep is lost.");
    }
  }
}

TEST_F(HostCalls, AFailureLeavesTheQueueUsable) {
  auto lose = []() -> Status { return Status(StatusCode::kDataLoss, "The sheep is lost."); };
  ASSERT_OK(call(queue(), lose, {}));
  EXPECT_OK(drain(queue()));
}

TEST_F(HostCalls, AnExceptionFailsTheirSignals) {
  auto lose = []() -> Status { throw std::runtime_error("The sheep is lost."); };
  ASSERT_OK(call(queue(), lose, next()));
  EXPECT_FAILS(finish(), StatusCode::kInternal, "The sheep is lost.");
  // And nothing else.
  EXPECT_OK(drain(queue()));
}

TEST_F(HostCalls, AFailurePassesToWhoeverWaits) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> lost = new_semaphore();
  auto lose = []() -> Status { return Status(StatusCode::kDataLoss, "The sheep is lost."); };
  ASSERT_OK(other->barrier(When(next()).after(lost, 1)));
  ASSERT_OK(call(queue(), lose, When().then(lost, 1)));
  EXPECT_FAILS(finish(), StatusCode::kDataLoss, "The sheep is lost.");
}

TEST_F(HostCalls, DoNotHappenAfterAFailedWait) {
  const Ref<Semaphore> gate = new_semaphore();
  std::atomic<int> calls = 0;
  auto count = [&]() -> Status {
    ++calls;
    return {};
  };
  ASSERT_OK(call(queue(), count, When(next()).after(gate, 1)));
  gate->fail(Status(StatusCode::kAborted, "The gate is shut."));
  EXPECT_FAILS(finish(), StatusCode::kAborted, "The gate is shut.");
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(calls, 0);
}

TEST_F(HostCalls, MaySubmitToAnotherQueue) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> buffer = poisoned(16);
  const Ref<Semaphore> done = new_semaphore();
  const uint8_t byte = 5;
  auto submit = [&]() -> Status { return other->fill(buffer, &byte, 1, When().then(done, 1)); };
  ASSERT_OK(call(queue(), submit, next()));
  ASSERT_OK(finish());
  ASSERT_OK(done->wait(1, time_limit()));
  EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(16, 5)));
}

TEST_F(HostCalls, MaySubmitToTheirOwnQueue) {
  const Ref<Buffer> buffer = poisoned(16);
  const Ref<Semaphore> done = new_semaphore();
  const uint8_t byte = 5;
  auto submit = [&]() -> Status { return queue().fill(buffer, &byte, 1, When().then(done, 1)); };
  ASSERT_OK(call(queue(), submit, next()));
  ASSERT_OK(finish());
  ASSERT_OK(done->wait(1, time_limit()));
  EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(16, 5)));
}

TEST_F(HostCalls, MaySignalASemaphore) {
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Queue> other = new_queue();
  auto signal = [&]() -> Status { return semaphore->signal(1); };
  ASSERT_OK(other->barrier(When(next()).after(semaphore, 1)));
  ASSERT_OK(call(queue(), signal, {}));
  EXPECT_OK(finish());
}

// A call may take as long as another queue's work.
TEST_F(HostCalls, MayWaitForAnotherQueue) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  auto wait = [&]() -> Status { return done->wait(1, time_limit()); };
  const Ref<Buffer> data = poisoned(256);
  const uint32_t pattern = 1;
  ASSERT_OK(call(queue(), wait, next()));
  ASSERT_OK(other->fill(data, &pattern, 4, When().then(done, 1)));
  EXPECT_OK(finish());
}

TEST_F(HostCalls, FromManyThreadsHappenOnceEach) {
  constexpr int kThreads = 8;
  constexpr int kEach = 50;
  std::atomic<int> calls = 0;
  auto count = [&]() -> Status {
    ++calls;
    return {};
  };
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach && results[t].ok(); ++i) {
        results[t] = call(queue(), count, {});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(calls, kThreads * kEach);
}

TEST_F(HostCalls, NoFunction) {
  EXPECT_FAILS(queue().host_call(nullptr, nullptr), StatusCode::kInvalidArgument, "null");
  EXPECT_FAILS(queue().host_call_deferred(nullptr, nullptr), StatusCode::kInvalidArgument, "null");
}

TEST_F(HostCalls, DeferredOnesMayEndAtOnce) {
  auto end = [](HostCompletion& completion) { completion.complete({}); };
  ASSERT_OK(defer(queue(), end, next()));
  EXPECT_OK(finish());
}

TEST_F(HostCalls, DeferredOnesEndFromAnotherThread) {
  std::atomic<HostCompletion*> pending = nullptr;
  const std::jthread helper([&pending](const std::stop_token& stop) {
    while (pending == nullptr && !stop.stop_requested()) std::this_thread::yield();
    if (HostCompletion* const completion = pending) completion->complete({});
  });
  auto start = [&](HostCompletion& completion) { pending = &completion; };
  ASSERT_OK(defer(queue(), start, next()));
  EXPECT_OK(finish());
}

TEST_F(HostCalls, TheQueueWaitsForDeferredOnes) {
  std::atomic<HostCompletion*> pending = nullptr;
  auto keep = [&](HostCompletion& completion) { pending = &completion; };
  const Ref<Buffer> host = allocate(16, MemoryType::kHost);
  const uint8_t byte = 9;
  const Ref<Semaphore> called = new_semaphore();
  ASSERT_OK(queue().barrier(When().then(called, 1)));
  ASSERT_OK(defer(queue(), keep, {}));
  const Sync last = next();
  ASSERT_OK(queue().fill(host, &byte, 1, last));
  while (pending == nullptr) std::this_thread::yield();
  EXPECT_FAILS(device().wait(last.signal, WaitMode::kAll, Deadline::after_ns(2000000)),
               StatusCode::kDeadlineExceeded);
  pending.load()->complete({});
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(host), std::vector<uint8_t>(16, 9)));
}

TEST_F(HostCalls, OtherQueuesGoOnDuringADeferredOne) {
  const Ref<Queue> other = new_queue();
  std::atomic<HostCompletion*> pending = nullptr;
  auto keep = [&](HostCompletion& completion) { pending = &completion; };
  const Ref<Semaphore> ended = new_semaphore();
  ASSERT_OK(defer(*other, keep, When().then(ended, 1)));
  while (pending == nullptr) std::this_thread::yield();
  EXPECT_OK(drain(queue()));
  pending.load()->complete({});
  EXPECT_OK(ended->wait(1, time_limit()));
}

TEST_F(HostCalls, DeferredOnesMayFail) {
  auto fail = [](HostCompletion& completion) {
    completion.complete(Status(StatusCode::kDataLoss, "The ship is late."));
  };
  ASSERT_OK(defer(queue(), fail, next()));
  EXPECT_FAILS(finish(), StatusCode::kDataLoss, "The ship is late.");
}

TEST_F(HostCalls, DeferredOnesMayThrow) {
  auto lose = [](HostCompletion&) { throw std::runtime_error("The ship is late."); };
  ASSERT_OK(defer(queue(), lose, next()));
  EXPECT_FAILS(finish(), StatusCode::kInternal, "The ship is late.");
  EXPECT_OK(drain(queue()));
}

TEST_F(HostCalls, DeferredOnesMayThrowAfterTheirEnd) {
  auto late = [](HostCompletion& completion) {
    completion.complete({});
    throw std::runtime_error("The ship is late.");
  };
  ASSERT_OK(defer(queue(), late, next()));
  EXPECT_OK(finish());
  EXPECT_OK(drain(queue()));
}

TEST_F(HostCalls, DeferredOnesOfTwoQueuesEndInAnyOrder) {
  const Ref<Queue> other = new_queue();
  std::atomic<HostCompletion*> first = nullptr;
  std::atomic<HostCompletion*> second = nullptr;
  auto keep_first = [&](HostCompletion& completion) { first = &completion; };
  auto keep_second = [&](HostCompletion& completion) { second = &completion; };
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Semaphore> other_done = new_semaphore();
  ASSERT_OK(defer(queue(), keep_first, When().then(done, 1)));
  ASSERT_OK(defer(*other, keep_second, When().then(other_done, 1)));
  while (first == nullptr || second == nullptr) std::this_thread::yield();
  second.load()->complete({});
  EXPECT_OK(other_done->wait(1, time_limit()));
  EXPECT_FAILS(done->wait(1, Deadline::poll()), StatusCode::kDeadlineExceeded);
  first.load()->complete({});
  EXPECT_OK(done->wait(1, time_limit()));
}

TEST_F(HostCalls, DeferredOnesDoNotHappenAfterAFailedWait) {
  const Ref<Semaphore> gate = new_semaphore();
  std::atomic<int> calls = 0;
  auto count = [&](HostCompletion& completion) {
    ++calls;
    completion.complete({});
  };
  ASSERT_OK(defer(queue(), count, When(next()).after(gate, 1)));
  gate->fail(Status(StatusCode::kAborted, "The gate is shut."));
  EXPECT_FAILS(finish(), StatusCode::kAborted, "The gate is shut.");
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace halyard::cts
