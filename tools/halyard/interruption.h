// Signals that ask the program to end (Ctrl-C and others), for a command that has something to put
// in order first.
#pragma once

#include <signal.h>

namespace halyard::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP are only written down, unless they were ignored
// already. One at a time in a process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // The signal that came; 0: none.
  static int signal() noexcept;
  // Ends the process by that signal, as it would have ended without this object.
  [[noreturn]] static void end_process();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[3] = {};
};

}  // namespace halyard::cli
