#include "plugins/sdk/workers.h"

#include <chrono>
#include <thread>

#include "plugins/sdk/service_thread.h"

namespace halyard {

namespace {

// An idle thread stays for a while.
constexpr std::chrono::seconds kIdleTimeout{10};

}  // namespace

Workers& Workers::instance() {
  // Leaked on purpose: its threads may outlive main.
  static auto* const workers = new Workers;
  return *workers;
}

void Workers::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (idle_ >= waiting_.size()) {
      wake_.notify_one();
      return;
    }
  }
  std::thread thread = start_service_thread("halyard-host", [this] { serve(kIdleTimeout); });
  if (thread.joinable()) {
    thread.detach();
  } else {
    // Better here than not at all.
    serve(std::chrono::seconds(0));
  }
}

void Workers::serve(std::chrono::seconds idle_timeout) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!waiting_.empty()) {
      std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      work = nullptr;  // what it kept alive goes without the lock
      lock.lock();
    }
    ++idle_;
    const bool woken = wake_.wait_for(lock, idle_timeout, [this] { return !waiting_.empty(); });
    --idle_;
    if (!woken) return;
  }
}

}  // namespace halyard
