// Queues of every capacity and priority, and what a full queue does.
#include <atomic>
#include <chrono>
#include <thread>

#include "cts/harness/device_test.h"
#include "cts/harness/threads.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kQueueOptionsCount = 64;
// More than the smallest queue of any driver takes.
constexpr uint32_t kMany = 1500;

class QueueOptionsTest : public DeviceTest {
 protected:
  Ref<Queue> queue_of(uint32_t capacity,
                      QueueOptions::Priority priority = QueueOptions::Priority::kNormal) {
    QueueOptions options;
    options.capacity = capacity;
    options.priority = priority;
    return take(device().create_queue(options));
  }
  Ref<Buffer> zeros() { return upload(std::vector<uint32_t>(kQueueOptionsCount, 0)); }
  testing::AssertionResult all_are(const Ref<Buffer>& buffer, uint32_t value) {
    return same(download<uint32_t>(buffer), std::vector<uint32_t>(kQueueOptionsCount, value));
  }
  // Adds 1 to `data` `times` times.
  static Status submit(Queue& target, const Function* kernel, const Ref<Buffer>& data,
                       uint32_t times, std::atomic<uint32_t>* submitted = nullptr) {
    for (uint32_t i = 0; i < times; ++i) {
      const Launch launch(
          kernel, {kQueueOptionsCount, 1, 1}, {64, 1, 1},
          {data, Argument::of(kQueueOptionsCount), Argument::of(1u), Argument::of(1u)});
      if (Status status = target.dispatch(launch); !status.ok()) return status;
      if (submitted != nullptr) ++*submitted;
    }
    return {};
  }
};

TEST_F(QueueOptionsTest, AnyCapacityIsMadeToFit) {
  const Function* kernel = function("busy", "affine");
  for (const uint32_t capacity : {1u, 2u, 3u, 63u, 65u, 1000u, 1u << 20, UINT32_MAX}) {
    SCOPED_TRACE(capacity);
    const Ref<Queue> queue = queue_of(capacity);
    const Ref<Buffer> data = zeros();
    ASSERT_OK(submit(*queue, kernel, data, 100));
    ASSERT_OK(drain(*queue));
    EXPECT_TRUE(all_are(data, 100));
  }
}

TEST_F(QueueOptionsTest, PrioritiesMixWithCapacities) {
  const Function* kernel = function("busy", "affine");
  const Ref<Buffer> data = zeros();
  uint32_t expected = 0;
  for (const auto priority : {QueueOptions::Priority::kLow, QueueOptions::Priority::kHigh}) {
    for (const uint32_t capacity : {1u, 4096u}) {
      const Ref<Queue> queue = queue_of(capacity, priority);
      ASSERT_OK(submit(*queue, kernel, data, 200));
      ASSERT_OK(drain(*queue));
      expected += 200;
    }
  }
  EXPECT_TRUE(all_are(data, expected));
}

// A driver's thread that sleeps until something happens knows the queues of when it fell asleep.
TEST_F(QueueOptionsTest, AWaitForANewQueueEnds) {
  for (const uint32_t capacity : {64u, 128u, 256u, 512u}) {
    SCOPED_TRACE(capacity);
    const Ref<Queue> queue = queue_of(capacity);
    HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
    ASSERT_OK(kernel.start(*queue, next()));
    // Longer than any driver looks for itself before it sleeps.
    const auto let_it_end = [&](size_t) -> Status {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      kernel.release();
      return {};
    };
    const auto results = in_threads(1, let_it_end, [&] { EXPECT_OK(finish()); });
    ASSERT_OK(results[0]);
  }
}

// Whoever submits more than there is room for waits until there is, and loses nothing.
TEST_F(QueueOptionsTest, AFullQueueTakesEverythingInTheEnd) {
  const Function* kernel = function("busy", "affine");
  const Ref<Queue> small = queue_of(1);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = zeros();
  ASSERT_OK(small->barrier(When().after(gate, 1)));
  const auto results = in_threads(
      1, [&](size_t) { return submit(*small, kernel, data, kMany); },
      [&] {
        EXPECT_TRUE(all_are(data, 0));  // over another queue
        EXPECT_OK(gate->signal(1));
      });
  ASSERT_OK(results[0]);
  ASSERT_OK(drain(*small));
  EXPECT_TRUE(all_are(data, kMany));
}

TEST_F(QueueOptionsTest, ManyThreadsShareAFullQueue) {
  constexpr size_t kThreads = 6;
  const Function* kernel = function("busy", "affine");
  const Ref<Queue> small = queue_of(1);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = zeros();
  std::atomic<uint32_t> submitted = 0;
  ASSERT_OK(small->barrier(When().after(gate, 1)));
  const auto results = in_threads(
      kThreads, [&](size_t) { return submit(*small, kernel, data, 300, &submitted); },
      [&] {
        while (submitted == 0) std::this_thread::yield();
        EXPECT_OK(gate->signal(1));
      });
  for (const Status& result : results) EXPECT_OK(result);
  ASSERT_OK(drain(*small));
  EXPECT_TRUE(all_are(data, 300 * kThreads));
}

// A queue that is full of work which waits for a semaphore does not hold the other queues, whose
// work is what it waits for.
TEST_F(QueueOptionsTest, AFullQueueWaitsForAnotherQueue) {
  const Function* kernel = function("busy", "affine");
  const Ref<Queue> small = queue_of(1);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = zeros();
  const Ref<Buffer> other = zeros();
  ASSERT_OK(small->barrier(When().after(gate, 1)));
  const auto results = in_threads(
      1, [&](size_t) { return submit(*small, kernel, data, kMany); },
      [&] {
        EXPECT_OK(submit(queue(), kernel, other, 100));
        EXPECT_OK(queue().barrier(When().then(gate, 1)));
      });
  ASSERT_OK(results[0]);
  ASSERT_OK(drain(*small));
  EXPECT_TRUE(all_are(data, kMany));
  EXPECT_TRUE(all_are(other, 100));
}

// What waits for room is not stuck when the work in front of it fails.
TEST_F(QueueOptionsTest, AFailureMakesRoom) {
  const Function* kernel = function("busy", "affine");
  const Ref<Queue> small = queue_of(1);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> lost = new_semaphore();
  const Ref<Buffer> data = zeros();
  ASSERT_OK(small->barrier(When().after(gate, 1).then(lost, 1)));
  const auto results = in_threads(
      1, [&](size_t) { return submit(*small, kernel, data, kMany); },
      [&] { gate->fail(Status(StatusCode::kAborted, "The tide is out.")); });
  ASSERT_OK(results[0]);
  EXPECT_FAILS(lost->wait(1, time_limit()), StatusCode::kAborted, "The tide is out.");
  ASSERT_OK(drain(*small));
  EXPECT_TRUE(all_are(data, kMany));
}

}  // namespace
}  // namespace halyard::cts
