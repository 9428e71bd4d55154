// How a queue's thread waits: whether it polls or sleeps, and who wakes it. Nothing here is timed.
#include "vgpu/queue/idle.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "vgpu/queue/signal_waits.h"

namespace halyard::vgpu::queue {
namespace {

constexpr uint64_t kHour = uint64_t{3600} * 1000 * 1000 * 1000;

class FakeSource final : public WakeSource {
 public:
  bool arm() override {
    ++armed;
    return true;
  }
  bool is_complete() const override { return true; }
  int armed = 0;
};

// How often a thread has given its core away by sleeping.
long sleeps() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

IdlePolicy policy_for(uint32_t processors) {
  IdlePolicy policy;
  policy.spin_ns = kHour;
  policy.processors = processors;
  return policy;
}

// How often looks without success have slept, where there are so many processors. They are too few
// for yields, after which a busy machine has the thread sleep as well.
long sleeps_of_looks(uint32_t processors) {
  Idle idle(policy_for(processors));
  FakeSource doorbell;
  idle.watch(&doorbell);
  const Idle::Awake this_thread, another_one;
  const long before = sleeps();
  for (uint32_t look = 1; look < CoreSharing::kBusyPolls; ++look) idle.pause_for_doorbell();
  EXPECT_EQ(doorbell.armed, 0);
  return sleeps() - before;
}

TEST(Idle, PollsWhileThereAreProcessorsForThat) {
  // A page of the program that has to be fetched is a sleep as well.
  long least = sleeps_of_looks(1000);
  for (int i = 0; i < 3; ++i) least = std::min(least, sleeps_of_looks(1000));
  EXPECT_EQ(least, 0);
}

// Queues could keep all processors busy, and one is needed for what they wait for.
TEST(Idle, NapsWhereThereAreNot) {
  EXPECT_GT(sleeps_of_looks(2), 5);
}

// Where naps end late, as on a busy machine, it waits for the doorbell instead.
TEST(Idle, NapsOnOneProcessor) {
  Idle idle(policy_for(1));
  FakeSource doorbell;
  idle.watch(&doorbell);
  const long before = sleeps();
  for (uint32_t look = 1; look < CoreSharing::kBusyPolls && doorbell.armed == 0; ++look)
    idle.pause_for_doorbell();
  EXPECT_GT(sleeps() - before, 0);
}

TEST(Idle, ADoorbellIsArmedBeforeALastLookAndAnewAfterEachSleep) {
  IdlePolicy policy;
  policy.spin_ns = 0;
  Idle idle(policy);
  FakeSource doorbell;
  idle.watch(&doorbell);
  idle.pause_for_doorbell();
  EXPECT_EQ(doorbell.armed, 1);
  idle.wake();
  idle.pause_for_doorbell();  // has been woken meanwhile
  EXPECT_EQ(doorbell.armed, 1);
  idle.pause_for_doorbell();
  EXPECT_EQ(doorbell.armed, 2);
}

TEST(SignalWait, WakesWhoWaitsForTheSignal) {
  Idle idle(IdlePolicy{});
  const uint64_t handles[] = {0x1000, 0x2000};
  {
    SignalWait wait(idle, handles, 2);
    SignalWait::written(0x1000);
    EXPECT_EQ(idle.wakes(), 0u) << "It is not armed.";
    ASSERT_TRUE(wait.arm());
    ASSERT_TRUE(wait.arm());
    SignalWait::written(0x3000);
    EXPECT_EQ(idle.wakes(), 0u);
    SignalWait::written(0x2000);
    EXPECT_EQ(idle.wakes(), 1u);
    SignalWait::written(0x1000);
    EXPECT_EQ(idle.wakes(), 2u);
  }
  SignalWait::written(0x1000);
  EXPECT_EQ(idle.wakes(), 2u);
}

TEST(SignalWait, OneOfSeveralMayGoFirst) {
  Idle first(IdlePolicy{}), second(IdlePolicy{});
  const uint64_t handle = 0x1000;
  auto early = std::make_unique<SignalWait>(first, &handle, 1);
  SignalWait late(second, &handle, 1);
  ASSERT_TRUE(early->arm());
  ASSERT_TRUE(late.arm());
  early.reset();
  SignalWait::written(handle);
  EXPECT_EQ(first.wakes(), 0u);
  EXPECT_EQ(second.wakes(), 1u);
}

}  // namespace
}  // namespace halyard::vgpu::queue
