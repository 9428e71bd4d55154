// Running another program to its end.
#pragma once

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

struct ProcessOptions {
  Output output = Output::kInherit;
  std::vector<std::string> environment = {};  // "NAME=value", on top of this process's
};

// Runs words[0], looked for in PATH, with the other words as arguments, and waits for its end.
// Meanwhile this process ignores what a terminal sends to both (SIGINT, SIGQUIT) and hands SIGTERM
// and SIGHUP on. NOT_FOUND if it cannot be started. One at a time in a process.
Result<ProcessEnd> run_process(const std::vector<std::string>& words,
                               const ProcessOptions& options = {});

}  // namespace halyard::toolchain
