// Exit handlers of a process that uses a vendor's runtime.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace halyard {

// Calls kHandler() when this process ends, but not when a child of fork() ends, which inherits exit
// handlers: the threads that they wait for, and the locks that they take, are the parent's.
template <auto kHandler>
int at_exit_of_this_process() {
  static const pid_t process = getpid();
  return std::atexit([] {
    if (getpid() == process) kHandler();
  });
}

}  // namespace halyard
