#include "plugins/sdk/remains.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "hal/types.h"
#include "plugins/sdk/exit_handler.h"
#include "plugins/sdk/service_thread.h"

namespace halyard {

namespace {

using std::chrono::milliseconds;

// What has not ended within the grace period may take long: looked at ever less often.
constexpr milliseconds kFirstPause{10};
constexpr milliseconds kLongestPause{200};
// The end of the process waits as long for a burial that is under way.
constexpr std::chrono::seconds kLongestBurial{5};

}  // namespace

Remains& Remains::instance() {
  static auto* const remains = new Remains;
  return *remains;
}

// By now the vendor's library is loaded, so this is called before that destroys what it has.
Remains::Remains() {
  at_exit_of_this_process<[] { instance().stop(); }>();
}

void Remains::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  // Not unlocked again: nothing is buried any more.
  static_cast<void>(burying_.try_lock_for(kLongestBurial));
}

void Remains::keep(std::function<bool()> bury) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(bury));
  if (running_ || stopped_) return;
  std::thread thread = start_service_thread("halyard-remains", [this] { run(); });
  running_ = thread.joinable();
  if (running_) thread.detach();
}

void Remains::run() {
  milliseconds pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!kept_.empty()) {
    changed_.wait_for(lock, pause, [this] { return stopped_; });
    if (stopped_) return;
    std::vector<std::function<bool()>> now = std::move(kept_);
    kept_.clear();
    lock.unlock();
    {
      const std::lock_guard burying(burying_);
      std::erase_if(now, [](const std::function<bool()>& bury) { return bury(); });
    }
    lock.lock();
    const bool fresh = !kept_.empty();
    kept_.insert(kept_.end(), std::make_move_iterator(now.begin()),
                 std::make_move_iterator(now.end()));
    pause = fresh ? kFirstPause : std::min(2 * pause, kLongestPause);
  }
  running_ = false;
}

bool wait_for_release(const std::function<bool()>& done) {
  const uint64_t end = Deadline::after_ns(kReleaseGraceNs).monotonic_ns;
  for (uint32_t attempt = 0; !done(); ++attempt) {
    if (attempt < 256) {
      sched_yield();
      continue;
    }
    if (Deadline::after_ns(0).monotonic_ns >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace halyard
