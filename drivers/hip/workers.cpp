#include "drivers/hip/workers.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace halyard::hip {

namespace {

// An idle thread stays for a while.
constexpr std::chrono::seconds kPatience{10};

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
  // Signals of the program's are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread([this] {
      pthread_setname_np(pthread_self(), "halyard-host");
      serve(kPatience);
    }).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // There is no thread to be had: better here than not at all.
  if (!started) serve(std::chrono::seconds(0));
}

void Workers::serve(std::chrono::seconds patience) {
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
    const bool woken = wake_.wait_for(lock, patience, [this] { return !waiting_.empty(); });
    --idle_;
    if (!woken) return;
  }
}

}  // namespace halyard::hip
