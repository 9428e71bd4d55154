// When a stream is marked though nobody has asked. A pure function over numbers of operations.
#pragma once

#include <cstdint>

namespace halyard::hip {

// So many operations at most without a mark: HIP keeps their commands until one behind them is
// done, and what is marked together is not told apart when a kernel faults.
inline constexpr uint64_t kMostUnmarked = 1024;

// Of so many operations, on all streams, HIP keeps the commands at most. A launch's takes 700
// bytes. A stream is made to let go of its own only if it has some.
inline constexpr uint64_t kMostKept = 65'536;
inline constexpr uint64_t kSomeKept = 1024;

// That many make it worth the while of a thread that has waited and finds all streams idle.
inline constexpr uint64_t kWorthReleasing = 256;

// So many marks have an event after another stream has waited for one.
inline constexpr uint32_t kEventsAfterWait = 16;

// `unmarked`: operations since the last mark; `in_flight`: those not known to be done; `capacity`:
// how many of these make a submission wait for room.
//
// A mark makes another thread of the runtime's let go of all that is before it, which slows down
// whoever submits meanwhile. So a burst that leaves room has none. A stream that is about to be
// full has one behind every quarter, so that whoever then waits for room need not wait for all of
// it.
constexpr bool plan_mark(uint64_t unmarked, uint64_t in_flight, uint64_t capacity) {
  const uint64_t quarter = capacity / 4;
  return unmarked >= kMostUnmarked || (unmarked >= quarter && in_flight >= capacity - quarter);
}

// What a mark is.
struct MarkFacts {
  // Words that the device writes: whether they arrive, as far as is known.
  bool may_write = false;
  bool writes_arrive = false;
  bool for_stream = false;  // another stream may have to wait for it
  uint64_t kept = 0;        // operations whose commands HIP has not been made to let go of
  uint64_t all_kept = 0;    // the same on all streams
};
struct MarkPlan {
  bool word = false;
  bool event = false;
};

constexpr MarkPlan plan_mark_kind(const MarkFacts& facts) {
  MarkPlan plan;
  plan.event = facts.for_stream || !facts.may_write || !facts.writes_arrive ||
               (facts.all_kept >= kMostKept && facts.kept >= kSomeKept);
  // Both show whether the words arrive.
  plan.word = facts.may_write && (!plan.event || !facts.writes_arrive);
  return plan;
}

}  // namespace halyard::hip
