#include "plugins/sdk/polling_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

namespace halyard {
namespace {

TEST(PollingThread, LooksUntilItIsStopped) {
  std::atomic<int> looks{0};
  PollingThread thread;
  ASSERT_TRUE(thread.start("halyard-test", "", [&] { return ++looks % 2 == 0; }).ok());
  while (looks < 5) {
  }
  thread.stop();
  const int last = looks;
  thread.stop();
  EXPECT_EQ(looks, last);
}

TEST(PollingThread, OneThatWasNotStartedEnds) {
  PollingThread thread;
  thread.stop();
}

// A program's exit handler that waits for a kernel which waits for an answer.
TEST(PollingThreadDeathTest, LooksWhileExitHandlersRunThatWereRegisteredLater) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        PollingThread::stop_at_exit();
        static std::atomic<bool> asked{false};
        static std::atomic<bool> answered{false};
        std::atexit([] {
          asked = true;
          while (!answered) {
          }
        });
        // Nobody ends it, as in a driver.
        static auto* const thread = new PollingThread;
        const Status started = thread->start("halyard-test", "", [] {
          if (asked) answered = true;
          return true;
        });
        std::exit(started.ok() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace halyard
