// Remains: what cannot be destroyed when its last reference goes, because work in flight uses it,
// which may never end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace halyard {

// So long the release of a device waits for the work that is in flight on it
// (docs/failures.md).
inline constexpr uint64_t kReleaseGraceNs = 2'000'000'000;

// Any thread may use any method.
class Remains {
 public:
  // One for each driver, which is never destroyed.
  static Remains& instance();

  // Calls `bury` now and then, from a thread of its own, until it returns true: it has destroyed
  // what there was. If the process ends before that, or there is no such thread, what there was
  // stays.
  void keep(std::function<bool()> bury);

 private:
  Remains();
  void run();
  void stop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<bool()>> kept_;  // under mutex_
  bool running_ = false;                     // under mutex_
  bool stopped_ = false;                     // under mutex_: the process ends

  std::timed_mutex burying_;  // while `bury` is called
};

// Calls `done` until it is true, for kReleaseGraceNs at most; whether it was.
bool wait_for_release(const std::function<bool()>& done);

}  // namespace halyard
