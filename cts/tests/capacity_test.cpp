// A queue's capacity: how much may be in flight before a submission waits for room.
#include <atomic>
#include <chrono>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Capacity : public DeviceTest {
 protected:
  static constexpr uint32_t kLaunches = 1000;

  Ref<Queue> queue_of(uint32_t capacity) {
    QueueOptions options;
    options.capacity = capacity;
    return take(device().create_queue(options));
  }

  // Submits kLaunches launches behind one that waits for the host, from another thread, and says
  // how many of those submissions have returned before the host lets it go on: all that will, if
  // the driver waits for room at some `limit`. A driver that does not is given time to go further.
  uint32_t submitted_before_anything_ends(Queue& queue, const Ref<Buffer>& data, uint32_t limit) {
    const Ref<Buffer> mail = allocate(64, MemoryType::kHost);
    auto* words = static_cast<uint32_t*>(take(mail->map(0, 64, MapAccess::kReadWrite)));
    const std::atomic_ref<uint32_t> flag(words[0]);
    flag.store(0);
    const Launch waiting(function("coherence", "answer"), {64, 1, 1}, {64, 1, 1},
                         {mail, Argument::of(7u), Argument::of(UINT32_MAX)});
    const Launch launch = affine(data, 64, 1, 1);
    std::atomic<uint32_t> submitted = 0;
    require(queue.dispatch(waiting));
    Status status;
    std::thread thread([&] {
      for (uint32_t i = 0; i < kLaunches && status.ok(); ++i) {
        status = queue.dispatch(launch);
        submitted.fetch_add(1);
      }
    });
    using Clock = std::chrono::steady_clock;
    const auto much = Clock::now() + std::chrono::milliseconds(100);
    const auto most = Clock::now() + std::chrono::seconds(20);
    // One of them is the launch that waits.
    while ((submitted.load() + 1 < limit && Clock::now() < most) ||
           (submitted.load() < kLaunches && Clock::now() < much)) {
      std::this_thread::yield();
    }
    const uint32_t count = submitted.load();
    flag.store(7);
    thread.join();
    EXPECT_OK(status);
    EXPECT_OK(drain(queue));
    EXPECT_EQ(words[1], 14u);
    EXPECT_OK(mail->unmap(words));
    return count;
  }
};

TEST_F(Capacity, SubmissionsWaitForRoom) {
  const Ref<Queue> queue = queue_of(64);
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 0));
  const uint32_t submitted = submitted_before_anything_ends(*queue, data, 60);
  EXPECT_GE(submitted, 59u);  // a driver may need a place or two of its own
  EXPECT_LE(submitted, 64u) << "Submissions return with more than the queue's capacity in flight.";
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, kLaunches)));
}

TEST_F(Capacity, IsRoundedUpToAPowerOfTwo) {
  const Ref<Queue> queue = queue_of(65);
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 0));
  const uint32_t submitted = submitted_before_anything_ends(*queue, data, 124);
  EXPECT_GE(submitted, 123u);
  EXPECT_LE(submitted, 128u) << "Submissions return with more than the queue's capacity in flight.";
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, kLaunches)));
}

// A thread may queue what it lets go on later, however much that is.
TEST_F(Capacity, WhatIsHeldBackDoesNotCount) {
  const Ref<Queue> queue = queue_of(64);
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 0));
  const Ref<Semaphore> go = new_semaphore();
  const SemaphorePoint point = {go.get(), 1};
  const Launch launch = affine(data, 64, 1, 1);
  ASSERT_OK(queue->dispatch(launch, {.wait = {&point, 1}, .signal = {}}));
  for (uint32_t i = 1; i < kLaunches; ++i) ASSERT_OK(queue->dispatch(launch));
  ASSERT_OK(go->signal(1));
  ASSERT_OK(drain(*queue));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, kLaunches)));
}

TEST_F(Capacity, ARecordingMayBeLonger) {
  const Ref<Queue> queue = queue_of(64);
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 0));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const Launch launch = affine(data, 64, 1, 1);
  for (uint32_t i = 0; i < 200; ++i) {
    ASSERT_OK(commands->dispatch(launch));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 3; ++i) ASSERT_OK(queue->execute(*commands));
  ASSERT_OK(drain(*queue));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, 600)));
}

TEST_F(Capacity, ManyThreadsShareIt) {
  const Ref<Queue> queue = queue_of(64);
  constexpr uint32_t kThreads = 4;
  std::vector<Ref<Buffer>> data;
  std::vector<Status> results(kThreads);
  const Function* const kernel = function("busy", "affine");
  for (uint32_t t = 0; t < kThreads; ++t) data.push_back(upload(std::vector<uint32_t>(64, 0)));
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Launch launch(kernel, {64, 1, 1}, {64, 1, 1},
                          {data[t], Argument::of(64u), Argument::of(1u), Argument::of(1u)});
      for (int i = 0; i < 300 && results[t].ok(); ++i) results[t] = queue->dispatch(launch);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(drain(*queue));
  for (const Ref<Buffer>& buffer : data) {
    EXPECT_TRUE(same(download<uint32_t>(buffer), std::vector<uint32_t>(64, 300)));
  }
}

}  // namespace
}  // namespace halyard::cts
