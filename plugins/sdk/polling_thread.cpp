#include "plugins/sdk/polling_thread.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include "hal/error.h"
#include "plugins/sdk/exit_handler.h"
#include "plugins/sdk/service_thread.h"

namespace halyard {
namespace {

constexpr std::chrono::microseconds kShortestSleep{20};
constexpr std::chrono::microseconds kLongestSleep{2000};

struct All {
  std::mutex mutex;
  std::set<PollingThread*> threads;  // under mutex: those that run
  bool over = false;                 // under mutex: the process ends
};
All& all() {
  // Never destroyed: devices may outlive static objects.
  static auto* const all = new All;
  return *all;
}

}  // namespace

thread_local const PollingThread* PollingThread::current = nullptr;

void PollingThread::stop_at_exit() {
  static const int registered = at_exit_of_this_process<stop_all>();
  static_cast<void>(registered);
}

void PollingThread::stop_all() {
  // Held to the end: an object that goes meanwhile waits for its thread's end, too.
  const std::lock_guard lock(all().mutex);
  all().over = true;
  for (PollingThread* const polling : all().threads) {
    polling->stop_.store(true, std::memory_order_release);
    polling->thread_.join();
    polling->thread_ = {};
  }
  all().threads.clear();
}

Status PollingThread::start(const char* name, const char* purpose, std::function<bool()> look) {
  stop_at_exit();
  look_ = std::move(look);
  const std::lock_guard lock(all().mutex);
  if (all().over) {
    return Status(StatusCode::kFailedPrecondition,
                  "The program's exit handlers have run: no more work can start.");
  }
  thread_ = start_service_thread(name, [this] { run(); });
  if (!thread_.joinable()) {
    return error(StatusCode::kResourceExhausted,
                 "The system has no thread left, and {}. Raise the limit of processes (ulimit -u).",
                 purpose);
  }
  all().threads.insert(this);
  return {};
}

void PollingThread::stop() {
  stop_.store(true, std::memory_order_release);
  std::thread thread;
  {
    const std::lock_guard lock(all().mutex);
    all().threads.erase(this);
    std::swap(thread, thread_);
  }
  if (thread.joinable()) thread.join();
}

void PollingThread::run() {
  current = this;
  std::chrono::microseconds sleep = kShortestSleep;
  while (!stop_.load(std::memory_order_acquire)) {
    sleep = look_() ? kShortestSleep : std::min(sleep * 2, kLongestSleep);
    std::this_thread::sleep_for(sleep);
  }
  look_();
}

}  // namespace halyard
