// Queue::abandon: the work that it ends, and the work that continues.
#include <algorithm>
#include <atomic>
#include <thread>

#include "cts/harness/child.h"
#include "cts/harness/device_test.h"
#include "cts/harness/threads.h"

namespace halyard::cts {
namespace {

class Abandon : public DeviceTest {
 protected:
  static constexpr StatusCode kCode = StatusCode::kCancelled;

  static Sync signal(const SemaphorePoint& point) { return {.wait = {}, .signal = {&point, 1}}; }
};

TEST_F(Abandon, WhatIsDoneStaysDone) {
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint first = {done.get(), 1};
  ASSERT_OK(queue().barrier(signal(first)));
  ASSERT_OK(done->wait(1, time_limit()));
  ASSERT_OK(queue().abandon());
  EXPECT_EQ(take(done->query()), 1u);
  EXPECT_OK(done->wait(1, time_limit()));
  EXPECT_FAILS(queue().fault(), kCode, "while nothing is queued");
}

TEST_F(Abandon, TheQueueTakesNothingAnyMore) {
  const Ref<Buffer> data = poisoned(64);
  const Ref<Buffer> other = poisoned(64);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->finish());
  ASSERT_OK(drain(queue()));
  EXPECT_OK(queue().fault());
  ASSERT_OK(queue().abandon());
  ASSERT_OK(queue().abandon());
  const uint32_t word = 1;
  const auto refused = [&](auto&& submit) {
    const Ref<Semaphore> done = new_semaphore();
    const SemaphorePoint point = {done.get(), 1};
    EXPECT_FAILS(submit(signal(point)), kCode, "Queue::abandon");
    // Another queue may do it.
    EXPECT_OK(done->signal(1));
  };
  refused([&](const Sync& sync) { return queue().barrier(sync); });
  refused([&](const Sync& sync) { return queue().fill(data, &word, 4, sync); });
  refused([&](const Sync& sync) { return queue().update(data, &word, 4, sync); });
  refused([&](const Sync& sync) { return queue().copy(data, other, sync); });
  refused([&](const Sync& sync) { return queue().execute(*commands, {}, sync); });
  refused([&](const Sync& sync) {
    return queue().host_call([](void*) { return Status(); }, nullptr, sync);
  });
  EXPECT_FAILS(queue().fault(), kCode, "Queue::abandon");
}

TEST_F(Abandon, TheDeviceGoesOn) {
  ASSERT_OK(queue().abandon());
  EXPECT_OK(device().fault());
  const Ref<Queue> another = new_queue();
  EXPECT_OK(another->fault());
  const Ref<Buffer> data = allocate(4096);
  const uint32_t word = 7;
  ASSERT_OK(another->fill(data, &word, 4, next()));
  EXPECT_OK(finish());
}

TEST_F(Abandon, WhatIsHeldBackFails) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  std::atomic<int> calls = 0;
  const auto count = [](void* context) {
    ++*static_cast<std::atomic<int>*>(context);
    return Status();
  };
  ASSERT_OK(queue().barrier(When().after(gate, 1).then(done, 1)));
  ASSERT_OK(queue().host_call(count, &calls, next()));
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(done->wait(1), kCode, "operations that wait for semaphores are queued");
  EXPECT_FAILS(finish(), kCode, "Queue::abandon");
  // What it waited for is nobody's business any more.
  EXPECT_OK(gate->signal(1));
  const Ref<Queue> another = new_queue();
  EXPECT_OK(drain(*another));
  EXPECT_EQ(calls, 0);
}

// One of its threads may be in a function of the program's, which nothing can stop.
TEST_F(Abandon, AHostCallThatDoesNotEndIsWaitedForByNobody) {
  std::atomic<HostCompletion*> pending = nullptr;
  const auto keep = [](void* context, HostCompletion& completion) {
    *static_cast<std::atomic<HostCompletion*>*>(context) = &completion;
  };
  const Ref<Semaphore> called = new_semaphore();
  const Ref<Semaphore> behind = new_semaphore();
  ASSERT_OK(queue().host_call_deferred(keep, &pending, When().then(called, 1)));
  ASSERT_OK(queue().barrier(When().then(behind, 1)));
  while (pending == nullptr) std::this_thread::yield();
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(called->wait(1), kCode, "has not ended");
  EXPECT_FAILS(behind->wait(1), kCode, "Queue::abandon");
  pending.load()->complete({});
  EXPECT_FAILS(called->wait(1), kCode, "Queue::abandon");
}

TEST_F(Abandon, FailsWhatOtherQueuesWaitFor) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> passed = new_semaphore();
  const Ref<Semaphore> after = new_semaphore();
  const Ref<Queue> other = new_queue();
  ASSERT_OK(queue().barrier(When().after(gate, 1).then(passed, 1)));
  ASSERT_OK(other->barrier(When().after(passed, 1).then(after, 1)));
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(after->wait(1), kCode, "Queue::abandon");
  EXPECT_OK(drain(*other));
}

// A kernel that waits for the host, which may never answer. It runs in a child process, because
// otherwise it would occupy the whole suite's device.
class EndlessKernel : public Abandon {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!is_child()) return;
    mail_ = allocate(4096, MemoryType::kHost);
    words_ = static_cast<uint32_t*>(take(mail_->map(0, 4096, MapAccess::kReadWrite)));
    words_[0] = words_[1] = 0;
  }
  // Waits in mail[0] for answer(), through 2³² looks.
  Launch endless() {
    const uint32_t turns = 1;
    const uint32_t rounds = 0;
    return Launch(function("coherence", "converse"), {1, 1, 1}, {1, 1, 1},
                  {mail_, Argument::of(turns), Argument::of(rounds)});
  }
  void answer() const { std::atomic_ref<uint32_t>(words_[0]).store(1, std::memory_order_release); }
  void await_end() const {
    while (std::atomic_ref<uint32_t>(words_[1]).load(std::memory_order_acquire) != 2) {
      std::this_thread::yield();
    }
  }
  static Deadline soon() { return Deadline::after_ns(50'000'000); }

  Ref<Buffer> mail_;
  uint32_t* words_ = nullptr;
};

TEST_F(EndlessKernel, IsNamedByWhatItKeepsFromBeingDone) {
  if (runs_in_child()) return;
  const Ref<Buffer> data = poisoned(256);
  const Ref<Semaphore> kernel = new_semaphore();
  const Ref<Semaphore> behind = new_semaphore();
  const uint32_t word = 5;
  ASSERT_OK(queue().dispatch(endless(), When().then(kernel, 1)));
  ASSERT_OK(queue().fill(data, &word, 4, When().then(behind, 1)));
  EXPECT_FAILS(kernel->wait(1, soon()), StatusCode::kDeadlineExceeded, "");
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(kernel->wait(1), kCode, "\"converse\"");
  EXPECT_FAILS(behind->wait(1), kCode, "\"converse\"");
  EXPECT_FAILS(queue().fault(), kCode, "has not ended");
  EXPECT_FAILS(queue().barrier({}), kCode, "\"converse\"");
  EXPECT_OK(device().fault());
}

TEST_F(EndlessKernel, OfARecordingIsNamed) {
  if (runs_in_child()) return;
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(endless()));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(finish(), kCode, "\"converse\"");
}

TEST_F(EndlessKernel, LetsGoOfThreadsThatWaitForIt) {
  if (runs_in_child()) return;
  const Ref<Semaphore> done = new_semaphore();
  ASSERT_OK(queue().dispatch(endless(), When().then(done, 1)));
  const SemaphorePoint point = {done.get(), 1};
  Status one;
  Status all;
  std::thread waits_for_one([&] { one = done->wait(1); });
  std::thread waits_for_all([&] { all = device().wait({&point, 1}, WaitMode::kAll); });
  EXPECT_FAILS(done->wait(1, soon()), StatusCode::kDeadlineExceeded, "");
  ASSERT_OK(queue().abandon());
  waits_for_one.join();
  waits_for_all.join();
  EXPECT_FAILS(one, kCode, "\"converse\"");
  EXPECT_FAILS(all, kCode, "\"converse\"");
}

// A submission waits for room in its queue.
TEST_F(EndlessKernel, LetsGoOfAThreadThatSubmitsBehindIt) {
  if (runs_in_child()) return;
  QueueOptions options;
  options.capacity = 64;
  const Ref<Queue> small = take(device().create_queue(options));
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(small->dispatch(endless()));
  std::atomic<uint32_t> submitted = 0;
  Status last;
  std::thread submits([&] {
    while (last.ok()) {
      last = small->dispatch(affine(data, 64, 1, 1));
      ++submitted;
    }
  });
  while (submitted < 60) std::this_thread::yield();
  ASSERT_OK(small->abandon());
  submits.join();
  EXPECT_FAILS(last, kCode, "\"converse\"");
}

TEST_F(EndlessKernel, LeavesOtherQueuesAlone) {
  if (runs_in_child()) return;
  const Ref<Queue> other = new_queue();
  ASSERT_OK(queue().dispatch(endless(), next()));
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(finish(), kCode, "");
  const Ref<Buffer> data = allocate(256, MemoryType::kHost);
  auto* const words = static_cast<uint32_t*>(take(data->map(0, 256, MapAccess::kReadWrite)));
  std::fill_n(words, 64, 3u);
  ASSERT_OK(other->dispatch(affine(data, 64, 2, 1), next()));
  EXPECT_OK(finish());
  const Ref<Queue> another = new_queue();
  ASSERT_OK(another->dispatch(affine(data, 64, 2, 1), next()));
  EXPECT_OK(finish());
  EXPECT_EQ(words[63], 15u);
  // Code comes and goes, too.
  EXPECT_OK(executable("vadd_c_v4")->find("vadd").status());
}

// The wait is on the device already.
TEST_F(EndlessKernel, FailsWhatOtherQueuesWaitForOnTheDevice) {
  if (runs_in_child()) return;
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> kernel = new_semaphore();
  const Ref<Semaphore> after = new_semaphore();
  ASSERT_OK(queue().dispatch(endless(), When().then(kernel, 1)));
  ASSERT_OK(other->barrier(When().after(kernel, 1).then(after, 1)));
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(after->wait(1), kCode, "\"converse\"");
  // The other queue goes on, or says that it cannot; nobody waits for ever.
  const Status submitted = other->barrier(next());
  const Status status = submitted.ok() ? finish() : submitted;
  EXPECT_NE(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.ok(), other->fault().ok()) << status.to_string();
  const Ref<Queue> another = new_queue();
  EXPECT_OK(drain(*another));
}

// A runtime may have to wait for the kernel when it maps memory or takes it back.
TEST_F(EndlessKernel, DoesNotMakeReservedBuffersWait) {
  const uint64_t part = device().info().commit_granule;
  if (part == 0) GTEST_SKIP() << "The device has no reserved buffers.";
  if (runs_in_child()) return;
  BufferOptions options;
  options.reserve = true;
  Ref<Buffer> reserved = take(device().allocate(3 * part, options));
  ASSERT_OK(device().commit({*reserved, 0, 2 * part}));
  ASSERT_OK(queue().dispatch(endless(), next()));
  ASSERT_OK(queue().abandon());
  EXPECT_FAILS(finish(), kCode, "");
  // They succeed, or say that they cannot; nobody waits for ever.
  const Status more = device().commit({*reserved, 2 * part, part});
  EXPECT_TRUE(more.ok() || more.code() == StatusCode::kUnavailable) << more.to_string();
  const Status less = device().decommit({*reserved, 0, 2 * part});
  EXPECT_TRUE(less.ok() || less.code() == StatusCode::kUnavailable) << less.to_string();
  reserved = {};
  const Ref<Queue> another = new_queue();
  EXPECT_OK(drain(*another));
}

// Work that may still run has its memory to itself, and gives it back when it ends.
TEST_F(EndlessKernel, KeepsItsMemoryUntilItEnds) {
  if (runs_in_child()) return;
  const auto live = [this] { return take(device().heap_statistics(1)).live_buffers; };
  const uint64_t before = live();
  const Ref<Queue> other = new_queue();
  Ref<Buffer> used = allocate(4096, MemoryType::kHost);
  auto* const words = static_cast<uint32_t*>(take(used->map(0, 4096, MapAccess::kReadWrite)));
  words[0] = words[1] = 0;
  words_ = words;
  const uint64_t address = used->device_address();
  {
    const uint32_t one = 1;
    const uint32_t zero = 0;
    ASSERT_OK(queue().dispatch(Launch(function("coherence", "converse"), {1, 1, 1}, {1, 1, 1},
                                      {used, Argument::of(one), Argument::of(zero)})));
  }
  ASSERT_OK(queue().abandon());
  used = nullptr;
  // What is made from now on is no concern of the kernel's, and comes and goes.
  for (int i = 0; i < 20; ++i) {
    const Ref<Buffer> fresh = allocate(4096, MemoryType::kHost);
    EXPECT_NE(fresh->device_address(), address);
    const uint32_t word = 1;
    ASSERT_OK(other->fill(fresh, &word, 4, next()));
    ASSERT_OK(finish());
  }
  const auto becomes = [&](uint64_t count) {
    for (int i = 0; i < 10'000 && live() != count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return live() == count;
  };
  EXPECT_TRUE(becomes(before + 1)) << live() << " instead of " << before + 1;
  answer();
  EXPECT_TRUE(becomes(before)) << live() << " instead of " << before;
}

}  // namespace
}  // namespace halyard::cts
