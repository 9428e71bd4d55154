#include "plugins/sdk/loss.h"
#include "plugins/sdk/tests/message.h"

#include <gtest/gtest.h>

#include <string>

namespace halyard {
namespace {

TEST(Loss, NamesTheDeviceTheReasonAndWhatRan) {
  EXPECT_EQ(message(device_lost("gpu", "a fault", {})), "The device gpu is lost: a fault.");
  const Status lost = device_lost("gpu", "a fault", {"kernel \"a\"", "kernel \"b\""});
  EXPECT_EQ(lost.code(), StatusCode::kInternal);
  EXPECT_EQ(message(lost), "The device gpu is lost: a fault. Running: kernel \"a\", kernel \"b\".");
  EXPECT_EQ(device_was_lost("gpu", "a fault").code(), StatusCode::kUnavailable);
}

TEST(Loss, AnAbandonedQueueSaysWhatItWasAt) {
  EXPECT_EQ(describe_held("", false), "nothing is queued");
  EXPECT_EQ(describe_held("read", false), "operations that wait for semaphores are queued");
  EXPECT_EQ(describe_held("read", true), "the host's part of a read has not ended");
  const Status abandoned = queue_abandoned("gpu", "nothing is queued");
  EXPECT_EQ(abandoned.code(), StatusCode::kCancelled);
  EXPECT_EQ(message(abandoned),
            "A queue on gpu is abandoned (Queue::abandon) while nothing is queued. It takes no "
            "work any more; make a new one.");
}

}  // namespace
}  // namespace halyard
