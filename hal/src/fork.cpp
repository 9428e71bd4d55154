#include "hal/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "hal/error.h"

namespace halyard {

namespace {

pid_t first_user = 0;  // the process that started the first driver; written once

}  // namespace

void note_driver_in_use() {
  static const bool noted = [] {
    first_user = getpid();
    // Fails only without memory: then children are as careless as without Halyard.
    return pthread_atfork(nullptr, nullptr, [] {
             internal::forked_from_user.store(true, std::memory_order_relaxed);
           }) == 0;
  }();
  static_cast<void>(noted);
}

void use_drivers_in_spite_of_fork() {
  internal::forked_from_user.store(false, std::memory_order_relaxed);
}

Status check_fork() {
  if (!is_fork_of_user()) [[likely]]
    return {};
  return error(StatusCode::kFailedPrecondition,
               "This process ({}) is a child of fork(), and process {} had started a driver before "
               "the fork. The vendor's runtime does not survive a fork, so this process cannot use "
               "or open a device. Start it by exec or posix_spawn instead (in Python: "
               "multiprocessing.get_context(\"spawn\")), or open devices only after the fork.",
               getpid(), first_user);
}

}  // namespace halyard
