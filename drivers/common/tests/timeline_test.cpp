// Timeline and HeldSync, over a queue that the test moves forward by hand.
#include "drivers/common/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "drivers/common/held_sync.h"
#include "hal/error.h"
#include "plugins/objects.h"

namespace halyard {
namespace {

using testing::HasSubstr;

std::string message(const Status& status) {
  return std::string(status.message().view());
}

// Nothing of it is called; a semaphore keeps it alive.
class NoDevice final : public driver::DeviceBase {
 public:
  NoDevice() : DeviceBase(info_) {}

 private:
  ~NoDevice() = default;
  void destroy() noexcept override { delete this; }
  size_t do_heap_count() const override { return 0; }
  Status do_heap(size_t, HeapInfo*) const override { return {}; }
  Status do_heap_statistics(size_t, HeapStatistics*) const override { return {}; }
  Status do_create_queue(const QueueOptions&, Queue**) override { return {}; }
  Status do_import_queue(void*, Queue**) override { return {}; }
  Status do_allocate(uint64_t, const BufferOptions&, Buffer**) override { return {}; }
  Status do_pool_statistics(MemoryType, PoolStatistics*) const override { return {}; }
  Status do_trim_pool(MemoryType, uint64_t) override { return {}; }
  bool do_can_access(const Device&) const noexcept override { return false; }
  Status do_import_buffer(const ImportOptions&, Buffer**) override { return {}; }
  Status do_export_buffer(Buffer&, ExportedHandle*) override { return {}; }
  Status do_create_semaphore(uint64_t, Semaphore**) override { return {}; }
  Status do_wait(Span<const SemaphorePoint>, WaitMode, Deadline, size_t*) override { return {}; }
  Status do_create_command_buffer(CommandBuffer**) override { return {}; }
  Status do_load_executable(const void*, size_t, Executable**) override { return {}; }
  size_t do_link_count() const override { return 0; }
  Status do_link(size_t, LinkInfo*) const override { return {}; }
  Status do_begin_profile(const ProfileOptions&) override { return {}; }
  Status do_end_profile(ProfileSink, void*) override { return {}; }
  Status do_fault() const override { return {}; }
  Status do_let_in(Buffer&) override { return {}; }

  DeviceInfo info_;
};

class TestTimeline final : public Timeline {
 public:
  TestTimeline(Device& device, uint64_t initial) : Timeline(device, initial) {}

  // Work that the test finishes, or whose queue it loses.
  void submit(uint64_t value) { points_[value] = false; }
  void finish(uint64_t value) { points_[value] = true; }
  void lose(const Status& cause) { lost_ = cause; }
  int notified() const { return notified_; }

  PointState evaluate(uint64_t value) const override {
    settle();
    if (has_reached(value)) return PointState::kReached;
    return has_failed() ? PointState::kFailed : PointState::kPending;
  }
  bool is_coming(uint64_t value) const override {
    const auto found = points_.lower_bound(value);
    return found != points_.end();
  }

 private:
  ~TestTimeline() = default;
  void destroy() noexcept override { delete this; }
  void settle() const override {
    for (const auto& [value, done] : points_) {
      if (done) raise(value);
    }
    if (!lost_.ok()) set_failure(lost_);
  }
  uint64_t least_pending() const override {
    for (const auto& [value, done] : points_) {
      if (!done) return value;
    }
    return UINT64_MAX;
  }
  PointState wait_until(uint64_t value, Deadline) const override { return evaluate(value); }
  void notify() const override { ++notified_; }

  std::map<uint64_t, bool> points_;  // by value: whether it is done
  Status lost_;
  mutable int notified_ = 0;
};

class TimelineTest : public testing::Test {
 protected:
  Ref<TestTimeline> make(uint64_t initial = 0) {
    return Ref<TestTimeline>::adopt(new TestTimeline(*device_, initial));
  }

  const Ref<Device> device_ = Ref<Device>::adopt(new NoDevice);
};

TEST_F(TimelineTest, TheHostSignalsBetweenTheValueAndWhatWorkWillSignal) {
  const Ref<TestTimeline> semaphore = make(3);
  semaphore->submit(10);
  EXPECT_THAT(message(semaphore->signal(3)),
              HasSubstr("(3) that is not above the current one (3)"));
  EXPECT_THAT(message(semaphore->signal(10)), HasSubstr("queued work will signal (10)"));
  EXPECT_TRUE(semaphore->signal(9).ok());
  EXPECT_EQ(*semaphore->query(), 9u);
  EXPECT_EQ(semaphore->notified(), 1);
  semaphore->finish(10);
  EXPECT_TRUE(semaphore->signal(11).ok());
}

TEST_F(TimelineTest, APromiseStandsInTheWayOfTheHostUntilItIsKept) {
  const Ref<TestTimeline> semaphore = make();
  semaphore->promise(5);
  EXPECT_THAT(message(semaphore->signal(5)), HasSubstr("queued work will signal (5)"));
  semaphore->reach(5);
  EXPECT_TRUE(semaphore->signal(6).ok()) << "reached, though nobody has noted it yet";
  semaphore->promise(8);
  semaphore->keep_promise(8);
  EXPECT_TRUE(semaphore->signal(9).ok());
}

TEST_F(TimelineTest, OnlyTheFirstFailureCountsAndNoPointAfterIt) {
  const Ref<TestTimeline> semaphore = make();
  semaphore->submit(1);
  semaphore->submit(2);
  semaphore->finish(1);
  const uint64_t failures = Timeline::failures();
  semaphore->fail(error(StatusCode::kAborted, "first"));
  semaphore->fail(error(StatusCode::kInternal, "second"));
  EXPECT_EQ(Timeline::failures(), failures + 1);
  semaphore->finish(2);
  EXPECT_EQ(semaphore->evaluate(1), PointState::kReached) << "reached before the failure";
  EXPECT_EQ(semaphore->evaluate(2), PointState::kFailed);
  EXPECT_THAT(message(semaphore->wait(2)), HasSubstr("first"));
  EXPECT_EQ(semaphore->query().status().code(), StatusCode::kAborted);
  EXPECT_EQ(semaphore->signal(7).code(), StatusCode::kAborted);
}

TEST_F(TimelineTest, AWaitThatEndsTooEarlySaysHowFarItIs) {
  const Ref<TestTimeline> semaphore = make(4);
  const Status status = semaphore->wait(6, Deadline::after_ns(0));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(message(status), HasSubstr("(6) before the deadline; it has 4"));
}

TEST_F(TimelineTest, OfSeveralPointsAnyOrAllAreAwaited) {
  const Ref<TestTimeline> first = make();
  const Ref<TestTimeline> second = make(1);
  const SemaphorePoint points[] = {{first.get(), 1}, {second.get(), 1}};
  const auto state_of = [](const SemaphorePoint& point) {
    return timeline(point).evaluate(point.value);
  };
  AwaitedPoints any(points, WaitMode::kAny);
  size_t index = 0;
  ASSERT_EQ(any.evaluate(state_of), PointState::kReached);
  EXPECT_TRUE(any.result(PointState::kReached, &index).ok());
  EXPECT_EQ(index, 1u);
  AwaitedPoints all(points, WaitMode::kAll);
  ASSERT_EQ(all.evaluate(state_of), PointState::kPending);
  EXPECT_THAT(message(all.result(PointState::kPending, nullptr)), HasSubstr("not all are reached"));
  first->fail(error(StatusCode::kAborted, "given up"));
  ASSERT_EQ(all.evaluate(state_of), PointState::kFailed);
  EXPECT_THAT(message(all.result(PointState::kFailed, nullptr)), HasSubstr("given up"));
  EXPECT_EQ(any.evaluate(state_of), PointState::kReached) << "one is enough";
}

TEST_F(TimelineTest, WhatIsHeldBackPromisesItsSignalsAndIsPlannedWhenItsWaitsAreMet) {
  const Ref<TestTimeline> wait = make();
  const Ref<TestTimeline> signal = make();
  const SemaphorePoint waits[] = {{wait.get(), 2}};
  const SemaphorePoint signals[] = {{signal.get(), 1}};
  int queue = 0;
  Result<HeldSync> added = HeldSync::add(&queue, "test", {.wait = waits, .signal = signals});
  ASSERT_TRUE(added.ok()) << added.status().to_string();
  HeldSync held = std::move(added).value();
  EXPECT_FALSE(signal->signal(1).ok());
  const auto plan = [](const HeldPoint& point) {
    const PointState state = point.semaphore->evaluate(point.value);
    if (state == PointState::kFailed) return WaitAction::kFail;
    return state == PointState::kReached ? WaitAction::kNone : WaitAction::kHost;
  };
  EXPECT_TRUE(held.worth_planning(plan)) << "nothing is known at first";
  EXPECT_FALSE(held.worth_planning(plan));
  ASSERT_TRUE(wait->signal(2).ok());
  EXPECT_TRUE(held.worth_planning(plan));
  held.finish({});
  held.remove();
  EXPECT_EQ(*signal->query(), 1u);
  EXPECT_TRUE(signal->signal(2).ok());
}

TEST_F(TimelineTest, AFailureIsWorthPlanningAndFailsTheSignals) {
  const Ref<TestTimeline> wait = make();
  const Ref<TestTimeline> signal = make();
  const SemaphorePoint waits[] = {{wait.get(), 1}};
  const SemaphorePoint signals[] = {{signal.get(), 1}};
  int queue = 0;
  Result<HeldSync> added = HeldSync::add(&queue, "test", {.wait = waits, .signal = signals});
  ASSERT_TRUE(added.ok()) << added.status().to_string();
  HeldSync held = std::move(added).value();
  wait->fail(error(StatusCode::kAborted, "gone"));
  EXPECT_TRUE(held.worth_planning([](const HeldPoint&) { return WaitAction::kFail; }));
  held.finish(wait->failure());
  held.remove();
  EXPECT_EQ(signal->query().status().code(), StatusCode::kAborted);
}

TEST_F(TimelineTest, AnOperationThatWouldWaitForItselfIsRefusedAndPromisesNothing) {
  const Ref<TestTimeline> semaphore = make();
  const SemaphorePoint waits[] = {{semaphore.get(), 1}};
  const SemaphorePoint signals[] = {{semaphore.get(), 1}};
  int queue = 0;
  const Result<HeldSync> added = HeldSync::add(&queue, "test", {.wait = waits, .signal = signals});
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(semaphore->signal(1).ok());
}

TEST_F(TimelineTest, OfStepsTheFirstWaitsAndTheLastSignals) {
  const Ref<TestTimeline> wait = make();
  const Ref<TestTimeline> signal = make();
  const SemaphorePoint waits[] = {{wait.get(), 1}};
  const SemaphorePoint signals[] = {{signal.get(), 1}};
  int queue = 0;
  Result<HeldSync> added = HeldSync::add(&queue, "test", {.wait = waits, .signal = signals});
  ASSERT_TRUE(added.ok()) << added.status().to_string();
  HeldSync last = std::move(added).value();
  const HeldSync first = last.split_waits();
  EXPECT_EQ(first.waits().size(), 1u);
  EXPECT_TRUE(first.signals().empty());
  EXPECT_TRUE(last.split_waits().waits().empty());
  EXPECT_EQ(last.signals().size(), 1u);
  last.finish({});
  last.remove();
  EXPECT_EQ(*signal->query(), 1u);
}

}  // namespace
}  // namespace halyard
