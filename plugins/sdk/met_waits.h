// MetWaits: which of the waits of an operation that is held back are met.
//
// A wait that is met stays so. So after each event only the first one that is not known to be met
// is looked at: an operation that waits for thousands of points costs each of the signals no more
// than one that waits for a few. Only a failure may concern any of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard {

class MetWaits {
 public:
  // False if one of the `count` waits is not met. If true, all have to be looked at: they are met,
  // as far as `met(i)` has said, or something has failed since the last time (`failures` counts
  // that, anywhere in the process).
  template <typename Met>
  bool worth_a_look(size_t count, uint64_t failures, Met&& met) {
    if (looked_ && failures == failures_) {
      while (met_ < count && met(met_)) ++met_;
      return met_ == count;
    }
    looked_ = true;
    failures_ = failures;
    return true;
  }

 private:
  bool looked_ = false;
  uint64_t failures_ = 0;
  size_t met_ = 0;
};

}  // namespace halyard
