// A timeline's ends: in one process, and in one that is killed.
#include "plugins/sdk/shared_timeline.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace halyard {
namespace {

// A semaphore, as an end sees it.
struct Local {
  std::mutex mutex;
  uint64_t value = 0;  // under mutex
  Status failure;      // under mutex

  LocalTimeline end() {
    return {.look =
                [this](uint64_t* now, Status* failed) {
                  const std::lock_guard lock(mutex);
                  *now = value;
                  *failed = failure;
                },
            .reach =
                [this](uint64_t reached) {
                  const std::lock_guard lock(mutex);
                  value = reached;
                },
            .fail =
                [this](const Status& cause) {
                  const std::lock_guard lock(mutex);
                  failure = cause;
                }};
  }
  void set(uint64_t to) {
    const std::lock_guard lock(mutex);
    value = to;
  }
  void fail(const Status& cause) {
    const std::lock_guard lock(mutex);
    failure = cause;
  }
  template <typename Condition>
  bool becomes(const Condition& condition) {
    for (int i = 0; i < 3000; ++i) {
      {
        const std::lock_guard lock(mutex);
        if (condition()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  bool becomes_value(uint64_t expected) {
    return becomes([&] { return value == expected; });
  }
  bool becomes_failed() {
    return becomes([&] { return !failure.ok(); });
  }
};

class Shared : public ::testing::Test {
 protected:
  std::unique_ptr<SharedTimeline> start(Local& local,
                                        Result<std::unique_ptr<SharedTimeline>> made) {
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    std::unique_ptr<SharedTimeline> shared = std::move(made).value();
    EXPECT_TRUE(shared->start(local.end()).ok());
    return shared;
  }
  static StatusCode code_of_open(const ExportedSemaphore& exported) {
    return SharedTimeline::open(exported).status().code();
  }

  Local mine_;
  Local theirs_;
};

TEST_F(Shared, ValuesAndTheFailureGoBothWays) {
  mine_.value = 3;
  auto first = start(mine_, SharedTimeline::create(3));
  auto opened = SharedTimeline::open(first->handle());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->value(), 3u);
  theirs_.value = 3;
  auto second = start(theirs_, std::move(opened));
  mine_.set(5);
  EXPECT_TRUE(theirs_.becomes_value(5));
  theirs_.set(9);
  EXPECT_TRUE(mine_.becomes_value(9));
  theirs_.fail(Status(StatusCode::kAborted, "The tea is cold."));
  EXPECT_TRUE(mine_.becomes_failed());
  EXPECT_EQ(mine_.failure.to_string(), "ABORTED: The tea is cold.");
  SharedTimeline::end(std::move(first));
  SharedTimeline::end(std::move(second));
}

TEST_F(Shared, WhatIsReachedBeforeAFailureIsReachedEverywhere) {
  auto first = start(mine_, SharedTimeline::create(0));
  auto second = start(theirs_, SharedTimeline::open(first->handle()));
  {
    const std::lock_guard lock(mine_.mutex);
    mine_.value = 4;
    mine_.failure = Status(StatusCode::kInternal, "Broken.");
  }
  EXPECT_TRUE(theirs_.becomes_failed());
  EXPECT_EQ(theirs_.value, 4u);
  SharedTimeline::end(std::move(second));
  SharedTimeline::end(std::move(first));
}

TEST_F(Shared, AnEndPublishesItsLastValue) {
  auto first = start(mine_, SharedTimeline::create(0));
  auto second = start(theirs_, SharedTimeline::open(first->handle()));
  mine_.set(7);
  SharedTimeline::end(std::move(first));
  EXPECT_TRUE(theirs_.becomes_value(7));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  {
    const std::lock_guard lock(theirs_.mutex);
    EXPECT_TRUE(theirs_.failure.ok()) << "released is not dead";
  }
  SharedTimeline::end(std::move(second));
}

// The last reference to a semaphore may go because of what is reached.
TEST_F(Shared, MayEndItself) {
  auto first = start(mine_, SharedTimeline::create(0));
  auto opened = SharedTimeline::open(first->handle());
  ASSERT_TRUE(opened.ok());
  std::unique_ptr<SharedTimeline> second = std::move(*opened);
  std::atomic<int> reached{0};
  LocalTimeline local = theirs_.end();
  local.reach = [&](uint64_t) {
    SharedTimeline::end(std::move(second));
    ++reached;
  };
  ASSERT_TRUE(second->start(local).ok());
  mine_.set(1);
  EXPECT_TRUE(theirs_.becomes([&] { return reached.load() != 0; }));
  mine_.set(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(reached, 1);
  SharedTimeline::end(std::move(first));
}

TEST_F(Shared, HandlesThatAreNoneAreRefused) {
  auto first = start(mine_, SharedTimeline::create(0));
  const ExportedSemaphore good = first->handle();
  EXPECT_EQ(code_of_open(ExportedSemaphore()), StatusCode::kInvalidArgument);
  for (size_t i = 0; i < sizeof good.ipc; ++i) {
    ExportedSemaphore damaged = good;
    damaged.ipc[i] ^= 0x10;
    EXPECT_EQ(code_of_open(damaged), StatusCode::kInvalidArgument) << i;
  }
  EXPECT_EQ(code_of_open(good), StatusCode::kOk);
  SharedTimeline::end(std::move(first));
  EXPECT_EQ(code_of_open(good), StatusCode::kFailedPrecondition);
}

TEST_F(Shared, OnlySoManyTimes) {
  auto first = start(mine_, SharedTimeline::create(0));
  std::vector<std::unique_ptr<SharedTimeline>> others;
  for (uint32_t i = 1; i < SharedTimeline::kMostProcesses; ++i) {
    others.push_back(std::move(SharedTimeline::open(first->handle()).value()));
  }
  EXPECT_EQ(code_of_open(first->handle()), StatusCode::kResourceExhausted);
  others.pop_back();
  EXPECT_EQ(code_of_open(first->handle()), StatusCode::kOk);
  SharedTimeline::end(std::move(first));
}

// The child opens it and is killed; until it is waited for there is still a process of that number.
TEST_F(Shared, TheDeathOfAProcessFailsIt) {
  auto first = start(mine_, SharedTimeline::create(0));
  const ExportedSemaphore handle = first->handle();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Without a thread: only the entry among the processes matters.
    auto opened = SharedTimeline::open(handle);
    const char ok = opened.ok() ? 1 : 0;
    if (write(ready[1], &ok, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ok = 0;
  ASSERT_EQ(::read(ready[0], &ok, 1), 1);
  EXPECT_EQ(ok, 1);
  mine_.set(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  {
    const std::lock_guard lock(mine_.mutex);
    EXPECT_TRUE(mine_.failure.ok()) << "it lives";
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_TRUE(mine_.becomes_failed());
  EXPECT_EQ(mine_.failure.message().view(),
            "Process " + std::to_string(child) +
                ", which shared the semaphore, has ended without releasing it.");
  EXPECT_EQ(mine_.failure.code(), StatusCode::kAborted);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  SharedTimeline::end(std::move(first));
}

// The parent has no descriptor left, neither for the child's pidfd nor for /proc; the child lives
// until it has seen the parent's value, which is behind many looks.
TEST_F(Shared, AProcessThatCannotBeLookedAtLives) {
  auto first = start(mine_, SharedTimeline::create(0));
  const ExportedSemaphore handle = first->handle();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const pid_t child = fork();
  if (child == 0) {
    setrlimit(RLIMIT_NOFILE, &before);
    auto opened = SharedTimeline::open(handle);
    const char ok = opened.ok() ? 1 : 0;
    if (write(ready[1], &ok, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ok = 0;
  EXPECT_EQ(::read(ready[0], &ok, 1), 1);
  EXPECT_EQ(ok, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  setrlimit(RLIMIT_NOFILE, &before);
  {
    const std::lock_guard lock(mine_.mutex);
    EXPECT_TRUE(mine_.failure.ok()) << mine_.failure.to_string();
  }
  EXPECT_EQ(kill(child, SIGKILL), 0);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(mine_.becomes_failed()) << "no process has that number";
  close(ready[0]);
  close(ready[1]);
  SharedTimeline::end(std::move(first));
}

TEST(SharedPeer, IsDeadOnlyIfThatIsKnown) {
  static_assert(is_dead({.has_ended = true}));
  static_assert(is_dead({.has_ended = false, .noted_start = 5, .start = 6}), "another has it");
  static_assert(!is_dead({.has_ended = false, .noted_start = 5, .start = 5}));
  static_assert(!is_dead({.has_ended = false, .noted_start = 0, .start = 5}), "it starts");
  static_assert(!is_dead({.has_ended = false, .noted_start = 5, .start = 0}), "nobody can look");
}

}  // namespace
}  // namespace halyard
