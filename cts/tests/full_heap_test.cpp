// Allocations that find no free memory, while released memory is still used by work in
// flight.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "cts/harness/device_test.h"
#include "cts/harness/threads.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

class FullHeap : public DeviceTest {
 protected:
  QueuesBeside queues_beside_;

  void SetUp() override {
    DeviceTest::SetUp();
    most_ = device().info().memory_bytes / 5 * 3;
    mail_ = allocate(8, MemoryType::kHost);
    words_ = static_cast<uint32_t*>(take(mail_->map(0, 8, MapAccess::kReadWrite)));
    std::fill_n(words_, 2, 0u);
  }
  void TearDown() override {
    if (running_) {
      end_kernel();
      EXPECT_OK(drain(queue()));
    }
    DeviceTest::TearDown();
  }

  // Bytes that the device has once, and not twice.
  uint64_t most() const { return most_; }
  // A kernel on queue() that runs until end_kernel().
  void start_kernel() {
    constexpr uint32_t kTurns = 1;
    constexpr uint32_t kLooks = 100 * 1000 * 1000;  // minutes on any device
    ASSERT_OK(queue().dispatch(Launch(function("coherence", "converse"), {1, 1, 1}, {1, 1, 1},
                                      {mail_, Argument::of(kTurns), Argument::of(kLooks)})));
    running_ = true;
  }
  void end_kernel() const { std::atomic_ref<uint32_t>(*words_).store(1); }
  bool kernel_has_ended() const { return std::atomic_ref<uint32_t>(words_[1]).load() != 0; }
  // Work of queue() uses the buffer.
  void give_to_queue(const Ref<Buffer>& buffer) {
    const uint32_t zero = 0;
    ASSERT_OK(queue().fill({*buffer, 0, 4096}, &zero, 4));
  }
  // That another queue may have what queue() has given back, but not before the kernel has ended.
  void expect_it_goes_to_another_queue_in_time() {
    const Ref<Queue> other = new_queue();
    const Ref<Semaphore> usable = new_semaphore();
    const Ref<Buffer> next = take(other->alloca_buffer(most(), {}, When().then(usable, 1)));
    EXPECT_FAILS(usable->wait(1, Deadline::after_ns(50'000'000)), StatusCode::kDeadlineExceeded);
    end_kernel();
    EXPECT_OK(usable->wait(1, time_limit()));
    ASSERT_OK(other->dealloca_buffer(*next));
    EXPECT_OK(drain(*other));
  }

  // What `allocates` returns, while the kernel ends soon after it was called.
  template <typename Allocates>
  Result<Ref<Buffer>> before_the_kernel_ends(const Allocates& allocates) {
    std::thread end([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      end_kernel();
    });
    Result<Ref<Buffer>> made = allocates();
    end.join();
    return made;
  }

 private:
  uint64_t most_ = 0;
  Ref<Buffer> mail_;
  uint32_t* words_ = nullptr;
  bool running_ = false;
};

TEST_F(FullHeap, AnAllocationWaitsForWhatWorkInFlightMayUse) {
  Ref<Buffer> first = allocate(most());
  give_to_queue(first);
  start_kernel();
  first = nullptr;
  const Ref<Buffer> next = take(before_the_kernel_ends([&] { return device().allocate(most()); }));
  EXPECT_EQ(next->size(), most());
  EXPECT_FAILS(device().allocate(most()), StatusCode::kResourceExhausted, std::to_string(most()));
}

TEST_F(FullHeap, AnAllocationDoesNotWaitForWorkThatWasNeverGivenIt) {
  Ref<Buffer> first = allocate(most());
  start_kernel();
  const Ref<Queue> other = queues_beside_.make(device());
  ASSERT_TRUE(other);
  const uint32_t zero = 0;
  ASSERT_OK(other->fill({*first, 0, 4096}, &zero, 4));
  ASSERT_OK(drain(*other));
  first = nullptr;
  const Ref<Buffer> next = take(device().allocate(most()));
  EXPECT_EQ(next->size(), most());
  EXPECT_FALSE(kernel_has_ended());
}

TEST_F(FullHeap, WhatWouldNotDoIsNotEnough) {
  const Ref<Buffer> kept = allocate(most());
  start_kernel();
  allocate(4096);
  EXPECT_FAILS(device().allocate(most()), StatusCode::kResourceExhausted, std::to_string(most()));
}

TEST_F(FullHeap, AnAllocationTakesWhatAPoolKeepsFree) {
  Ref<Buffer> pooled = take(queue().alloca_buffer(most()));
  ASSERT_OK(queue().dealloca_buffer(*pooled));
  pooled = nullptr;
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(take(device().allocate(most()))->size(), most());
}

TEST_F(FullHeap, AnAllocationTakesWhatAnyPoolKeepsFree) {
  PoolInfo info;
  info.keep_bytes = 2 * most();
  const Ref<MemoryPool> pool = take(device().create_pool(info));
  PoolOptions options;
  options.pool = pool.get();
  Ref<Buffer> pooled = take(queue().alloca_buffer(most(), options));
  ASSERT_OK(queue().dealloca_buffer(*pooled));
  pooled = nullptr;
  ASSERT_OK(drain(queue()));
  EXPECT_GE(take(pool->statistics()).reserved_bytes, most());
  EXPECT_EQ(take(device().allocate(most()))->size(), most());
  EXPECT_EQ(take(pool->statistics()).reserved_bytes, 0u);
}

TEST_F(FullHeap, AnAllocationWaitsForWhatAPoolGetsBack) {
  const Ref<Buffer> pooled = take(queue().alloca_buffer(most()));
  start_kernel();
  ASSERT_OK(queue().dealloca_buffer(*pooled));
  EXPECT_OK(before_the_kernel_ends([&] { return device().allocate(most()); }).status());
}

TEST_F(FullHeap, APoolWaitsForWhatWorkInFlightMayUse) {
  Ref<Buffer> first = allocate(most());
  give_to_queue(first);
  start_kernel();
  first = nullptr;
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> pooled =
      take(before_the_kernel_ends([&] { return other->alloca_buffer(most()); }));
  ASSERT_OK(other->dealloca_buffer(*pooled));
  EXPECT_OK(drain(*other));
}

TEST_F(FullHeap, AnotherQueuesBlockIsUsedWhenThatQueueIsDoneWithIt) {
  const Ref<Buffer> first = take(queue().alloca_buffer(most()));
  start_kernel();
  ASSERT_OK(queue().dealloca_buffer(*first));
  expect_it_goes_to_another_queue_in_time();
}

// A failed dealloca gives nothing back, so an allocation has nothing to wait for.
TEST_F(FullHeap, ABlockWhoseDeallocaHasFailedIsStillInUse) {
  const Ref<Semaphore> failed = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  failed->fail(Status(StatusCode::kAborted, "The tea is cold."));
  const Ref<Buffer> first = take(queue().alloca_buffer(most()));
  start_kernel();
  ASSERT_OK(queue().dealloca_buffer(*first, When().after(failed, 1).then(told, 1)));
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, "The tea is cold.");
  const Ref<Queue> other = new_queue();
  EXPECT_FAILS(other->alloca_buffer(most()), StatusCode::kResourceExhausted);
  ASSERT_OK(queue().dealloca_buffer(*first));
  expect_it_goes_to_another_queue_in_time();
}

TEST_F(FullHeap, ABlockWhoseHeldDeallocaFailsIsStillInUse) {
  const Ref<Semaphore> fails = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  const Ref<Buffer> first = take(queue().alloca_buffer(most()));
  start_kernel();
  ASSERT_OK(queue().dealloca_buffer(*first, When().after(fails, 1).then(told, 1)));
  fails->fail(Status(StatusCode::kAborted, "The tea is cold."));
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, "The tea is cold.");
  const Ref<Queue> other = new_queue();
  EXPECT_FAILS(other->alloca_buffer(most()), StatusCode::kResourceExhausted);
  // The driver's thread may not have let go of the failed operation yet: what is submitted
  // meanwhile is held behind it.
  ASSERT_OK(queue().dealloca_buffer(*first));
  expect_it_goes_to_another_queue_in_time();
}

// While another queue's allocation waits for memory, the host submits the dealloca that it held:
// the allocation goes on, and its work waits for that queue.
TEST_F(FullHeap, ABlockWhoseHeldDeallocaIsSubmittedMeanwhileIsTaken) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> first = take(queue().alloca_buffer(most()));
  start_kernel();
  ASSERT_OK(queue().barrier(When().after(gate, 1)));
  ASSERT_OK(queue().dealloca_buffer(*first));
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> usable = new_semaphore();
  std::thread submits([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    gate->signal(1).ignore();
  });
  Result<Ref<Buffer>> next = other->alloca_buffer(most(), {}, When().then(usable, 1));
  submits.join();
  EXPECT_FALSE(kernel_has_ended());
  ASSERT_OK(next.status());
  EXPECT_FAILS(usable->wait(1, Deadline::poll()), StatusCode::kDeadlineExceeded);
  end_kernel();
  EXPECT_OK(usable->wait(1, time_limit()));
  ASSERT_OK(other->dealloca_buffer(**next));
  EXPECT_OK(drain(*other));
}

// What one has let go of another thread may be releasing just now. Fills are long enough to be in
// flight when the next one wants memory: a device that waits for none of them is found out.
TEST_F(FullHeap, ThreadsTakeTurns) {
  constexpr size_t kThreads = 3;
  constexpr uint64_t kBytes = 4 << 20;
  std::mutex turn;
  const auto results = in_threads(kThreads, [&](size_t) {
    const Ref<Queue> own = new_queue();
    for (uint32_t i = 0; i < 20; ++i) {
      const std::lock_guard lock(turn);
      require(own->fill({*take(device().allocate(most())), 0, kBytes}, &i, 4));
    }
    return Status();
  });
  for (const Status& result : results) EXPECT_OK(result);
}

}  // namespace
}  // namespace halyard::cts
