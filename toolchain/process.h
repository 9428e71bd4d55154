// Running another program to its end, and what signals mean meanwhile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard::toolchain {

// What becomes of the text that the program prints.
enum class Output {
  kInherit,        // both streams are this process's own
  kToErrors,       // both go to this process's standard error
  kCapture,        // both come back as text
  kCaptureOutput,  // standard output comes back as text; errors go to this process's own
};

struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;      // that has ended it; 0: none
  std::string output;  // kCapture, kCaptureOutput: standard output
  std::string errors;  // kCapture: standard error
  bool ok() const { return exit_code == 0 && signal == 0; }
};

// "ended with exit code 1", "was ended by signal 9": behind a program's name.
std::string how_it_ended(const ProcessEnd& end);

enum class Role {
  // A part of this process's work, with a process group of its own: a signal that asks for this
  // process's end ends it and what it has started. run_process then fails.
  kTool,
  // The user's own, in the terminal's foreground. It decides what such a signal does, and ends if
  // this process is killed. With kInherit only.
  kProgram,
};

struct ProcessOptions {
  Output output = Output::kInherit;
  std::vector<std::string> environment = {};  // "NAME=value", on top of this process's
  Role role = Role::kTool;
  // Called from time to time while the program runs.
  std::function<void()> while_running = {};
};

// Runs words[0], looked for in PATH, with the other words as arguments, and waits for its end.
// NOT_FOUND if it cannot be started; CANCELLED if this process is asked to end. One at a time in a
// process. Of a process with more privileges than its caller, the program gets a PATH of the
// system's folders and no other variable but `environment`.
Result<ProcessEnd> run_process(const std::vector<std::string>& words,
                               const ProcessOptions& options = {});

// While one lives, signals that ask for this process's end (SIGINT, SIGQUIT, SIGTERM, SIGHUP) are
// written down, and handed to the program that run_process runs, so that what was begun can be put
// in order. Those that were ignored before stay so. One thread has them; they may be nested.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

// The signal that came while there was a guard, or that a kProgram was not there to decide on; 0:
// none.
int interruption() noexcept;
// CANCELLED if there is one.
Status check_interruption();

// Ends this process by the signal.
[[noreturn]] void end_by_signal(int signal);

}  // namespace halyard::toolchain
