// Operations that would wait for themselves, and those that only look like it.
#include "plugins/sdk/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace halyard {
namespace {

using ::testing::HasSubstr;
using Point = WaitGraph::Point;

// Names of semaphores and queues.
constexpr char kNames[8] = {};
const void* const kA = &kNames[0];
const void* const kB = &kNames[1];
const void* const kC = &kNames[2];
const void* const kOne = &kNames[3];
const void* const kTwo = &kNames[4];
const void* const kThree = &kNames[5];

using Points = std::set<std::pair<const void*, uint64_t>>;

// The points that need nobody.
Points& come() {
  static Points points;
  return points;
}
// Those that have failed.
Points& lost() {
  static Points points;
  return points;
}
PointState state_of(const Point& point) {
  if (lost().contains({point.semaphore, point.value})) return PointState::kFailed;
  return come().contains({point.semaphore, point.value}) ? PointState::kReached
                                                         : PointState::kPending;
}

class Waits : public ::testing::Test {
 protected:
  ~Waits() override {
    for (const WaitGraph::Handle handle : handles_) graph_.remove(handle);
    come().clear();
    lost().clear();
  }
  Status submit(const void* queue, std::vector<Point> waits, std::vector<Point> signals,
                const char* name = "barrier") {
    WaitGraph::Handle handle = nullptr;
    Status status = graph_.add(queue, name, std::move(waits), std::move(signals), &handle);
    if (status.ok()) handles_.push_back(handle);
    return status;
  }
  void expect_accepted(const Status& status) { EXPECT_TRUE(status.ok()) << status.to_string(); }
  void expect_refused(const Status& status, const std::string& words) {
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.to_string(), HasSubstr(words));
  }
  void remove_first() {
    graph_.remove(handles_.front());
    handles_.erase(handles_.begin());
  }

  WaitGraph graph_{&state_of};
  std::vector<WaitGraph::Handle> handles_;
};

TEST_F(Waits, ForWhatTheOperationItselfSignals) {
  expect_refused(submit(kOne, {{kA, 5}}, {{kA, 5}}),
                 "The operation \"barrier\" would wait for itself, and is not queued: it waits for "
                 "the value 5 of a semaphore that this operation is to signal (5). Submit");
  expect_refused(submit(kOne, {{kA, 5}}, {{kA, 3}}), "this operation is to signal (3)");
  expect_accepted(submit(kOne, {{kA, 5}}, {{kA, 6}}));
}

TEST_F(Waits, ForWhatIsBehindOnTheQueue) {
  expect_accepted(submit(kOne, {{kA, 5}}, {}, "copy"));
  expect_refused(
      submit(kOne, {}, {{kA, 5}}),
      "it comes behind \"copy\" on one queue, which waits for the value 5 of a semaphore "
      "that this operation is to signal (5).");
  // The host would be refused as well.
  expect_refused(submit(kOne, {}, {{kA, 4}}), "is to signal (4)");
  // The host may signal 5 before 6.
  expect_accepted(submit(kOne, {}, {{kA, 6}}));
}

TEST_F(Waits, AreMetByAnotherQueue) {
  expect_accepted(submit(kOne, {{kA, 5}}, {}));
  expect_accepted(submit(kTwo, {{kB, 1}}, {{kA, 5}}));
  expect_accepted(submit(kOne, {}, {{kA, 5}}));
}

TEST_F(Waits, AreMetByWorkInFlight) {
  come() = {{kA, 5}};
  expect_accepted(submit(kOne, {{kA, 5}}, {}));
  expect_accepted(submit(kOne, {}, {{kA, 5}}));
}

TEST_F(Waits, RoundTwoQueues) {
  expect_accepted(submit(kOne, {{kA, 1}}, {{kB, 1}}, "fill"));
  expect_refused(submit(kTwo, {{kB, 1}}, {{kA, 1}}),
                 "it waits for the value 1 of a semaphore that \"fill\" is to signal (1), which "
                 "waits for the value 1 of a semaphore that this operation is to signal (1).");
  // In one order they are fine.
  expect_accepted(submit(kTwo, {{kB, 1}}, {{kC, 1}}));
}

TEST_F(Waits, RoundThreeQueuesAndBehindOthers) {
  expect_accepted(submit(kOne, {{kA, 1}}, {}));
  expect_accepted(submit(kOne, {}, {{kB, 1}}));
  expect_accepted(submit(kTwo, {{kB, 1}}, {}));
  expect_accepted(submit(kTwo, {}, {{kC, 1}}));
  expect_accepted(submit(kThree, {{kC, 1}}, {}));
  expect_refused(submit(kThree, {}, {{kA, 1}}), "it comes behind \"barrier\" on one queue");
}

TEST_F(Waits, OfATimelineThatTwoQueuesPassOn) {
  for (uint64_t turn = 1; turn < 20; turn += 2) {
    expect_accepted(submit(kOne, {{kA, turn}}, {{kA, turn + 1}}));
    expect_accepted(submit(kTwo, {{kA, turn + 1}}, {{kA, turn + 2}}));
  }
}

TEST_F(Waits, EndWithWhatIsRemoved) {
  expect_accepted(submit(kOne, {{kA, 5}}, {}));
  remove_first();
  expect_accepted(submit(kOne, {}, {{kA, 5}}));
  expect_accepted(submit(kOne, {{kB, 1}}, {}));
  expect_accepted(submit(kOne, {{kC, 1}}, {}));
  // The one in the middle goes; the others stay one behind the other.
  graph_.remove(handles_[1]);
  handles_.erase(handles_.begin() + 1);
  expect_refused(submit(kOne, {}, {{kC, 1}}), "waits for the value 1");
}

// A deadlock that is there already is not the fault of what comes behind it.
TEST_F(Waits, ThatAreStuckAlreadyRefuseNobodyElse) {
  come() = {{kA, 5}};
  expect_accepted(submit(kOne, {{kA, 5}}, {}));
  expect_accepted(submit(kOne, {}, {{kA, 5}}));
  come().clear();
  expect_accepted(submit(kTwo, {{kA, 5}}, {{kB, 1}}));
  expect_accepted(submit(kTwo, {{kC, 1}}, {{kC, 2}}));
}

// Nobody waits any more for what the operation was to wait for besides.
TEST_F(Waits, EndWhenOneOfThemHasFailed) {
  expect_accepted(submit(kOne, {{kA, 5}, {kB, 1}, {kC, 2}}, {}));
  expect_refused(submit(kOne, {}, {{kA, 5}}), "waits for the value 5");
  lost() = {{kB, 1}};
  expect_accepted(submit(kOne, {}, {{kA, 5}}));
  expect_accepted(submit(kOne, {}, {{kC, 2}}));
}

// It fails what it is to signal, and with it those who wait for any value of that.
TEST_F(Waits, EndWithAFailureThatIsPassedOn) {
  expect_accepted(submit(kOne, {{kB, 1}}, {{kC, 3}}));
  for (const uint64_t value : {2u, 3u, 4u}) {
    expect_accepted(submit(kTwo, {{kA, value}, {kC, value}}, {}));
  }
  expect_refused(submit(kTwo, {}, {{kA, 4}}), "waits for the value 4");
  lost() = {{kB, 1}};
  expect_accepted(submit(kTwo, {}, {{kA, 4}}));
}

// One that fails does so when its turn comes.
TEST_F(Waits, OfWhatIsInFrontDoNotEndWithAFailure) {
  expect_accepted(submit(kOne, {{kA, 5}}, {}, "copy"));
  lost() = {{kB, 1}};
  expect_accepted(submit(kOne, {{kA, 5}, {kB, 1}}, {{kC, 1}}, "fill"));
  expect_refused(submit(kOne, {}, {{kA, 5}}),
                 "it comes behind \"fill\" on one queue, which comes behind \"copy\" on one queue, "
                 "which waits for the value 5 of a semaphore that this operation is to signal");
  expect_refused(submit(kTwo, {{kC, 1}}, {{kA, 5}}),
                 "a semaphore that \"fill\" is to signal (1), which comes behind \"copy\"");
}

TEST_F(Waits, ThatTakeTooLongToFollowAreAccepted) {
  expect_accepted(submit(kOne, {{kA, 1}}, {}));
  for (size_t i = 0; i < WaitGraph::kMostLooks; ++i) expect_accepted(submit(kOne, {}, {}));
  expect_accepted(submit(kOne, {}, {{kA, 1}}));
}

}  // namespace
}  // namespace halyard
