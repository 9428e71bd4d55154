// Running another program, and ending as it has ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::cli {

// `words`: the program, looked for in PATH, and its arguments. At least one.

// Puts the program in this one's place; returns only if that fails.
Status replace_by(std::vector<std::string>& words);

struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  // that has ended it; 0: none
  bool ok() const { return exit_code == 0 && signal == 0; }
};

// Runs the program and waits for its end. Meanwhile this process ignores what a terminal sends to
// both (SIGINT, SIGQUIT) and hands SIGTERM and SIGHUP on.
Result<ChildEnd> run_child(std::vector<std::string>& words);

// Ends this process with the child's exit code, or by its signal.
[[noreturn]] void end_as(const ChildEnd& end);

// A file of this process's own, removed with the object.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  Status create(std::string_view contents);
  void remove();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace halyard::cli
