// HeldQueue, over a device's queue that the test plays.
#include "plugins/sdk/held_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <string>
#include <utility>
#include <vector>

#include "hal/error.h"
#include "plugins/sdk/host_operation.h"
#include "plugins/sdk/tests/fake_timeline.h"
#include "plugins/sdk/tests/message.h"

namespace halyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Says in a list what becomes of it.
class NotedOperation : public QueueOperation {
 public:
  NotedOperation(std::string name, std::vector<std::string>* list)
      : name_(std::move(name)), list_(list) {}
  OperationFacts facts() const override {
    return {.kind = ProfileKind::kFill, .name = name_.c_str()};
  }
  void cancel() override { note("cancelled"); }
  void note(const char* what) { list_->push_back(name_ + " " + what); }
  const std::string& text() const { return name_; }

 private:
  std::string name_;
  std::vector<std::string>* list_;
};

// Its host's part ends when the test says so; then it goes onto the device.
class HostPart final : public NotedOperation {
 public:
  using NotedOperation::NotedOperation;
  bool on_host() const override { return true; }
  bool issues_after_run() const override { return true; }
  void run(HostCompletion& completion) override {
    const std::lock_guard lock(mutex_);
    completion_ = &completion;
    runs_.notify_all();
  }
  HostCompletion& wait_until_it_runs() {
    std::unique_lock lock(mutex_);
    runs_.wait(lock, [this] { return completion_ != nullptr; });
    return *completion_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable runs_;
  HostCompletion* completion_ = nullptr;
};

class FakeQueue final : public HeldQueue {
 public:
  explicit FakeQueue(Device& device) : HeldQueue(device, order_) {}

  Status hold(std::unique_ptr<QueueOperation> operation, const Sync& sync) {
    const std::lock_guard lock(order_);
    return push(std::move(operation), sync);
  }
  Status hold_steps(std::vector<std::unique_ptr<QueueOperation>> steps, const Sync& sync) {
    const std::lock_guard lock(order_);
    return push_steps(std::move(steps), sync);
  }
  using HeldQueue::arrived;

  std::vector<std::string> list;  // what became of operations
  Status lost;
  bool full = false;         // no room for an operation
  bool whole = true;         // what is issued is all on the device at once
  bool device_busy = false;  // with what is before a host's part
  bool calls_back = false;   // arrived() is called by the test
  uint64_t arriving = 0;     // the id that it needs
  std::vector<bool> held;    // what holds() was told
  std::atomic<int> changes{0};

 private:
  Status fault() const override { return lost; }
  WaitAction action_for(const QueueOperation&, const HeldPoint& wait) override {
    const PointState state = wait.semaphore->evaluate(wait.value);
    if (state == PointState::kFailed) return WaitAction::kFail;
    return state == PointState::kReached ? WaitAction::kNone : WaitAction::kHost;
  }
  Turn ready(const HeldSync& sync, Status* failure) {
    for (const HeldPoint& wait : sync.waits()) {
      const PointState state = wait.semaphore->evaluate(wait.value);
      if (state == PointState::kFailed) *failure = wait.semaphore->failure();
      if (state == PointState::kPending) return Turn::kLater;
    }
    return Turn::kDone;
  }
  Result<Turn> issue(QueueOperation& operation, const HeldSync& sync) override {
    Status failure;
    const Turn turn = ready(sync, &failure);
    HALYARD_RETURN_IF_ERROR(failure);
    if (turn != Turn::kDone) return turn;
    if (full) return Turn::kSoon;
    static_cast<NotedOperation&>(operation).note("issued");
    for (const HeldPoint& signal : sync.signals()) {
      static_cast<TestTimeline&>(*signal.semaphore).submit(signal.value);
    }
    return Turn::kDone;
  }
  bool resume(QueueOperation&) override { return whole; }
  Result<Turn> reach_host(const QueueOperation&, const HeldSync& sync, uint64_t id) override {
    Status failure;
    const Turn turn = ready(sync, &failure);
    HALYARD_RETURN_IF_ERROR(failure);
    if (turn != Turn::kDone || device_busy) return Turn::kLater;
    arriving = id;
    return calls_back ? Turn::kArrives : Turn::kDone;
  }
  void holds(bool any) override { held.push_back(any); }
  bool is_timed(const OperationFacts&) const override { return true; }
  void add_time(const OperationFacts& facts, uint64_t begin_ns, uint64_t end_ns) override {
    EXPECT_LE(begin_ns, end_ns);
    list.push_back(std::string(facts.name.view()) + " timed");
  }
  void changed() override {
    advance();
    ++changes;
  }

  std::mutex order_;
};

class HeldQueueTest : public ::testing::Test {
 protected:
  Ref<TestTimeline> semaphore() { return Ref<TestTimeline>::adopt(new TestTimeline(*device_, 0)); }
  std::unique_ptr<QueueOperation> operation(std::string name) {
    return std::make_unique<NotedOperation>(std::move(name), &queue_.list);
  }

  const Ref<Device> device_ = Ref<Device>::adopt(new NoDevice);
  FakeQueue queue_{*device_};
};

TEST_F(HeldQueueTest, WhatWaitsHoldsBackWhatIsBehindIt) {
  const Ref<TestTimeline> wait = semaphore();
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint waits = {wait.get(), 1};
  const SemaphorePoint signals = {signal.get(), 5};
  ASSERT_TRUE(queue_.hold(operation("first"), {.wait = {&waits, 1}, .signal = {}}).ok());
  ASSERT_TRUE(queue_.hold(operation("second"), {.wait = {}, .signal = {&signals, 1}}).ok());
  EXPECT_FALSE(queue_.advance().changed);
  EXPECT_THAT(queue_.list, IsEmpty());
  EXPECT_TRUE(queue_.any());
  EXPECT_THAT(message(signal->signal(5)), HasSubstr("queued work will signal (5)"));

  ASSERT_TRUE(wait->signal(1).ok());
  const HeldQueue::Round round = queue_.advance();
  EXPECT_TRUE(round.changed);
  EXPECT_FALSE(round.soon);
  EXPECT_THAT(queue_.list, ElementsAre("first issued", "second issued"));
  EXPECT_FALSE(queue_.any());
  EXPECT_THAT(queue_.held, ElementsAre(true, false));
  signal->finish(5);
  EXPECT_EQ(*signal->query(), 5u);
}

TEST_F(HeldQueueTest, AnOperationGoesOnWhenThereIsRoomAndUntilItIsWhole) {
  ASSERT_TRUE(queue_.hold(operation("large"), {}).ok());
  ASSERT_TRUE(queue_.hold(operation("small"), {}).ok());
  queue_.full = true;
  EXPECT_TRUE(queue_.advance().soon);
  EXPECT_THAT(queue_.list, IsEmpty());
  queue_.full = false;
  queue_.whole = false;
  EXPECT_TRUE(queue_.advance().soon);
  EXPECT_TRUE(queue_.advance().soon);
  EXPECT_THAT(queue_.list, ElementsAre("large issued"));
  queue_.whole = true;
  EXPECT_FALSE(queue_.advance().soon);
  EXPECT_THAT(queue_.list, ElementsAre("large issued", "small issued"));
}

TEST_F(HeldQueueTest, TheFailureOfAWaitFailsTheSignalsAndCancels) {
  const Ref<TestTimeline> wait = semaphore();
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint waits = {wait.get(), 1};
  const SemaphorePoint signals = {signal.get(), 1};
  ASSERT_TRUE(queue_.hold(operation("first"), {.wait = {&waits, 1}, .signal = {&signals, 1}}).ok());
  ASSERT_TRUE(queue_.hold(operation("second"), {}).ok());
  wait->fail_with(error(StatusCode::kAborted, "It burns."));
  queue_.advance();
  EXPECT_THAT(queue_.list, ElementsAre("first cancelled", "second issued"));
  EXPECT_THAT(message(signal->query().status()), HasSubstr("It burns."));
}

TEST_F(HeldQueueTest, TheHostsPartComesBeforeWhatIsBehindItAndIsTimed) {
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint signals = {signal.get(), 1};
  std::atomic<int> calls{0};
  HostCall call;
  call.context = &calls;
  call.invoke = [](const HostCall& call, HostCompletion& completion) {
    static_cast<std::atomic<int>*>(call.context)->fetch_add(1);
    completion.complete({});
  };
  queue_.device_busy = true;
  ASSERT_TRUE(
      queue_.hold(std::make_unique<HostCallOperation>(call), {.wait = {}, .signal = {&signals, 1}})
          .ok());
  ASSERT_TRUE(queue_.hold(operation("behind"), {}).ok());
  queue_.advance();
  EXPECT_EQ(calls, 0) << "the device is not there yet";
  queue_.device_busy = false;
  queue_.advance();
  // The thread of the host's part is at the queue until then.
  while (queue_.changes == 0) std::this_thread::yield();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(queue_.list, ElementsAre("host_call timed", "behind issued"));
  EXPECT_EQ(*signal->query(), 1u);
}

TEST_F(HeldQueueTest, AnOperationMayGoOntoTheDeviceBehindItsHostsPart) {
  auto part = std::make_unique<HostPart>("part", &queue_.list);
  HostPart& running = *part;
  ASSERT_TRUE(queue_.hold(std::move(part), {}).ok());
  queue_.advance();
  HostCompletion& completion = running.wait_until_it_runs();
  queue_.advance();
  EXPECT_THAT(queue_.describe(), HasSubstr("part"));
  EXPECT_THAT(queue_.list, IsEmpty()) << "it still runs";
  completion.complete({});
  EXPECT_THAT(queue_.list, ElementsAre("part issued"));
}

TEST_F(HeldQueueTest, AFailureOfTheHostsPartIsTheOperations) {
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint signals = {signal.get(), 1};
  auto part = std::make_unique<HostPart>("part", &queue_.list);
  HostPart& running = *part;
  ASSERT_TRUE(queue_.hold(std::move(part), {.wait = {}, .signal = {&signals, 1}}).ok());
  queue_.advance();
  running.wait_until_it_runs().complete(error(StatusCode::kOutOfRange, "Too much."));
  EXPECT_THAT(queue_.list, ElementsAre("part cancelled"));
  EXPECT_EQ(signal->query().status().code(), StatusCode::kOutOfRange);
}

TEST_F(HeldQueueTest, WhatTheDeviceReportsRunsOnceAndIsForgottenWithTheOperation) {
  auto part = std::make_unique<HostPart>("part", &queue_.list);
  HostPart& running = *part;
  queue_.calls_back = true;
  ASSERT_TRUE(queue_.hold(std::move(part), {}).ok());
  queue_.advance();
  const uint64_t id = queue_.arriving;
  queue_.advance();
  queue_.arrived(id);
  running.wait_until_it_runs().complete({});
  EXPECT_THAT(queue_.list, ElementsAre("part issued"));
  queue_.arrived(id);
  ASSERT_TRUE(queue_.hold(operation("next"), {}).ok());
  queue_.arrived(id);
  queue_.advance();
  EXPECT_THAT(queue_.list, ElementsAre("part issued", "next issued"));
}

TEST_F(HeldQueueTest, StepsWaitAndSignalAsOneAndStopAtAFailure) {
  const Ref<TestTimeline> wait = semaphore();
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint waits = {wait.get(), 1};
  const SemaphorePoint signals = {signal.get(), 1};
  const auto steps = [&] {
    std::vector<std::unique_ptr<QueueOperation>> all;
    all.push_back(operation("a"));
    all.push_back(operation("b"));
    return all;
  };
  ASSERT_TRUE(queue_.hold_steps(steps(), {.wait = {&waits, 1}, .signal = {&signals, 1}}).ok());
  queue_.advance();
  EXPECT_THAT(queue_.list, IsEmpty());
  ASSERT_TRUE(wait->signal(1).ok());
  queue_.advance();
  EXPECT_THAT(queue_.list, ElementsAre("a issued", "b issued"));
  signal->finish(1);
  EXPECT_EQ(*signal->query(), 1u);

  queue_.list.clear();
  const SemaphorePoint never = {wait.get(), 2};
  const SemaphorePoint next = {signal.get(), 2};
  ASSERT_TRUE(queue_.hold_steps(steps(), {.wait = {&never, 1}, .signal = {&next, 1}}).ok());
  wait->fail_with(error(StatusCode::kAborted, "It burns."));
  queue_.advance();
  EXPECT_THAT(queue_.list, ElementsAre("a cancelled", "b cancelled"));
  EXPECT_EQ(signal->query().status().code(), StatusCode::kAborted);
}

TEST_F(HeldQueueTest, ALostQueueFailsAllThatItHoldsAlsoBehindAHostsPartThatRuns) {
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint signals = {signal.get(), 1};
  auto part = std::make_unique<HostPart>("part", &queue_.list);
  HostPart& running = *part;
  ASSERT_TRUE(queue_.hold(std::move(part), {}).ok());
  ASSERT_TRUE(queue_.hold(operation("behind"), {.wait = {}, .signal = {&signals, 1}}).ok());
  queue_.advance();
  HostCompletion& completion = running.wait_until_it_runs();
  EXPECT_FALSE(queue_.advance().changed);
  queue_.lost = error(StatusCode::kUnavailable, "The queue is lost.");
  // Nothing leaves the queue, and yet threads may wait for what has failed.
  EXPECT_TRUE(queue_.advance().changed);
  EXPECT_FALSE(queue_.advance().changed);
  EXPECT_EQ(signal->query().status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(queue_.any()) << "the host's part still uses the operation";
  completion.complete({});
  EXPECT_FALSE(queue_.any());
  EXPECT_THAT(queue_.list, ::testing::Not(::testing::Contains("behind issued")));
}

TEST_F(HeldQueueTest, WhatIsOnTheDeviceIsNotFailedWithTheQueue) {
  const Ref<TestTimeline> signal = semaphore();
  const SemaphorePoint signals = {signal.get(), 1};
  ASSERT_TRUE(queue_.hold(operation("large"), {.wait = {}, .signal = {&signals, 1}}).ok());
  queue_.whole = false;
  queue_.advance();
  queue_.lost = error(StatusCode::kUnavailable, "The queue is lost.");
  queue_.advance();
  EXPECT_THAT(queue_.list, ElementsAre("large issued"));
  EXPECT_TRUE(signal->query().ok()) << "its packets may have been done before";
  queue_.whole = true;
  queue_.advance();
  EXPECT_FALSE(queue_.any());
}

TEST_F(HeldQueueTest, AnOperationThatWouldWaitForItselfIsRefused) {
  const Ref<TestTimeline> own = semaphore();
  const SemaphorePoint point = {own.get(), 1};
  const Status status =
      queue_.hold(operation("circle"), {.wait = {&point, 1}, .signal = {&point, 1}});
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_FALSE(queue_.any());
  EXPECT_THAT(queue_.held, IsEmpty());
}

}  // namespace
}  // namespace halyard
