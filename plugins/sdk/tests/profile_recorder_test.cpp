// ProfileRecorder, over a device whose marks are the times themselves.
#include "plugins/sdk/profile_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace halyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Times {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool lost = false;
};

class TestRecorder final : public ProfileRecorder<Times> {
 public:
  void put(ProfileKind kind, const char* name, const Times& times) {
    if (wants(kind)) add(ProfileNote({.kind = kind, .name = name}, 3), times);
  }
  Status refusal;            // of prepare
  Status failure;            // of read
  std::vector<int> notices;  // begun: 1; the work is waited for: 2; ended: 3
  int waited_for = 0;        // events that were there then

 private:
  Status prepare() override { return refusal; }
  void begun() override {
    EXPECT_TRUE(active());
    notices.push_back(1);
  }
  void wait_for_work() override {
    EXPECT_TRUE(active());
    notices.push_back(2);
    visit([this](const Times&) { ++waited_for; });
  }
  void ended() override {
    EXPECT_FALSE(active());
    notices.push_back(3);
  }
  Status read(std::vector<Event>* events) override {
    for (Event& event : *events) {
      if (event.has_span || event.marks.lost) continue;
      event.span = {event.marks.begin_ns, event.marks.end_ns};
      event.has_span = true;
    }
    return failure;
  }
};

class ProfileRecorderTest : public ::testing::Test {
 protected:
  Status begin(uint64_t kinds = 0) {
    ProfileOptions options;
    options.kinds = kinds;
    return recorder_.begin("GPU 7", options);
  }
  // The events as text.
  std::vector<std::string> end() {
    std::vector<std::string> events;
    const auto sink = [](void* context, const ProfileEvent& event) {
      static_cast<std::vector<std::string>*>(context)->push_back(
          std::string(event.name.view()) + " " + std::to_string(event.begin_ns) + "-" +
          std::to_string(event.end_ns) + " on " + std::to_string(event.queue));
    };
    const Status status = recorder_.end("GPU 7", sink, &events);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return events;
  }
  static std::string message(const Status& status) { return std::string(status.message().view()); }

  TestRecorder recorder_;
};

TEST_F(ProfileRecorderTest, EventsComeInTheOrderInWhichTheyBeganTheHostsAmongThem) {
  ASSERT_TRUE(begin().ok());
  recorder_.put(ProfileKind::kCopy, "late", {50, 60});
  recorder_.put(ProfileKind::kFill, "early", {10, 20});
  recorder_.add_host({.kind = ProfileKind::kHostCall, .name = "host"}, 4, 30, 40);
  recorder_.put(ProfileKind::kFill, "lost", {5, 6, true});
  EXPECT_THAT(end(), ElementsAre("early 10-20 on 3", "host 30-40 on 4", "late 50-60 on 3"));
  EXPECT_THAT(recorder_.notices, ElementsAre(1, 2, 3));
  EXPECT_EQ(recorder_.waited_for, 3) << "the host's part is over";
}

TEST_F(ProfileRecorderTest, OnlyTheKindsThatAreAskedForAreWanted) {
  EXPECT_FALSE(recorder_.wants(ProfileKind::kCopy));
  ASSERT_TRUE(begin(profile_bit(ProfileKind::kCopy)).ok());
  EXPECT_TRUE(recorder_.wants(ProfileKind::kCopy));
  EXPECT_FALSE(recorder_.wants(ProfileKind::kFill));
  recorder_.put(ProfileKind::kFill, "fill", {1, 2});
  recorder_.put(ProfileKind::kCopy, "copy", {3, 4});
  EXPECT_THAT(end(), ElementsAre("copy 3-4 on 3"));
  EXPECT_FALSE(recorder_.wants(ProfileKind::kCopy));
}

TEST_F(ProfileRecorderTest, OneProfileAtATime) {
  EXPECT_THAT(message(recorder_.end("GPU 7", nullptr, nullptr)),
              HasSubstr("end_profile is called on GPU 7 while no profile is being taken"));
  ASSERT_TRUE(begin().ok());
  const Status second = begin();
  EXPECT_EQ(second.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(second), HasSubstr("on GPU 7 while a profile is being taken"));
  recorder_.put(ProfileKind::kFill, "first", {1, 2});
  EXPECT_THAT(end(), ElementsAre("first 1-2 on 3"));
  ASSERT_TRUE(begin().ok());
  EXPECT_THAT(end(), IsEmpty()) << "of the profile before";
}

TEST_F(ProfileRecorderTest, AFailureLeavesNoProfile) {
  recorder_.refusal = error(StatusCode::kInternal, "No event.");
  EXPECT_EQ(begin().code(), StatusCode::kInternal);
  EXPECT_FALSE(recorder_.active());
  recorder_.refusal = {};
  ASSERT_TRUE(begin().ok());
  recorder_.put(ProfileKind::kFill, "fill", {1, 2});
  recorder_.failure = error(StatusCode::kInternal, "No times.");
  EXPECT_EQ(recorder_.end("GPU 7", nullptr, nullptr).code(), StatusCode::kInternal);
  recorder_.failure = {};
  ASSERT_TRUE(begin().ok());
  EXPECT_THAT(end(), IsEmpty());
}

TEST_F(ProfileRecorderTest, EachExecutionHasANumber) {
  const uint64_t first = recorder_.next_execution();
  EXPECT_NE(first, 0u);
  EXPECT_EQ(recorder_.next_execution(), first + 1);
}

}  // namespace
}  // namespace halyard
