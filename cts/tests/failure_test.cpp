// Failures that are passed on: a semaphore that fails fails everything that waits for it.
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

const char kReason[] = "The cat (Minka) sits on the keyboard.";

class Failure : public DeviceTest {
 protected:
  static Status cause() { return Status(StatusCode::kAborted, kReason); }
};

TEST_F(Failure, IsWhatEverybodySees) {
  const Ref<Semaphore> semaphore = new_semaphore(3);
  semaphore->fail(cause());
  EXPECT_FAILS(semaphore->query(), StatusCode::kAborted, kReason);
  EXPECT_FAILS(semaphore->wait(4, time_limit()), StatusCode::kAborted, kReason);
  EXPECT_FAILS(semaphore->signal(4), StatusCode::kAborted, kReason);
  const SemaphorePoint point = {semaphore.get(), 4};
  EXPECT_FAILS(device().wait({&point, 1}, WaitMode::kAll, time_limit()), StatusCode::kAborted,
               kReason);
  EXPECT_FAILS(device().wait({&point, 1}, WaitMode::kAny, time_limit()), StatusCode::kAborted,
               kReason);
}

TEST_F(Failure, DoesNotTouchWhatWasReached) {
  const Ref<Semaphore> semaphore = new_semaphore();
  ASSERT_OK(semaphore->signal(3));
  semaphore->fail(cause());
  EXPECT_OK(semaphore->wait(3, time_limit()));
  EXPECT_OK(semaphore->wait(1, time_limit()));
}

TEST_F(Failure, OnlyTheFirstCounts) {
  const Ref<Semaphore> semaphore = new_semaphore();
  semaphore->fail(cause());
  semaphore->fail(Status(StatusCode::kInternal, "Another one."));
  EXPECT_FAILS(semaphore->wait(1, time_limit()), StatusCode::kAborted, kReason);
}

TEST_F(Failure, WakesThoseWhoWait) {
  const Ref<Semaphore> semaphore = new_semaphore();
  Status one;
  Status any;
  std::thread first([&] { one = semaphore->wait(1, time_limit()); });
  std::thread second([&] {
    const Ref<Semaphore> other = new_semaphore();
    const SemaphorePoint points[] = {{other.get(), 1}, {semaphore.get(), 1}};
    any = device().wait(points, WaitMode::kAny, time_limit());
  });
  semaphore->fail(cause());
  first.join();
  second.join();
  EXPECT_FAILS(one, StatusCode::kAborted, kReason);
  EXPECT_FAILS(any, StatusCode::kAborted, kReason);
}

// Work that waits for a failed semaphore does not run, and fails what it was to signal.
TEST_F(Failure, PassesThroughAQueue) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> buffer = poisoned(16);
  const SemaphorePoint open = {gate.get(), 1};
  const uint8_t zero = 0;
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint signal = {done.get(), 1};
  const Ref<Queue> other = new_queue();
  ASSERT_OK(other->fill(buffer, &zero, 1, {.wait = {&open, 1}, .signal = {&signal, 1}}));
  gate->fail(cause());
  EXPECT_FAILS(done->wait(1, time_limit()), StatusCode::kAborted, kReason);
  EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(16, 0xa5)));
}

TEST_F(Failure, PassesFromQueueToQueue) {
  constexpr size_t kLinks = 5;
  const Ref<Semaphore> gate = new_semaphore();
  std::vector<Ref<Semaphore>> links = {gate};
  std::vector<Ref<Queue>> queues;
  for (size_t i = 0; i < kLinks; ++i) {
    queues.push_back(new_queue());
    links.push_back(new_semaphore());
    const SemaphorePoint wait = {links[i].get(), 1};
    const SemaphorePoint signal = {links[i + 1].get(), 1};
    ASSERT_OK(queues[i]->barrier({.wait = {&wait, 1}, .signal = {&signal, 1}}));
  }
  gate->fail(cause());
  EXPECT_FAILS(links.back()->wait(1, time_limit()), StatusCode::kAborted, kReason);
}

TEST_F(Failure, OfASemaphoreThatHasFailedAlready) {
  const Ref<Semaphore> gate = new_semaphore();
  gate->fail(cause());
  const SemaphorePoint open = {gate.get(), 1};
  Sync sync = next();
  sync.wait = {&open, 1};
  const Status submitted = queue().barrier(sync);
  // It may be refused at once, or fail its signals.
  EXPECT_FAILS(submitted.ok() ? finish() : submitted, StatusCode::kAborted, kReason);
}

// The queue itself is in good health: what was behind the failed operation runs.
TEST_F(Failure, LeavesTheQueueUsable) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> lost = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  const SemaphorePoint signal = {lost.get(), 1};
  ASSERT_OK(queue().barrier({.wait = {&open, 1}, .signal = {&signal, 1}}));
  gate->fail(cause());
  EXPECT_FAILS(lost->wait(1, time_limit()), StatusCode::kAborted, kReason);
  const Ref<Buffer> buffer = poisoned(16);
  EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(16, 0xa5)));
}

// One semaphore of several that are waited for fails: the others go their way.
TEST_F(Failure, LeavesTheOthersOfAWaitAlone) {
  const Ref<Semaphore> lost = new_semaphore();
  const Ref<Semaphore> others[] = {new_semaphore(), new_semaphore(5)};
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint points[] = {{others[0].get(), 1}, {lost.get(), 1}, {others[1].get(), 6}};
  ASSERT_OK(
      queue().barrier(When().after(others[0], 1).after(lost, 1).after(others[1], 6).then(done, 1)));
  lost->fail(cause());
  for (const WaitMode mode : {WaitMode::kAll, WaitMode::kAny}) {
    EXPECT_FAILS(device().wait(points, mode, time_limit()), StatusCode::kAborted, kReason);
  }
  EXPECT_FAILS(done->wait(1, time_limit()), StatusCode::kAborted, kReason);
  EXPECT_EQ(take(others[0]->query()), 0u);
  EXPECT_EQ(take(others[1]->query()), 5u);
  EXPECT_FAILS(others[0]->wait(1, Deadline::poll()), StatusCode::kDeadlineExceeded);
  // They can be signalled by the host and by work, and be waited for.
  ASSERT_OK(others[0]->signal(1));
  ASSERT_OK(queue().barrier(When().after(others[0], 1).then(others[1], 6)));
  EXPECT_OK(others[1]->wait(6, time_limit()));
}

}  // namespace
}  // namespace halyard::cts
