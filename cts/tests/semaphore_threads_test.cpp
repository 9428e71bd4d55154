// Semaphores that many threads wait for, signal and fail at the same time.
#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "cts/harness/device_test.h"
#include "cts/harness/threads.h"

namespace halyard::cts {
namespace {

constexpr size_t kThreads = 8;
constexpr uint64_t kOneMillisecond = 1000 * 1000;

class SemaphoreThreads : public DeviceTest {
 protected:
  std::vector<Ref<Semaphore>> semaphores(size_t count) {
    std::vector<Ref<Semaphore>> made;
    for (size_t i = 0; i < count; ++i) made.push_back(new_semaphore());
    return made;
  }
  // Waits for value 1 of `semaphore` in one of the three ways: alone, any, all.
  Status wait_somehow(size_t way, const Ref<Semaphore>& semaphore, Deadline deadline) {
    const SemaphorePoint point = {semaphore.get(), 1};
    switch (way % 3) {
      case 0:
        return semaphore->wait(1, deadline);
      case 1:
        return device().wait({&point, 1}, WaitMode::kAny, deadline);
      default:
        return device().wait({&point, 1}, WaitMode::kAll, deadline);
    }
  }
};

TEST_F(SemaphoreThreads, EachWaitsForAnyOfItsOwn) {
  const auto own = semaphores(kThreads);
  const Ref<Semaphore> never = new_semaphore();
  std::array<size_t, kThreads> index = {};
  const auto results = in_threads(
      kThreads,
      [&](size_t t) {
        const SemaphorePoint points[] = {{never.get(), 1}, {own[t].get(), 1}};
        return device().wait(points, WaitMode::kAny, time_limit(), &index[t]);
      },
      [&] {
        // From the last to the first, by turns from the host and from the queue.
        for (size_t t = kThreads; t-- > 0;) {
          EXPECT_OK(t % 2 == 0 ? own[t]->signal(1) : queue().barrier(When().then(own[t], 1)));
        }
      });
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_OK(results[t]);
    EXPECT_EQ(index[t], 1u) << t;
  }
}

TEST_F(SemaphoreThreads, OneSignalEndsEveryWaitForAny) {
  const auto shared = semaphores(4);
  std::array<size_t, kThreads> index = {};
  const auto results = in_threads(
      kThreads,
      [&](size_t t) {
        // Each has the semaphore that is signalled at another place of its list.
        std::vector<SemaphorePoint> points;
        for (size_t i = 0; i < 4; ++i) points.push_back({shared[(i + t) % 4].get(), 1});
        return device().wait(points, WaitMode::kAny, time_limit(), &index[t]);
      },
      [&] { EXPECT_OK(queue().barrier(When().then(shared[2], 1))); });
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_OK(results[t]);
    EXPECT_EQ((index[t] + t) % 4, 2u) << t;
  }
}

TEST_F(SemaphoreThreads, EachWaitsForAllOfAnotherSubset) {
  constexpr size_t kSemaphores = 6;
  const auto shared = semaphores(kSemaphores);
  std::vector<size_t> order = {3, 0, 5, 1, 4, 2};
  const auto results = in_threads(
      kThreads,
      [&](size_t t) {
        std::vector<SemaphorePoint> points;
        for (size_t i = 0; i < kSemaphores; ++i) {
          if (i == t % kSemaphores) continue;
          points.push_back({shared[i].get(), i + 1});
        }
        if (Status status = device().wait(points, WaitMode::kAll, time_limit()); !status.ok()) {
          return status;
        }
        for (const SemaphorePoint& point : points) {
          if (take(point.semaphore->query()) < point.value) {
            return Status(StatusCode::kInternal, "The wait ends before its points are reached.");
          }
        }
        return Status();
      },
      [&] {
        for (const size_t i : order) {
          EXPECT_OK(i % 2 == 0 ? shared[i]->signal(i + 1)
                               : queue().barrier(When().then(shared[i], i + 1)));
        }
      });
  for (const Status& result : results) EXPECT_OK(result);
}

// Some give up; those with time left are still woken.
TEST_F(SemaphoreThreads, DeadlinesOfSomeLeaveTheOthersWaiting) {
  const Ref<Semaphore> semaphore = new_semaphore();
  std::atomic<size_t> gave_up = 0;
  std::atomic<size_t> reached = 0;
  const auto results = in_threads(
      2 * kThreads,
      [&](size_t t) {
        const bool hasty = t % 2 == 0;
        const Deadline deadline =
            hasty ? Deadline::after_ns((t + 1) * kOneMillisecond) : time_limit();
        Status status = wait_somehow(t / 2, semaphore, deadline);
        ++(hasty ? gave_up : reached);
        return status;
      },
      [&] {
        while (gave_up < kThreads) std::this_thread::yield();
        EXPECT_EQ(reached, 0u);
        EXPECT_OK(semaphore->signal(1));
      });
  for (size_t t = 0; t < results.size(); ++t) {
    if (t % 2 == 0) {
      EXPECT_FAILS(results[t], StatusCode::kDeadlineExceeded);
    } else {
      EXPECT_OK(results[t]);
    }
  }
}

TEST_F(SemaphoreThreads, ADeadlineThatPassesLeavesTheWorkAlone) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(gate, 1).then(done, 1)));
  for (const Status& result : in_threads(kThreads, [&](size_t t) {
         return wait_somehow(t, done, Deadline::after_ns((t + 1) * kOneMillisecond));
       })) {
    EXPECT_FAILS(result, StatusCode::kDeadlineExceeded);
  }
  ASSERT_OK(gate->signal(1));
  for (const Status& result :
       in_threads(kThreads, [&](size_t t) { return wait_somehow(t, done, time_limit()); })) {
    EXPECT_OK(result);
  }
}

TEST_F(SemaphoreThreads, EverybodyGetsTheFirstFailure) {
  const Ref<Semaphore> semaphore = new_semaphore();
  // Half of them wait, half of them fail it, each with words of its own.
  const auto results = in_threads(2 * kThreads, [&](size_t t) {
    if (t < kThreads) return wait_somehow(t, semaphore, time_limit());
    semaphore->fail(Status(StatusCode::kAborted, "Thread " + std::to_string(t) + " gives up."));
    return semaphore->query().status();
  });
  const Status first = semaphore->query().status();
  EXPECT_FAILS(first, StatusCode::kAborted, "gives up.");
  for (const Status& result : results) EXPECT_EQ(result.to_string(), first.to_string());
}

TEST_F(SemaphoreThreads, OneFailureReachesEveryQueueThatWaits) {
  const char* const reason = "The bridge (Rialto) is closed.";
  const Ref<Semaphore> gate = new_semaphore();
  const auto done = semaphores(kThreads);
  std::vector<Ref<Queue>> queues;
  for (const Ref<Semaphore>& semaphore : done) {
    queues.push_back(new_queue());
    ASSERT_OK(queues.back()->barrier(When().after(gate, 1).then(semaphore, 1)));
  }
  const auto results = in_threads(
      kThreads, [&](size_t t) { return wait_somehow(t, done[t], time_limit()); },
      [&] {
        gate->fail(Status(StatusCode::kAborted, reason));
        gate->fail(Status(StatusCode::kInternal, "Another one."));
      });
  for (const Status& result : results) EXPECT_FAILS(result, StatusCode::kAborted, reason);
}

// A wait for any or all that has a point which fails ends, whatever its other points do.
TEST_F(SemaphoreThreads, AFailureEndsWaitsThatHaveOtherPoints) {
  const char* const reason = "The ferry sinks.";
  const auto pending = semaphores(kThreads);
  const Ref<Semaphore> lost = new_semaphore();
  const auto results = in_threads(
      kThreads,
      [&](size_t t) {
        const SemaphorePoint points[] = {{pending[t].get(), 1}, {lost.get(), 1}};
        return device().wait(points, t % 2 == 0 ? WaitMode::kAny : WaitMode::kAll, time_limit());
      },
      [&] { lost->fail(Status(StatusCode::kAborted, reason)); });
  for (const Status& result : results) EXPECT_FAILS(result, StatusCode::kAborted, reason);
}

TEST_F(SemaphoreThreads, AFailureSparesThoseWhoseValueWasReached) {
  constexpr uint64_t kReached = 5;
  const Ref<Semaphore> semaphore = new_semaphore();
  const auto results = in_threads(
      2 * kReached, [&](size_t t) { return semaphore->wait(t + 1, time_limit()); },
      [&] {
        EXPECT_OK(queue().barrier(When().then(semaphore, kReached)));
        EXPECT_OK(semaphore->wait(kReached, time_limit()));
        semaphore->fail(Status(StatusCode::kAborted, "Enough."));
      });
  for (size_t t = 0; t < results.size(); ++t) {
    if (t < kReached) {
      EXPECT_OK(results[t]);
    } else {
      EXPECT_FAILS(results[t], StatusCode::kAborted, "Enough.");
    }
  }
}

// Several race to signal the same values: one wins each, the others are told that they are late.
TEST_F(SemaphoreThreads, OneThreadWinsEachValue) {
  constexpr uint64_t kValues = 200;
  const Ref<Semaphore> semaphore = new_semaphore();
  std::array<std::atomic<uint32_t>, kValues + 1> winners = {};
  const auto results = in_threads(kThreads, [&](size_t) {
    for (uint64_t value = 1; value <= kValues; ++value) {
      const Status status = semaphore->signal(value);
      if (status.ok()) {
        ++winners[value];
      } else if (status.code() != StatusCode::kInvalidArgument) {
        return status;
      }
    }
    return Status();
  });
  for (const Status& result : results) EXPECT_OK(result);
  EXPECT_EQ(take(semaphore->query()), kValues);
  EXPECT_TRUE(
      std::all_of(winners.begin(), winners.end(), [](uint32_t count) { return count < 2; }));
  EXPECT_EQ(winners[kValues], 1u);
}

TEST_F(SemaphoreThreads, NobodySeesAValueGoBack) {
  constexpr uint64_t kValues = 1000;
  const Ref<Semaphore> semaphore = new_semaphore();
  std::atomic<bool> over = false;
  const auto results = in_threads(
      4,
      [&](size_t) {
        for (uint64_t last = 0; !over;) {
          const uint64_t now = take(semaphore->query());
          if (now < last) return Status(StatusCode::kInternal, "The value goes back.");
          last = now;
          std::this_thread::yield();
        }
        return Status();
      },
      [&] {
        for (uint64_t i = 1; i <= kValues; ++i) {
          EXPECT_OK(queue().barrier(When().then(semaphore, i)));
        }
        EXPECT_OK(semaphore->wait(kValues, time_limit()));
        over = true;
      });
  for (const Status& result : results) EXPECT_OK(result);
}

TEST_F(SemaphoreThreads, AChainOfThreadsThatWakeEachOther) {
  constexpr size_t kLinks = 16;
  const auto links = semaphores(kLinks + 1);
  const auto results = in_threads(
      kLinks,
      [&](size_t t) {
        if (Status status = links[t]->wait(1, time_limit()); !status.ok()) return status;
        return t % 2 == 0 ? links[t + 1]->signal(1) : queue().barrier(When().then(links[t + 1], 1));
      },
      [&] { EXPECT_OK(links[0]->signal(1)); });
  for (const Status& result : results) EXPECT_OK(result);
  EXPECT_OK(links[kLinks]->wait(1, time_limit()));
}

TEST_F(SemaphoreThreads, TwoThreadsTakeTurns) {
  constexpr uint64_t kTurns = 300;
  const Ref<Semaphore> turn = new_semaphore();
  const auto results = in_threads(2, [&](size_t t) {
    for (uint64_t at = t; at < kTurns; at += 2) {
      if (Status status = turn->wait(at, time_limit()); !status.ok()) return status;
      if (Status status = turn->signal(at + 1); !status.ok()) return status;
    }
    return Status();
  });
  for (const Status& result : results) EXPECT_OK(result);
  EXPECT_EQ(take(turn->query()), kTurns);
}

}  // namespace
}  // namespace halyard::cts
