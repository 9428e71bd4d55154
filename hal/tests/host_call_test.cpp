// Host functions and sinks that throw: what a driver sees of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fake_device.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using ::testing::HasSubstr;

// A driver's end of a host call.
class Told final : public driver::CompletionBase {
 public:
  void do_complete(const Status& outcome) noexcept override { outcomes.push_back(outcome); }
  std::vector<Status> outcomes;
};

class HostCalls : public ::testing::Test {
 protected:
  HostCalls()
      : device_(Ref<FakeDevice>::adopt(new FakeDevice)), queue_(device_->create_queue().value()) {}

  // What the driver is told when it runs the call that it was given last.
  std::vector<Status> run() {
    Told told;
    device_->log.host_call.run(told);
    return std::move(told.outcomes);
  }
  static void expect_failure(const std::vector<Status>& outcomes, StatusCode code,
                             const std::string& says) {
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_EQ(outcomes[0].code(), code);
    EXPECT_THAT(outcomes[0].to_string(), HasSubstr(says));
  }

  Ref<FakeDevice> device_;
  Ref<Queue> queue_;
};

Status run_out(void*) {
  throw std::bad_alloc();
}

TEST_F(HostCalls, AnExceptionIsAFailure) {
  const HostFunction lose = [](void*) -> Status { throw std::runtime_error("The sheep is lost."); };
  ASSERT_TRUE(queue_->host_call(lose, nullptr).ok());
  expect_failure(run(), StatusCode::kInternal,
                 "The host function of Queue::host_call throws an exception (The sheep is lost.).");
  ASSERT_TRUE(queue_->host_call(&run_out, nullptr).ok());
  expect_failure(run(), StatusCode::kResourceExhausted, "throws an exception (std::bad_alloc)");
  const HostFunction number = [](void*) -> Status { throw 7; };
  ASSERT_TRUE(queue_->host_call(number, nullptr).ok());
  expect_failure(run(), StatusCode::kInternal, "throws an exception of an unknown type");
}

TEST_F(HostCalls, AFailureSaysWhoseItIs) {
  const HostFunction lose = [](void*) { return Status(StatusCode::kDataLoss, "Lost."); };
  ASSERT_TRUE(queue_->host_call(lose, nullptr).ok());
  expect_failure(run(), StatusCode::kDataLoss,
                 "The host function of Queue::host_call fails: Lost.");
}

TEST_F(HostCalls, ADeferredOneMayThrowInsteadOfCompleting) {
  const DeferredHostFunction lose = [](void*, HostCompletion&) {
    throw std::runtime_error("The ship is late.");
  };
  ASSERT_TRUE(queue_->host_call_deferred(lose, nullptr).ok());
  expect_failure(run(), StatusCode::kInternal,
                 "The host function of Queue::host_call_deferred throws an exception (The ship is "
                 "late.).");
}

TEST_F(HostCalls, ADeferredOneThatThrowsAfterCompletingIsComplete) {
  const DeferredHostFunction late = [](void*, HostCompletion& completion) {
    completion.complete({});
    throw std::runtime_error("The ship is late.");
  };
  ASSERT_TRUE(queue_->host_call_deferred(late, nullptr).ok());
  const std::vector<Status> outcomes = run();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_TRUE(outcomes[0].ok());
}

// Somebody else has the completion already, and does not know of the exception.
TEST_F(HostCalls, ADeferredOneMayBeCompletedAfterItHasThrown) {
  HostCompletion* kept = nullptr;
  const DeferredHostFunction lose = [](void* context, HostCompletion& completion) {
    *static_cast<HostCompletion**>(context) = &completion;
    throw std::runtime_error("The ship is late.");
  };
  ASSERT_TRUE(queue_->host_call_deferred(lose, &kept).ok());
  Told told;
  device_->log.host_call.run(told);
  ASSERT_EQ(told.outcomes.size(), 1u);
  kept->complete({});
  ASSERT_EQ(told.outcomes.size(), 1u);
  EXPECT_THAT(told.outcomes[0].to_string(), HasSubstr("The ship is late."));
}

TEST_F(HostCalls, AProfilesSinkMayThrow) {
  int calls = 0;
  const ProfileSink lose = [](void* context, const ProfileEvent& event) {
    ++*static_cast<int*>(context);
    throw std::runtime_error("There is no place for " + std::string(event.name.view()) + ".");
  };
  device_->log.profile = {"first", "second"};
  const Status status = device_->end_profile(lose, &calls);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.to_string(),
              HasSubstr("The sink of Device::end_profile throws an exception (There is no place "
                        "for first.)"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace halyard
