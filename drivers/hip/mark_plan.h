// When a stream is marked though nobody has asked. A pure function over numbers of operations.
#pragma once

#include <cstdint>

namespace halyard::hip {

// So many operations at most without a mark: HIP keeps their commands until one behind them is
// done, and what is marked together is not told apart when a kernel faults.
inline constexpr uint64_t kMostUnmarked = 1024;

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

}  // namespace halyard::hip
