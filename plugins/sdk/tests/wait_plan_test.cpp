#include "plugins/sdk/wait_plan.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

TEST(PlanWait, NothingToDoForWhatIsReached) {
  EXPECT_EQ(plan_wait({.reached = true}), WaitAction::kNone);
  EXPECT_EQ(plan_wait({.reached = true, .failed = true}), WaitAction::kNone);
  EXPECT_EQ(plan_wait({.reached = true, .behind_held_back = true}), WaitAction::kNone);
}

TEST(PlanWait, FailsWithWhatHasFailed) {
  EXPECT_EQ(plan_wait({.failed = true}), WaitAction::kFail);
  EXPECT_EQ(plan_wait({.failed = true, .submitted = true, .same_queue = true}), WaitAction::kFail);
}

TEST(PlanWait, TheQueuesOwnOrderIsEnough) {
  EXPECT_EQ(plan_wait({.submitted = true, .same_queue = true}), WaitAction::kNone);
  EXPECT_EQ(plan_wait({.submitted = true, .same_queue = true, .behind_held_back = true}),
            WaitAction::kNone);
}

TEST(PlanWait, AnotherQueuesWorkIsWaitedForOnTheDeviceWhereItCan) {
  EXPECT_EQ(plan_wait({.submitted = true, .on_device = true}), WaitAction::kDevice);
}

TEST(PlanWait, TheHostWaitsWhereTheDeviceCannot) {
  EXPECT_EQ(plan_wait({.submitted = true, .on_device = false}), WaitAction::kHost);
}

TEST(PlanWait, TheHostWaitsForWhatNobodyHasSubmitted) {
  EXPECT_EQ(plan_wait({}), WaitAction::kHost);
  EXPECT_EQ(plan_wait({.on_device = true}), WaitAction::kHost);
}

TEST(PlanWait, BehindSomethingHeldBackTheDecisionIsPutOff) {
  EXPECT_EQ(plan_wait({.submitted = true, .on_device = true, .behind_held_back = true}),
            WaitAction::kHost);
}

}  // namespace
}  // namespace halyard
