// WaitLoop, with a driver that notes when threads sleep.
#include "plugins/sdk/wait_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "plugins/sdk/clock.h"

namespace halyard {
namespace {

constexpr uint64_t kNever = UINT64_MAX;
constexpr uint64_t kMs = 1'000'000;

class TestLoop final : public WaitLoop {
 public:
  explicit TestLoop(uint64_t spin_ns, uint64_t sleep_ns = kNever)
      : WaitLoop({.looks = 4, .rounds = 8, .ns = spin_ns}), sleep_ns_(sleep_ns) {}
  void changed() {
    if (any_sleeps()) wake();
  }
  std::atomic<int> slept{0};
  std::atomic<int> naps{0};  // times that a thread is let sleep
  std::atomic<bool> on_device{true};

 private:
  uint64_t sleep_ns(uint64_t, bool device) override {
    on_device = device;
    ++naps;
    return sleep_ns_;
  }
  void sleeps() override { ++slept; }
  void woke() override { --slept; }

  const uint64_t sleep_ns_;
};

TEST(WaitLoop, WhatIsReachedAndADeadlineOfZeroNeedOneLook) {
  TestLoop loop(kNever);
  int looks = 0;
  const auto reached = [&] { return ++looks, PointState::kReached; };
  EXPECT_EQ(loop.wait_until(reached, Deadline::infinite()), PointState::kReached);
  EXPECT_EQ(looks, 1);
  const auto pending = [&] { return ++looks, PointState::kPending; };
  EXPECT_EQ(loop.wait_until(pending, Deadline::poll()), PointState::kPending);
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(loop.naps, 0);
}

TEST(WaitLoop, ItSpinsUntilItIsReached) {
  TestLoop loop(kNever);
  int looks = 0;
  const auto late = [&] { return ++looks < 20 ? PointState::kPending : PointState::kFailed; };
  EXPECT_EQ(loop.wait_until(late, Deadline::infinite()), PointState::kFailed);
  EXPECT_EQ(looks, 20);
  EXPECT_EQ(loop.naps, 0);
}

TEST(WaitLoop, AThreadThatSleepsIsWokenByAChange) {
  TestLoop loop(kMs);
  std::atomic<bool> done{false};
  std::thread changes([&] {
    while (loop.naps == 0) std::this_thread::yield();
    done = true;
    loop.changed();
  });
  const auto look = [&] { return done ? PointState::kReached : PointState::kPending; };
  EXPECT_EQ(loop.wait_until(look, Deadline::infinite()), PointState::kReached);
  changes.join();
  EXPECT_EQ(loop.slept, 0);
}

TEST(WaitLoop, WithoutAChangeItLooksAsOftenAsTheDriverSays) {
  TestLoop loop(0, kMs);
  const auto look = [&] { return loop.naps < 3 ? PointState::kPending : PointState::kReached; };
  EXPECT_EQ(loop.wait_until(look, Deadline::infinite()), PointState::kReached);
  EXPECT_EQ(loop.naps, 3);
}

TEST(WaitLoop, AWaitForAnotherThreadDoesNotSpin) {
  TestLoop loop(kNever);
  std::atomic<bool> done{false};
  std::thread changes([&] {
    while (loop.naps == 0) std::this_thread::yield();
    EXPECT_FALSE(loop.on_device);
    EXPECT_EQ(loop.slept, 1);
    done = true;
    loop.changed();
  });
  const auto look = [&](bool* on_device) {
    *on_device = false;
    return done ? PointState::kReached : PointState::kPending;
  };
  EXPECT_EQ(loop.wait_until(look, Deadline::infinite()), PointState::kReached);
  changes.join();
}

TEST(WaitLoop, TheDeadlineEndsTheSpinAndTheSleep) {
  const auto pending = [] { return PointState::kPending; };
  for (const uint64_t spin : {kNever, uint64_t{0}}) {
    TestLoop loop(spin);
    const uint64_t end = now_ns() + 2 * kMs;
    EXPECT_EQ(loop.wait_until(pending, {end}), PointState::kPending);
    EXPECT_GE(now_ns(), end);
  }
}

TEST(WaitLoop, AWaitMayBeToldNotToSpin) {
  TestLoop loop(kNever, kMs);
  const auto look = [&] { return loop.naps == 0 ? PointState::kPending : PointState::kReached; };
  EXPECT_EQ(loop.wait_until(look, Deadline::infinite(), 0), PointState::kReached);
}

}  // namespace
}  // namespace halyard
