// A child of fork() and the drivers of its parent.
//
// A vendor's runtime does not survive a fork: the child lacks its threads, its locks can be held
// for ever, and its mappings of the GPU are the parent's. So from the first driver on, a child of
// fork() has no driver: every call of one fails, a new one cannot be made, and what the parent has
// made is not destroyed there. A child that calls exec is a new process, and unaffected.
#pragma once

#include <atomic>

#include "hal/status.h"

namespace halyard {

namespace internal {

// Each library has its own, and only the host's is ever set: a driver is not called in such a
// child.
[[gnu::visibility("hidden")]] inline std::atomic<bool> forked_from_user{false};

}  // namespace internal

// Whether this process is a child of fork() whose parent had started a driver.
inline bool is_fork_of_user() noexcept {
  return internal::forked_from_user.load(std::memory_order_relaxed);
}

// FAILED_PRECONDITION in such a child.
Status check_fork();

// From now on, children of fork() are such.
void note_driver_in_use();
// For a child that only tries what a driver does, at its own risk, and ends by _exit().
void use_drivers_in_spite_of_fork();

}  // namespace halyard
