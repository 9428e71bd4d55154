// Timeline and HeldSync, over a queue that the test moves forward by hand.
#include "plugins/sdk/timeline.h"
#include "plugins/sdk/tests/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hal/error.h"
#include "plugins/sdk/held_sync.h"
#include "plugins/sdk/tests/fake_timeline.h"

namespace halyard {
namespace {

using ::testing::HasSubstr;

class TimelineTest : public ::testing::Test {
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
