#include "drivers/common/polling_thread.h"

#include <gtest/gtest.h>

#include <atomic>

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

}  // namespace
}  // namespace halyard
